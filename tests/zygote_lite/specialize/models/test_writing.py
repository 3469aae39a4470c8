"""Functions and methods that write to an array are transformed, and others are left to the tape."""

import operator

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import check_gradient
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import (
    DifferentiationError,
    export_adjoint,
    grad,
    gradient,
    jvp,
    testing,
    value_and_grad,
)

V = np.array([0.5, 0.9, 0.7, 0.8])
W = np.array([1.5, 0.3, 1.1, 0.6])


def out(x, y):
    a = np.empty(4)
    np.multiply(x, y, out=a)
    np.sin(a, a)
    np.cumsum(a * x, out=(a))
    np.clip(a, 0.1, 9.0, a)
    return np.sum(a * a)


def into_an_argument(x, y):
    np.add(x, y, out=x)
    np.copyto(y, x, where=x > 1.5)
    return np.sum(x * y)


def methods(x, y):
    a = x * y
    a.sort()
    b = a[::-1]
    b.partition(1)
    b.__imul__(x)
    a[2:].fill(y[0])
    a.__setitem__(0, x[1])
    return np.sum(a * a.__getitem__(slice(1, None))[0] * y)


def functions(x, y):
    a = operator.iadd(x * 1.0, y)
    np.putmask(a, x > 0.6, y * x)
    np.place(a, y > 1.0, y[1])
    operator.setitem(a, slice(1, 3), x[:2])
    np.copyto(a, a[::-1] * x)
    return np.sum(a**2)


def sums(x, y):
    a = np.ones(3)
    np.add.at(a, [0, 1, 0, 0], x)
    np.add.at(a, [1, 1], y[0])
    np.add.at(a, 2, y[1])
    return np.prod(a)


def twice(x, y):
    a = np.zeros((3, 2))
    a[[0, 0, 2], [1, 1, 0]] = x[:3]
    a[np.array([1, 1])] += y[:2]
    a[[2, -1]] = x[0]
    a[[0, 1]] = a[[1, 0]] * y[0]
    return np.sum(a**2) + np.sum(a[:, 0] * y[:3])


def masked(x, y):
    a = np.divide(x, y - 0.5, out=np.ones_like(y), where=y > 0.65)
    np.sqrt(x, out=a, where=x > 0.6)
    m = x > 0.75
    np.multiply(a, x[:1], out=a, where=m)
    m[:] = True
    np.power(y[0], 2.0, out=x, where=x > 0.75)
    b = np.add(y, 1.0, out=np.zeros((2, 4)), where=(x > 0.55) & (y > 0.55))
    return np.sum(a * x) + np.sum(b)


FUNCTIONS = [out, into_an_argument, methods, functions, sums, twice, masked]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_what_writes_is_transformed(f):
    assert testing.why_recorded(f, V.copy(), W.copy()) is None
    check_gradient(lambda x, y: f(x.copy(), y.copy()), V, W)
    assert assert_agreement(f, (V, W), (W, V), (V * 2.0, W - 0.1))


def masked_integers(x):
    a = np.ones(4, int)
    np.add(a, 1, out=a, where=x > 0.6)
    np.multiply(a, a * 0.5, out=a, where=x > 9.0, casting="unsafe")
    return np.sum(a * x)


def product_at(x):
    a = np.ones(2)
    np.multiply.at(a, [0, 0, 1, 1], x)
    return np.sum(a)


def values_in_turn(x):
    a = np.zeros(8)
    np.putmask(a, a < 1.0, x)
    return np.sum(a * a)


def of_another_shape(x):
    a = np.zeros((2, 4))
    np.copyto(a, x)
    return np.sum(a * a)


@pytest.mark.parametrize("f", [masked_integers, product_at, values_in_turn, of_another_shape])
def test_others_are_right_too(f):
    check_gradient(f, V)
    assert_agreement(f, (V,), (W,))


def larger_than_the_result(x):
    a = np.zeros((2, 4))
    np.multiply(x, x, out=a)
    return np.sum(a)


def test_an_array_that_the_result_is_spread_over():
    assert_agreement(larger_than_the_result, (V,), (W,))
    check_gradient(larger_than_the_result, V)


def test_places_in_a_large_index_that_come_again():
    def f(x):
        a = np.zeros(50)
        a[np.arange(100) % 50] = x
        return np.sum(a * a)

    x = np.linspace(0.1, 1.0, 100)
    for _ in range(4):
        (found,) = gradient(f, x)
        np.testing.assert_allclose(found, np.concatenate([np.zeros(50), 2.0 * x[50:]]))


def test_an_exported_module_stores_what_comes_last():
    try:
        text = export_adjoint(twice, V, W)
    except DifferentiationError:
        return
    space = {}
    exec(text, space)
    for got, want in zip(
        space["twice_value_and_gradient"](V, W)[1], gradient(twice, V, W), strict=True
    ):
        np.testing.assert_allclose(got, want)


REFUSED = {
    "putmask": lambda y, x: np.putmask(y, x > 0.0, x * 2.0),
    "place": lambda y, x: np.place(y, x > 0.0, x[0] * np.ones(1)),
    "copyto": lambda y, x: np.copyto(y, 1.5),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_numpy_does_not_write_is_not_written(name):
    """Values are not cast where NumPy refuses to, in transformed code either."""
    x, write = np.array([0.4, -1.5]), REFUSED[name]

    def f(x):
        y = np.zeros(2, np.float32 if name != "copyto" else int)
        write(y, x)
        return np.sum(x * y)

    for _ in range(4):
        with pytest.raises(TypeError, match="Cannot cast"):
            gradient(f, x)
    with testing.transformed_only(), pytest.raises((TypeError, testing.NotTransformed)):
        gradient(f, x)


def summed(x, out):
    np.add.reduce(np.outer(x, x), axis=0, out=out)
    return np.sum(out * out)


def largest(x, out):
    np.maximum.reduce(np.outer(x, x), 0, None, out, False)
    return np.sum(out * out)


def running(x, out):
    np.multiply.accumulate(x, 0, None, out)
    return np.sum(out * out)


def by_parts(x, out):
    np.add.reduceat(x, [0, 1, 2], out=out)
    return np.sum(out * out)


@pytest.mark.parametrize("f", [summed, largest, running, by_parts])
def test_methods_of_elementwise_functions_write_into_what_they_are_given(f):
    x, step = np.array([0.3, 0.5, 0.7]), 1e-6
    steps = step * np.eye(3)
    expected = [(f(x + d, np.ones(3)) - f(x - d, np.ones(3))) / (2 * step) for d in steps]
    for _ in range(3):
        y, dx = value_and_grad(lambda x: f(x, np.ones(3)))(x)
        assert y == pytest.approx(f(x, np.ones(3)))
        np.testing.assert_allclose(dx, expected, rtol=1e-5)
        np.testing.assert_allclose(grad(f)(x, np.ones(3)), expected, rtol=1e-5)
    y, dy = jvp(lambda x: f(x, np.ones(3)), (x,), (x,))
    assert dy == pytest.approx(np.dot(expected, x), rel=1e-5)


def test_a_list_is_not_added_to_at_places():
    with pytest.raises(TypeError, match="first operand must be array"):
        grad(lambda x: np.add.at([x[0]], [0], x[1]))(np.ones(2))
