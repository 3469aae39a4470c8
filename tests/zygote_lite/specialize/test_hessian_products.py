"""Hessian times vector in specialized code: what the tape gives, and differences."""

import collections
import copy
import dataclasses
import enum
import math
import threading
import time

import numpy as np
import pytest

from rulescore import Tangent
from tests.zygote_lite.checks.oracles import answers, generic_only, is_alike, outcome
from zygote_lite import grad, hessian, hvp, jvp, ravel, tree_map, value_and_grad

RNG = np.random.default_rng(0)
X, Y, V = RNG.normal(size=6), RNG.normal(size=6), RNG.normal(size=6)
A = RNG.normal(size=(4, 6))
LABEL = np.array([0, 2, 1, 2])


def powers(x):
    return np.sum(np.sin(x) * x**3)


def broadcast(x):
    return np.sum((A * x) ** 2 * x[0]) + np.sum(x[:, None] * x)


def softmax_of_rows(x):
    z = A * x
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return -np.mean(np.log(p)[np.arange(len(LABEL)), LABEL])


def products(x):
    h = np.tanh(A @ x)
    return h @ h + np.prod(x)


def parts(x):
    return x[0] * x[1] + np.sum(x[2:] ** 2 * x[:-2]) + x[-1] ** 3


def repeated_indices(x):
    return np.sum(x[np.array([0, 0, 1, 5])] ** 3)


def reshaped(x):
    w = x.reshape(2, 3)
    return np.sum(np.exp(w @ w.T))


def norms(x):
    return np.sqrt(np.sum(x**2)) + np.linalg.norm(x - 1.0)


def divided(x):
    return np.sum(1.0 / (1.0 + np.exp(-x))) / (2.0 + np.sum(x * x))


def inner(x):
    f = lambda a: a * a * a
    return np.sum(f(x)) * f(x[0])


def norm_of_a_copy(x):
    return np.linalg.norm(x.copy()) + np.var(np.array(x)) * np.sum(np.copy(x) ** 3)


def several(x):
    y = x * 2.0
    return np.sum(y * y * x) + np.sum(y) * np.sum(np.cos(y))


def drawn(x):
    source = np.random.default_rng(3)
    return np.sum(np.sin(x) * source.normal(size=6)) * source.random()


def sorted_and_cumulated(x):
    return np.sum(np.cumsum(np.sort(x)) ** 2)


def maxima(x):
    return np.max(x) ** 2 * np.sum(np.maximum(x, 0.1) ** 3) + np.sum(np.where(x > 0, x**2, x**3))


def branches(x):
    return np.sum(x**3) if x[0] > 0 else np.sum(x**2)


def loops(x):
    y = x
    for _ in range(3):
        y = y * np.sin(x)
    return np.sum(y)


def many_turns(x, n):
    s = 0.0
    for i in range(n):
        s = s + x[i] ** 3
    return s


def writes(x):
    y = np.zeros(6)
    y[1:4] = x[:3] ** 2
    return np.sum(y * x)


def linear(x):
    return np.sum(3.0 * x)


def unused(x):
    return 2.5


def partly_opaque(x):
    return np.sum(x**3) + np.sum(np.cumsum(np.sort(x)) ** 2) + np.prod(x)


ARRAYS = [powers, broadcast, softmax_of_rows, parts, repeated_indices, reshaped, norms, divided,
          inner, several, loops, norm_of_a_copy, drawn]  # fmt: skip
PERHAPS = [products, partly_opaque, sorted_and_cumulated, maxima, branches, writes, linear, unused]


def generic_hvp(f, *xs, argnums=0):
    with generic_only():
        return outcome(lambda: hvp(f, argnums)(*xs))


def assert_agreement(f, *choices, argnums=0, tolerance=1e-10):
    product = hvp(f, argnums)
    for xs in [choices[0]] * 3 + [xs for xs in choices for _ in (1, 2)]:
        want, got = generic_hvp(f, *xs, argnums=argnums), outcome(lambda xs=xs: product(*xs))
        assert is_alike(got, want, tolerance), f"{xs}: {got}, and generic {want}"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f", ARRAYS, ids=lambda f: f.__name__)
def test_specialized(f):
    assert_agreement(f, (X, V), (Y, X), (-2 * X, np.zeros(6)), (np.zeros(6), V))
    assert answers(f, (X, V))
    step = 1e-5
    differences = (grad(f)(X + step * V) - grad(f)(X - step * V)) / (2 * step)
    np.testing.assert_allclose(hvp(f)(X, V), differences, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("f", PERHAPS, ids=lambda f: f.__name__)
def test_perhaps_specialized(f):
    assert_agreement(f, (X, V), (Y, X), (-X, V))


@pytest.mark.parametrize(
    "given",
    [
        (X[:3], V[:3]), (X, V[:5]), (X, V[:, None]), (X, list(V)), (X, V.astype(np.float32)),
        (X.astype(np.float32), V.astype(np.float32)), (X + 0j, V), (X, None), (X, 1.0),
        (X * np.nan, V), (X, V * np.inf), (np.ones((2, 3)), np.ones((2, 3))), (2.0, 1.0),
        (np.float64(2.0), np.float64(1.0)), (np.array(2.0), np.array(1.0)),
    ],
    ids=repr,
)  # fmt: skip
def test_other_arguments(given):
    assert_agreement(powers, (X, V), given)


def test_scalars():
    def f(x, y):
        return x**3 * math.sin(y) + x * y

    for argnums in (0, 1):
        assert_agreement(f, (2.0, 0.5, 1.0), (-1.0, 2.0, 0.25), (2.0, 0.5, 1), argnums=argnums)
    assert hvp(f)(2.0, 0.5, 1.0) == pytest.approx(12 * math.sin(0.5))


SINGLE = {
    "array": lambda b, w: np.sum(np.exp(b * w)),
    "math": lambda b, w: math.exp(b) * b,
    "negative": lambda b, w: -np.exp(-b),
    "maximum": lambda b, w: np.maximum(b, 0) ** 2 * w[0],
    "sum": lambda b, w: sum(b**i for i in range(4)),
}


@pytest.mark.parametrize("name", SINGLE)
def test_single_precision(name):
    f, b, one, w = SINGLE[name], np.float32(0.5), np.float32(1.0), X.astype(np.float32)
    assert_agreement(f, (b, w, one), (0.5, w, 1.0), (b, X, one), tolerance=1e-6)
    assert answers(f, (b, w, one))


def test_of_one_of_several_arguments():
    def f(a, x):
        return np.sum((a @ x) ** 3)

    assert_agreement(f, (A, X, V), (-A, Y, V), argnums=1)
    assert_agreement(f, (A, X, A + 1.0), argnums=0)


def test_what_is_given_and_returned_is_shared_with_nothing():
    product, x, v = hvp(powers), X.copy(), V.copy()
    results = [product(x, v) for _ in range(4)]
    results[-1][:] = 99.0
    np.testing.assert_array_equal(product(x, v), results[0])
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(v, V)


def test_in_threads():
    want, wrong = generic_hvp(products, X, V)[1], []
    product = hvp(products)

    def work():
        for _ in range(20):
            if not np.allclose(product(X, V), want, rtol=1e-12):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_many_turns_of_a_loop_stay_generic():
    product = hvp(many_turns)
    for _ in range(3):
        np.testing.assert_allclose(product(X, 6, V), 6 * X * V)


# -- Hessians, row by row --------------------------------------------------------------------


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def of_a_number(x):
    return math.sin(x) * x**3


def agree_on_hessians(f, *choices, argnums=0, tolerance=1e-10):
    second = hessian(f, argnums)
    for xs in [choices[0]] * 3 + [xs for xs in choices for _ in (1, 2)]:
        with generic_only():
            want = outcome(lambda xs=xs: hessian(f, argnums)(*xs))
        got = outcome(lambda xs=xs: second(*xs))
        assert is_alike(got, want, tolerance), f"{xs}: {got}, and generic {want}"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("f", [*ARRAYS, *PERHAPS, rosenbrock], ids=lambda f: f.__name__)
def test_hessian(f):
    agree_on_hessians(f, (X,), (Y,), (-2 * X,), (X.astype(np.float32),))


def test_hessians_of_numbers_and_of_no_entries():
    agree_on_hessians(of_a_number, (0.7,), (-1.5,), (2,), (np.float64(0.3),), (np.array(0.3),))
    agree_on_hessians(rosenbrock, (np.ones(3),), (np.ones(0),), (np.ones((2, 2)),), ([1.0, 2.0],))
    agree_on_hessians(lambda x, y: x * y * y + y**3, (0.3, 0.4), (1.5, -0.2), argnums=1)


def test_hessians_are_answered_by_specialized_code():
    for f, x in ((rosenbrock, X), (of_a_number, 0.7)):
        for _ in range(3):
            hessian(f)(x)
        assert answers(f, (x, np.eye(6)[0] if f is rosenbrock else 1.0))
    expected = -math.sin(0.7) * 0.7**3 + 6 * math.cos(0.7) * 0.7**2 + 6 * math.sin(0.7) * 0.7
    assert hessian(of_a_number)(0.7) == pytest.approx(expected, rel=1e-14)


# -- trees, and several arguments --------------------------------------------------------------


def of_a_dict(p):
    return np.sum(np.tanh(p["w"]) ** 3) * p["b"] + np.exp(p["b"])


def of_layers(layers, x):
    h = A * x
    for w, b in layers:
        h = np.tanh(h @ w + b)
    return np.mean(h**2)


def of_nested(p):
    total = 0.0
    for x in p[0]:
        total = total + x["a"] ** 3 * p[1][0] if x["a"] > 0 else total - x["a"]
    return total * np.sum(p[1][1])


def linear_in_a_part(p):
    return np.sum(p["w"]) ** 2


def with_text(p):
    return np.sum(p["w"] ** 3) * (2.0 if p["name"] == "cubic" else p["b"])


def of_three(w, x, b):
    return np.sum((w @ x) ** 2) * b**3 + b * np.sum(np.sin(w))


LAYERS = [(RNG.normal(size=(6, 3)), RNG.normal(size=3)), (RNG.normal(size=(3, 2)), 0.5)]
TREES = {
    "dict": (of_a_dict, 0, ({"w": X, "b": 0.5},), ({"w": Y, "b": -1.0},)),
    "layers": (of_layers, 0, (LAYERS, X), ([(2 * w, b) for w, b in LAYERS], Y)),
    "nested": (
        of_nested, 0, (([{"a": 1.5}, {"a": 0.5}], (0.5, X)),),
        (([{"a": 1.5}, {"a": -1}], (2.0, Y)),),
    ),
    "linear": (linear_in_a_part, 0, ({"w": X, "b": 0.5},), ({"w": np.zeros(0), "b": 0.5},)),
    "text": (
        with_text, 0, ({"w": X, "name": "cubic", "b": 2.0},),
        ({"w": X, "name": "other", "b": 2.0},),
    ),
    "two": (of_three, (0, 2), (A, X, 0.5), (-A, Y, 1.0)),
    "one in a tuple": (of_three, (1,), (A, X, 0.5), (A, Y, np.float64(2.0))),
    "numbers": (lambda x, y: x**3 * math.sin(y), (0, 1), (0.5, 1.5), (-0.5, 0.25)),
    "float32": (
        of_a_dict, 0, ({"w": X.astype("f4"), "b": np.float32(0.5)},),
        ({"w": X, "b": np.array(0.5)},),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
def test_trees_and_several_arguments(name):
    f, argnums, first, second = TREES[name]
    vectors = [tree_map(lambda d: d * 0 + 0.75, grad(f, argnums)(*xs)) for xs in (first, second)]
    options = {"argnums": argnums, "tolerance": 1e-6 if name == "float32" else 1e-10}
    assert_agreement(f, (*first, vectors[0]), (*second, vectors[1]), **options)
    assert answers(f, (*first, vectors[0]))
    agree_on_hessians(f, first, second, **options)
    numbers, v = ((argnums,), (vectors[0],)) if argnums == 0 else (argnums, vectors[0])

    def along(t):
        """Return the slope along the vector, at a distance."""
        given = [*first]
        for n, part in zip(numbers, v, strict=True):
            given[n] = tree_map(lambda x, d: x + t * d, given[n], part)
        return inner_product(grad(f, argnums)(*given))

    def inner_product(d):
        return ravel(d)[0] @ ravel(vectors[0])[0]

    step = 1e-2 if name == "float32" else 1e-5
    slope = (along(step) - along(-step)) / (2 * step)
    tolerance = 1e-2 if name == "float32" else 1e-6
    got = inner_product(hvp(f, argnums)(*first, vectors[0]))
    assert got == pytest.approx(slope, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize(
    "given",
    [
        ({"w": X, "b": 0.5}, {"b": 1.0, "w": V}), ({"w": X, "b": 0.5}, {"w": V}),
        ({"w": X, "b": 0.5}, {"w": V, "b": None}), ({"w": X, "b": 0.5}, {"w": V[:3], "b": 1.0}),
        ({"w": X, "b": 0.5}, None), ({"b": 0.5, "w": X}, {"b": 1.0, "w": V}),
        ({"w": X, "b": 2}, {"w": V, "b": 1.0}), ({"w": X * np.inf, "b": 0.5}, {"w": V, "b": 1.0}),
        ({"w": 0.5, "b": 0.5}, {"w": 1.0, "b": 1.0}),
        ({"w": list(X), "b": 0.5}, {"w": V, "b": 1.0}),
    ],
    ids=repr,
)  # fmt: skip
def test_other_trees(given):
    assert_agreement(of_a_dict, ({"w": X, "b": 0.5}, {"w": V, "b": 1.0}), given)


def test_trees_that_share_parts():
    def f(p):
        return np.sum(p[0]["a"] * p[1]["a"] ** 2)

    one, v = {"a": X}, [{"a": V}, {"a": Y}]
    assert_agreement(f, ([{"a": X}, {"a": Y}], v), ([one, one], v), ([{"a": X}, {"a": X}], v))
    agree_on_hessians(f, ([{"a": X}, {"a": Y}],), ([one, one],), ([{"a": X}, {"a": X}],))
    p = {"w": X, "b": 0.5}
    assert_agreement(of_a_dict, (p, {"w": V, "b": 1.0}), (p, p))
    known = {"a": Y}
    reads = lambda p: np.sum(p["a"] ** 2 * known["a"])
    assert_agreement(reads, ({"a": X}, {"a": V}), (known, {"a": V}), ({"a": Y}, {"a": V}))
    agree_on_hessians(reads, ({"a": X},), (known,))
    product = hvp(of_a_dict)
    kept = [product(p, {"w": V, "b": 1.0}) for _ in range(4)]
    kept[-1]["w"][:] = 99.0
    np.testing.assert_array_equal(product(p, {"w": V, "b": 1.0})["w"], kept[0]["w"])


def test_a_vector_for_several_arguments_is_a_tuple():
    for argnums, vector in (((1,), (V,)), ((0, 1), (A, V))):
        product = hvp(lambda a, x: np.sum((a @ x) ** 3), argnums)
        for _ in range(3):
            product(A, X, vector)
        for wrong in (vector[-1], [*vector], (*vector, V)):
            with pytest.raises(TypeError, match="the vector given to hvp of <lambda> is"):
                product(A, X, wrong)


def test_all_entries_of_a_hessian_are_of_one_time():
    slow = lambda x, b: np.sum(x) ** 2 * time.perf_counter() * b
    for argnums in (0, (0, 1)):
        second = hessian(slow, argnums)
        for _ in range(3):
            found = second(X, 2.0)
            block = found if argnums == 0 else found[0][0]
            assert np.all(block == block[0, 0])


# -- objects and named tuples --------------------------------------------------------------------


@dataclasses.dataclass
class Layer:
    w: object
    b: object

    def __call__(self, x):
        return np.tanh(self.w * x) * self.b


class Scaled(Layer):
    scale = 2.0

    def __call__(self, x):
        return super().__call__(x) ** 2 + self.scale


class Kind(enum.Enum):
    CUBIC = 1


Pair = collections.namedtuple("Pair", "w b")
NAMED = Layer(X, 2.0)
NAMED.name, NAMED.kind, NAMED.other, NAMED.n, NAMED.act = "a", Kind.CUBIC, Y, 3, np.tanh


def of_fields(p):
    return np.sum(np.tanh(p.w) ** 3) * p.b**2


def of_a_named_layer(p):
    return np.sum(p.act(p.w) ** (3 if p.kind is Kind.CUBIC else 2)) * p.b**2


def of_network(layers, x):
    for layer in layers:
        x = layer(x)
    return np.sum(x**2)


def of_a_model(p, x):
    return np.sum(p.w(x) * p.b["a"].w) * p.b["c"][0] ** 2


def moved_by(x, t, d):
    """Return an argument at a distance along a direction."""
    if d is None:
        return x
    if isinstance(d, Tangent):
        moved = type(x).__new__(type(x))
        for name, part in vars(x).items():
            setattr(moved, name, moved_by(part, t, d[name]))
        return moved
    if isinstance(d, dict):
        return {key: moved_by(part, t, d[key]) for key, part in x.items()}
    if isinstance(d, tuple | list):
        parts = [moved_by(part, t, e) for part, e in zip(x, d, strict=True)]
        return type(x)(*parts) if hasattr(x, "_make") else type(x)(parts)
    return x + t * d


def numbers_in(d):
    if isinstance(d, Tangent | dict):
        d = [part for _, part in d.items()]
    if isinstance(d, tuple | list):
        return [number for part in d for number in numbers_in(part)]
    return [] if d is None else list(np.ravel(d))


OBJECTS = {
    "dataclass": (of_fields, 0, (Layer(X, 2.0),), (Layer(Y, np.float64(0.5)),)),
    "named tuple": (of_fields, 0, (Pair(X, 2.0),), (Pair(Y, 0.5),)),
    "not read": (of_a_named_layer, 0, (NAMED,), (NAMED,)),
    "network": (
        of_network, (0, 1), ([Layer(X, 2.0), Scaled(Y, 0.5)], V),
        ([Layer(Y, 2.0), Layer(Y, 0.5)], V),
    ),
    "nested": (
        of_a_model, 0, (Pair(Layer(X, 2.0), {"a": Layer(Y, 1.0), "c": (0.5, X)}), V),
        (Layer(Layer(X, 2.0), {"a": Layer(Y, 1.0), "c": [0.5, X]}), V),
    ),
    "method": (lambda p: float(np.sum(p(V))), 0, (Layer(X, 2.0),), (NAMED,)),
}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_objects(name):
    f, argnums, first, second = OBJECTS[name]
    # which notes the slots of a class in the class, once
    choices = [copy.deepcopy((*xs, grad(f, argnums)(*xs))) for xs in (first, second)]
    assert_agreement(f, *choices, argnums=argnums)
    assert answers(f, choices[0])
    agree_on_hessians(f, first, second, argnums=argnums)
    moving = (0,) if argnums == 0 else argnums
    v = (choices[0][-1],) if argnums == 0 else choices[0][-1]

    def slope_at(t):
        given = [moved_by(x, t, v[i]) if i in moving else x for i, x in enumerate(first)]
        return np.array(numbers_in(grad(f, argnums)(*given)))

    differences = (slope_at(1e-5) - slope_at(-1e-5)) / 2e-5
    got = numbers_in(hvp(f, argnums)(*choices[0]))
    np.testing.assert_allclose(got, differences, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "vector",
    [
        Tangent(Layer, b=1.0, w=V), Tangent(Scaled, w=V, b=1.0), Tangent(Layer, w=V),
        Tangent(Layer, w=V[:2], b=1.0), Tangent(Layer, w=V, b=None), Tangent(Layer, w=V, b=1),
        Tangent(Layer, w=V * np.inf, b=1.0), Tangent(Layer, w=V.astype("f4"), b=1.0),
        Layer(V, 1.0), {"w": V, "b": 1.0}, (V, 1.0), None,
    ],
    ids=repr,
)  # fmt: skip
def test_other_vectors_for_objects(vector):
    fits = Tangent(Layer, w=V, b=1.0)
    assert_agreement(of_fields, (Layer(X, 2.0), fits), (Layer(X, 2.0), vector))


def test_objects_that_are_shared_and_change():
    shared = Layer(X, 2.0)
    f = lambda a, b: np.sum(a.w**3 * b.w) * b.b
    v = Tangent(Layer, w=V, b=1.0)
    apart = (Layer(X, 2.0), Layer(Y, 1.0), (v, v))
    assert_agreement(f, apart, (shared, shared, (v, v)), argnums=(0, 1))
    of_both = lambda p: np.sum(p[0].w ** 3 * p[1].w) * p[1].b
    assert_agreement(of_both, ([*apart[:2]], [v, v]), ([shared, shared], [v, v]))
    product, p = hvp(of_fields), Layer(X, 2.0)
    for change in ({}, {}, {"more": Y}, {"w": 0.5}, {"b": np.float32(2.0)}, {"w": X, "b": 2.0}):
        vars(p).update(change)
        for _ in range(2):
            along = grad(of_fields)(p)
            got = outcome(lambda along=along: product(p, along))
            assert is_alike(got, generic_hvp(of_fields, p, along))


def test_forward_mode_over_gradients_by_objects():
    p = Layer(X, 2.0)
    p.name, p.other, p.n = "a", Y, 3
    v = Tangent(Layer, w=V, b=1.0, name=None, other=Y, n=1.0)
    for derivative in (grad(of_fields), value_and_grad(of_fields)):
        with generic_only():
            want = jvp(derivative, (p,), (v,))
        for _ in range(3):
            assert is_alike(jvp(derivative, (p,), (v,)), want)
