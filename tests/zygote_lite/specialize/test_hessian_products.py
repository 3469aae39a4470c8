"""Hessian times vector in specialized code: what the tape gives, and differences."""

import math
import threading
import time

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import answers, generic_only, is_alike, outcome
from zygote_lite import grad, hessian, hvp, ravel, tree_map

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


def assert_agreement(f, *choices, argnums=0):
    product = hvp(f, argnums)
    for xs in [choices[0]] * 3 + [xs for xs in choices for _ in (1, 2)]:
        want, got = generic_hvp(f, *xs, argnums=argnums), outcome(lambda xs=xs: product(*xs))
        assert is_alike(got, want), f"{xs}: {got}, and generic {want}"


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


def agree_on_hessians(f, *choices, argnums=0):
    second = hessian(f, argnums)
    for xs in [choices[0]] * 3 + [xs for xs in choices for _ in (1, 2)]:
        with generic_only():
            want = outcome(lambda xs=xs: hessian(f, argnums)(*xs))
        got = outcome(lambda xs=xs: second(*xs))
        assert is_alike(got, want), f"{xs}: {got}, and generic {want}"


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
    assert_agreement(f, (*first, vectors[0]), (*second, vectors[1]), argnums=argnums)
    # the second derivative by a scalar of `np.float32` has a shape that is known as it runs
    assert answers(f, (*first, vectors[0])) == (name != "float32")
    agree_on_hessians(f, first, second, argnums=argnums)
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
