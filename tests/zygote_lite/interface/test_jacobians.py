"""Jacobians, Hessians and their products by several arguments, by names, and of trees by blocks."""

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import jacobian_by_differences
from zygote_lite import gradient, hessian, hvp, jacfwd, jacobian, jacrev, jvp

W, X = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.4]]), np.array([0.3, -0.7, 1.1])


def layer(w, x, b=0.5):
    return np.tanh(w @ x + b)


def outputs(w, x):
    y = w @ x
    return {"y": y * y, "total": np.sum(w * w) * x[0]}


def energy(w, x, b):
    return np.sum(np.sin(w @ x) * b) + b**3 * x[1]


def blocks(f, xs, numbers):
    """Return the differences of a function of arrays by arguments, as a tuple of arrays."""
    return tuple(jacobian_by_differences(f, xs, number) for number in numbers)


def assert_differentiable(f):
    """Assert that a number is differentiated as it changes, by a factor of what goes into it."""
    assert_close(gradient(f, 1.0)[0], jacobian_by_differences(f, (1.0,)), 1e-6)


@pytest.mark.parametrize("argnums", [(0, 1), ("w", "x"), [1, 0], ("x",), ("b", 0)])
def test_a_jacobian_by_several_arguments_is_a_tuple(argnums):
    names = ("w", "x", "b")
    numbers = [names.index(n) if isinstance(n, str) else n for n in argnums]
    expected = blocks(layer, (W, X, 0.5), numbers)
    of_layer = jacobian(layer, argnums)
    for _ in range(3):
        assert_close(of_layer(W, X, 0.5), expected, 1e-7)
    assert_close(
        jacobian(layer, argnums)(W, x=X, b=0.5), expected, 1e-7
    ) if 1 not in numbers else None
    inside = gradient(lambda a: np.sum(jacobian(layer, argnums)(W * a, X, 0.5)[0]), 1.0)[0]
    slope = jacobian_by_differences(
        lambda a: np.sum(jacobian(layer, argnums)(W * a, X, 0.5)[0]), (1.0,), 0
    )
    assert_close(inside, slope, 1e-6)


def test_the_jacobian_of_a_tree_has_the_blocks_of_several_arguments():
    found = jacrev(outputs, (0, "x"))(W, X)
    for name, entry in found.items():
        expected = blocks(lambda *xs, name=name: outputs(*xs)[name], (W, X), (0, 1))
        assert_close(entry, expected, 1e-6)


@pytest.mark.parametrize("argnums", [(0, 1), ("b", "w"), (1,)])
def test_a_hessian_by_several_arguments_is_a_tuple_of_tuples(argnums):
    names = ("w", "x", "b")
    numbers = [names.index(n) if isinstance(n, str) else n for n in argnums]
    xs = (W, X, 0.7)
    expected = tuple(
        blocks(lambda *xs, i=i: gradient(energy, *xs)[i], xs, numbers) for i in numbers
    )
    found = hessian(energy, argnums)(*xs)
    assert_close(found, expected, 1e-6)
    v = tuple(
        np.cos(np.arange(np.size(xs[i]), dtype=float)).reshape(np.shape(xs[i])) for i in numbers
    )
    v = tuple(float(part) if part.ndim == 0 else part for part in v)
    product = tuple(
        sum(np.tensordot(block, part, np.ndim(part)) for block, part in zip(row, v, strict=True))
        for row in found
    )
    for _ in range(3):
        assert_close(hvp(energy, argnums)(*xs, v), product, 1e-9)
    assert_differentiable(lambda a: np.sum(hvp(energy, argnums)(W * a, X, 0.7, v)[0]))


def test_a_hessian_by_one_argument_that_is_named():
    for _ in range(3):
        assert_close(hessian(energy, "b")(W, X, 0.7), 6 * 0.7 * X[1], 1e-9)
        assert_close(hessian(energy, "b")(W, b=0.7, x=X), 6 * 0.7 * X[1], 1e-9)
        assert_close(hvp(energy, "b")(W, X, 0.7, 2.0), 12 * 0.7 * X[1], 1e-9)


def with_norm(w, x, b):
    return energy(w, x, b), {"norm": np.sum(w * w)}


def test_a_product_with_the_hessian_stands_beside_what_else_the_function_returns():
    v = (np.cos(W), np.sin(X))
    for _ in range(3):
        product, aux = hvp(with_norm, (0, 1), has_aux=True)(W, X, 0.7, v)
        assert_close(product, hvp(energy, (0, 1))(W, X, 0.7, v), 1e-12)
        assert aux == {"norm": np.sum(W * W)}

    def of_both(a, c):
        product, aux = hvp(with_norm, has_aux=True)(W * a, X, 0.7, c * v[0])
        return np.sum(product**2) + aux["norm"]

    assert_differentiable(lambda a: of_both(1.3 * a, 0.8 * a))
    assert_close(jvp(of_both, (1.3, 0.8), (1.0, 0.0))[1], gradient(of_both, 1.3, 0.8)[0], 1e-9)


@pytest.mark.parametrize("verb", [jacobian, hessian, hvp])
def test_the_old_spelling_warns(verb):
    with pytest.warns(DeprecationWarning, match="argnums") as warned:
        found = verb(lambda x, y: x * y**2, argnum=1)
    assert warned[0].filename == __file__
    given = (2.0, 3.0, 1.0) if verb is hvp else (2.0, 3.0)
    assert found(*given) == (12.0 if verb is jacobian else 4.0)


def test_the_jacobian_by_an_array_without_entries_has_columns_of_none():
    found = jacfwd(lambda x, y: np.sum(x) * y, (0, 1))(np.zeros((0, 2)), W[0])
    assert found[0].shape == (3, 0, 2)
    np.testing.assert_array_equal(found[1], np.zeros((3, 3)))
