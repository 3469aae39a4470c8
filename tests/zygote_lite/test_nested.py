"""Gradients of gradients: against formulas and finite differences of the gradient."""

import math

import numpy as np
import pytest

from rules_base import evalpoly
from zygote_lite import DifferentiationError, grad, gradient, hessian, hvp, jacobian, pullback

V = np.array([0.7, 1.3])


def slopes(f, x, h=1e-6):
    """Return the Jacobian of an array function by central differences."""
    columns = []
    for i in range(x.size):
        step = np.zeros_like(x)
        step[i] = h
        columns.append((f(x + step) - f(x - step)) / (2 * h))
    return np.stack(columns, axis=-1)


SCALAR = {
    "power": (lambda x: x**3 * math.sin(x), None),
    "product_of_list": (lambda x: math.prod([x * x, x]), lambda x: 6 * x),
    "product_of_tuple": (lambda x: math.prod((x * x, x)), lambda x: 6 * x),
    "division": (lambda x: 1.0 / (1.0 + x * x), None),
    "loop": (lambda x: sum(x**i for i in range(5)), lambda x: 2 + 6 * x + 12 * x * x),
    "numpy": (lambda x: np.tanh(x) * np.exp(x), None),
}


@pytest.mark.parametrize("name", SCALAR)
def test_second_derivatives_of_numbers(name):
    f, formula = SCALAR[name]
    for x in (0.4, 1.3):
        h = 1e-5
        expected = (grad(f)(x + h) - grad(f)(x - h)) / (2 * h)
        assert grad(grad(f))(x) == pytest.approx(expected, rel=1e-6)
        if formula is not None:
            assert grad(grad(f))(x) == pytest.approx(formula(x))


def test_a_third_derivative():
    assert grad(grad(grad(lambda x: x**4)))(2.0) == pytest.approx(48.0)


ARRAY = {
    "quadratic": lambda x: np.dot(x, x) * np.sum(np.sin(x)),
    "concatenate": lambda x: np.sum(np.concatenate([x * x, x]) ** 2),
    "stack": lambda x: np.sum(np.stack([x * x, x]) ** 3),
    "vstack": lambda x: np.sum(np.vstack([x * x, x]) ** 3),
    "block": lambda x: np.sum(np.block([x * x, x]) ** 3),
    "array": lambda x: np.sum(np.array([x[0] * x[1], x[1]]) ** 2),
    "evalpoly": lambda x: evalpoly(x[0], [x[1], x[0] * x[1], 2.0]),
    "entries": lambda x: x[0] ** 2 * x[1] + x[1] ** 3,
    "rows": lambda x: np.sum(np.outer(x, x)[0] ** 2),
    "max": lambda x: np.max(x) * np.sum(x**2),
    "where": lambda x: np.sum(np.where(x > 1.0, x**3, x**2)),
}


@pytest.mark.parametrize("name", ARRAY)
def test_hessians(name):
    f = ARRAY[name]
    expected = slopes(grad(f), V)
    found = hessian(f)(V)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found, found.T, rtol=1e-9, atol=1e-9)
    v = np.array([0.3, -1.1])
    np.testing.assert_allclose(hvp(f)(V, v), found @ v, rtol=1e-9, atol=1e-9)


def test_perturbations_are_not_confused():
    assert gradient(lambda x: x * grad(lambda y: x + y)(1.0), 5.0) == (1.0,)
    assert gradient(lambda x: x * grad(lambda y: x * y)(1.0), 5.0) == (10.0,)
    assert grad(lambda x: grad(lambda y: x * y * y)(x))(3.0) == pytest.approx(4 * 3.0)


def test_a_pullback_inside():
    def f(x):
        _, back = pullback(lambda a, b: a * b * b, x, 2.0)
        return back(x)[2]

    assert gradient(f, 3.0)[0] == pytest.approx(8 * 3.0)


def test_a_jacobian_inside():
    def f(x):
        return np.sum(jacobian(lambda v: v**3)(x) ** 2)

    np.testing.assert_allclose(gradient(f, V)[0], 36 * V**3)


def test_newton_by_second_derivatives():
    def root(a):
        x = 1.0
        for _ in range(8):
            f = lambda v: (v * v - a) ** 2
            x = x - grad(f)(x) / grad(grad(f))(x)
        return x

    assert root(2.0) == pytest.approx(math.sqrt(2.0), rel=1e-3)


def test_writes_inside_an_inner_gradient_are_refused():
    def inner(x):
        y = np.zeros(2)
        y[0] = x * x
        return y[0] * x

    with pytest.raises(DifferentiationError, match=r"test_nested\.py:\d+.*in place"):
        grad(grad(inner))(2.0)
