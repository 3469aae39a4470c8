"""`vmap` gives what a loop over the entries gives, and is differentiated as that."""

import copy
import math
import pickle
import warnings

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import jacobian_by_differences
from zygote_lite import grad, gradient, hvp, jacobian, tree_map, vmap

A, V = np.arange(12.0).reshape(3, 4) / 7, np.array([0.1, -0.2, 0.3, 0.4])


def product(a, v):
    return np.tanh(a @ v)


def of_a_tree(p):
    return {"a": p["w"] * 2, "b": (p["n"], p["w"][:1])}


@pytest.mark.parametrize(
    ("f", "axes", "out", "xs", "expected"),
    [
        (product, (0, None), 0, (A, V), np.tanh(A @ V)),
        (product, (1, None), 0, (A.T, V), np.tanh(A @ V)),
        (product, [-2, None], 0, (A, V), np.tanh(A @ V)),
        (math.sin, 0, 0, (V,), np.sin(V)),
        (lambda x: x * 2, 1, 1, (A,), A * 2),
        (lambda x: x * 2, 1, 0, (A,), A.T * 2),
        (lambda x, y: np.outer(x, y), 0, -1, (A, A), np.einsum("bi,bj->ijb", A, A)),
        (vmap(lambda x, y: x * y, (0, None)), (None, 0), 0, (V, V), np.outer(V, V)),
        (of_a_tree, ({"w": 1, "n": None},), {"a": 0, "b": (None, 0)}, ({"w": A, "n": 3},),
         {"a": 2 * A.T, "b": (3, A.T[:, :1])}),
        (lambda xs: [xs[0], xs[1] > 0, None], 0, 0, ([V, V],), [V, V > 0, None]),
        (grad(lambda x: x**3), 0, 0, (V,), 3 * V**2),
    ],
)  # fmt: skip
def test_a_batch_of_values(f, axes, out, xs, expected):
    found = vmap(f, axes, out)(*xs)
    assert type(found) is type(expected)
    tree_map(np.testing.assert_allclose, found, expected)


def losses(how):
    batch = vmap(product, (0, None))
    outer = vmap(vmap(lambda x, y: x * y * y, (0, None)), (None, 0))
    return {
        "product": lambda a, v: np.sum(batch(a, v) ** 2),
        "nested": lambda a, v: np.sum(outer(v, v)),
        "gradients": lambda a, v: np.sum(vmap(grad(lambda x: np.sum(x**3)))(a) @ v),
        "keyword": lambda a, v: np.sum(vmap(lambda x, *, y: x @ y)(a, y=a)) * v[0],
        "captured": lambda a, v: np.sum(vmap(lambda x: x * v)(a) ** 2),
        "tree": lambda a, v: sum(vmap(lambda p: {"s": p["x"] @ p["x"]})({"x": a})["s"]) * v[1],
    }[how]


@pytest.mark.parametrize("how", ["product", "nested", "gradients", "keyword", "captured", "tree"])
def test_inside_of_a_gradient(how):
    f = losses(how)
    expected = tuple(jacobian_by_differences(f, (A, V), i) for i in (0, 1))
    for _ in range(3):
        assert_close(grad(f, (0, 1))(A, V), expected, 1e-6)


def test_gradients_of_gradients():
    f = losses("product")
    direction = jacobian_by_differences(lambda t: grad(f)(A + t * A, V), (0.0,))
    assert_close(hvp(f)(A, V, A), direction, 1e-6)


def test_the_jacobian_of_a_batch_is_diagonal():
    assert_close(jacobian(vmap(lambda x: x * x))(V), np.diag(2 * V))


def test_it_is_pickled_by_its_name():
    batch = vmap(product, (0, None))
    assert pickle.loads(pickle.dumps(batch)) is batch
    assert batch.__name__ == "product"


def test_effects_happen_for_each_entry_in_order(capsys):
    generator = np.random.default_rng(0)
    draws = np.random.default_rng(0).normal(size=4)

    def f(x):
        print(float(x))
        return x * generator.normal()

    (d,) = gradient(lambda v: np.sum(vmap(f)(v)), V)
    np.testing.assert_array_equal(d, draws)
    assert capsys.readouterr().out == "".join(f"{float(x)}\n" for x in V)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: vmap(product)(A, V), ValueError, "need the same length; here: 3 and 4"),
        (lambda: vmap(product)(A, 1.0), ValueError, "an axis 0, and here it is float"),
        (lambda: vmap(product, (0, 5))(A, V), ValueError, "an axis 5, and here"),
        (lambda: vmap(product, (0,))(A, V), ValueError, "1 entry for 2 arguments"),
        (lambda: vmap(product, None)(A, V), ValueError, "here: no batch"),
        (lambda: vmap(lambda x: x if x > 0 else -x)(V[:0]), ValueError, "is empty, .*a branch"),
        (lambda: vmap(lambda x: "a")(V[:0]), ValueError, "is empty, .*is a str"),
        (lambda: vmap(product)(V[:0], V), ValueError, "need the same length; here: 0 and"),
        (lambda: vmap(lambda x: "a")(V), TypeError, "no array"),
        (lambda: vmap(lambda x: [x] * int(10 * x + 3))(V), ValueError, "different forms"),
        (lambda: vmap(lambda x: x, out_axes=None)(V), ValueError, "differs between entries"),
        (lambda: vmap(lambda x: (x, x), out_axes=(0,))(V), ValueError, "axes"),
    ],
)
def test_what_is_no_batch_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_loop_gives_what_is_no_batch_once():
    def side_of(x):
        return 1.0 if x > 0 else 2.0

    one_side = vmap(side_of, out_axes=None)
    assert one_side(np.array([1.0, 2.0])) == 1.0
    with pytest.raises(ValueError, match="differs between entries"):
        one_side(np.array([1.0, -2.0]))


def test_a_loop_takes_what_is_no_batch_whole():
    def f(x, y):
        return x * y if x > 0 else y

    assert vmap(f, in_axes=(0, None))(np.array([1.0, -2.0]), 3.0).tolist() == [3.0, 3.0]


SHARED, SHARED_LIST = np.zeros(2), [0.0, 0.0]


def fills_an_array(x):
    SHARED[0] = x
    SHARED[1] = x * x
    return SHARED


def fills_a_view(x):
    SHARED[0] = x
    SHARED[1] = x * x
    return {"reversed": SHARED[::-1], "parts": (SHARED[:1], x)}


def fills_a_list(x):
    SHARED_LIST[0] = x
    SHARED_LIST[1] = x * x
    return SHARED_LIST


def fills_an_output(x):
    return np.multiply(x, np.array([1.0, 2.0]), out=SHARED)


@pytest.mark.parametrize(
    "f", [fills_an_array, fills_a_view, fills_a_list, fills_an_output], ids=lambda f: f.__name__
)
def test_a_value_is_as_it_was_when_it_was_returned(f):
    x = np.array([1.0, 2.0, 3.0])
    for _ in range(4):
        found, one_by_one = vmap(f)(x), [copy.deepcopy(f(t)) for t in x]
        for value in (found, *one_by_one):  # dicts and lists as lists of leaves
            assert type(value) in (dict, list, np.ndarray)
        if isinstance(found, dict):
            found = [found["reversed"], *found["parts"]]
            one_by_one = [[y["reversed"], *y["parts"]] for y in one_by_one]
        if isinstance(found, list):
            for at, leaf in enumerate(found):
                np.testing.assert_array_equal(leaf, np.stack([y[at] for y in one_by_one]))
        else:
            np.testing.assert_array_equal(found, np.stack(one_by_one))


def test_the_gradient_through_values_that_share_an_array():
    x = np.array([1.0, 2.0, 3.0])
    for _ in range(4):
        d = grad(lambda x: np.sum(vmap(fills_an_array)(x) ** 2))(x)
        np.testing.assert_allclose(d, 2 * x + 4 * x**3, rtol=1e-12)


def reciprocal(x):
    try:
        return 1 / float(x)
    except ZeroDivisionError:
        return 0.0


def root(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return 0.0


@pytest.mark.parametrize(("f", "x"), [(reciprocal, [2.0, 0.0]), (root, [4.0, -1.0])])
def test_errors_that_a_function_handles_print_no_warnings(f, x):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(3):
            np.testing.assert_array_equal(vmap(f)(np.array(x)), [f(t) for t in x])
    assert not told


def test_warnings_of_arrays_are_printed():
    with pytest.warns(RuntimeWarning, match="invalid value"):
        vmap(lambda x: np.sqrt(x * x - 5.0))(np.array([1.0, 4.0]))


def of_a_pair(p, w):
    return {"sum": p["x"] @ w, "both": (p["n"] > 0, w * 2)}


EMPTY = [
    (math.sin, 0, 0, (V,)),
    (np.linalg.solve, 0, 0, (np.stack([np.eye(3)] * 3), A[:, :3])),
    (np.linalg.inv, (2,), 1, (np.stack([np.eye(3)] * 2, 2),)),
    (lambda i, w: w[i], (0, None), 0, (np.array([0, 1]), V)),
    (lambda x: x * 2, -1, -1, (A.astype(np.float32),)),
    (of_a_pair, ({"x": 0, "n": 0}, None), {"sum": 0, "both": (0, None)}, ({"x": A, "n": V[:3]}, V)),
    (grad(lambda w, x: np.tanh(w @ x)), (None, 0), 0, (V, A)),
    (vmap(lambda x: x @ x), 1, 0, (np.stack([A, A], 1),)),
    (vmap(lambda x, w: (x * w, 1.0), (0, None), (1, 0)), (0, None), 0, (np.stack([A, A]), V)),
]


@pytest.mark.parametrize(("f", "axes", "out", "xs"), EMPTY)
def test_an_empty_batch_has_the_shape_of_a_full_one_without_its_entries(f, axes, out, xs):
    def cut(x, a):
        if a is None:
            return x
        if isinstance(x, dict | tuple):
            keys = x if isinstance(x, dict) else range(len(x))
            parts = {key: cut(x[key], a if isinstance(a, int) else a[key]) for key in keys}
            return parts if isinstance(x, dict) else tuple(parts.values())
        return np.take(x, [], a)

    every = axes if isinstance(axes, tuple) else (axes,) * len(xs)
    empty = [cut(x, a) for x, a in zip(xs, every, strict=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, full = vmap(f, axes, out)(*empty), cut(vmap(f, axes, out)(*xs), out)
    tree_map(np.testing.assert_array_equal, found, full)
    tree_map(lambda x, y: np.testing.assert_equal(x.dtype, y.dtype), found, full)


def test_an_empty_batch_in_a_batch():
    for shape in ((3, 0, 2), (0, 3, 2), (0, 0, 2)):
        assert vmap(vmap(lambda x: x[:1] * (x @ x)))(np.ones(shape)).shape == (*shape[:2], 1)


def test_the_gradient_of_an_empty_batch_is_zero():
    def loss(w, x):
        value, shared = vmap(lambda x, w: (w @ x, w**2), (0, None), (0, None))(x, w)
        return np.sum(value) + np.sum(shared)

    for _ in range(3):
        dw, dx = grad(loss, (0, 1))(V, A[:0])
        np.testing.assert_array_equal(dw, 2 * V)
        assert dx.shape == (0, 4)
        np.testing.assert_allclose(hvp(loss)(V, A[:0], V), 2 * V)


def test_a_function_with_effects_is_not_run_for_an_empty_batch(capsys):
    made = []
    for f in (lambda x: print("run") or x, lambda x: made.append(1) or x, lambda x: x * draw()):
        with pytest.raises(ValueError, match="is empty, and the shape of its values is not known"):
            vmap(f)(V[:0])
        with pytest.raises(ValueError, match="is empty, and the shape of its values is not known"):
            grad(lambda x, f=f: np.sum(vmap(f)(x)))(V[:0])
    assert not made
    assert not capsys.readouterr().out


def draw(source=np.random.default_rng(0)):
    return source.normal()
