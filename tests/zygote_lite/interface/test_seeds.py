"""The numbers of the seeds."""

# the code that is differentiated may be odd on purpose
# ruff: noqa: F841

import math
import operator

import numpy as np
import pytest

from rules_base import evalpoly
from rulescore import Tangent, rrule
from zygote_lite import gradient, pullback


def foo(x):
    return math.sin(math.cos(x))


def f(a, b):
    return a / (a + b * b)


class Polynomial:
    def __init__(self, weights):
        self.weights = weights

    def __call__(self, x):
        if isinstance(x, float):
            return evalpoly(x, self.weights)
        return list(map(self, x))


class PolynomialByLambda(Polynomial):
    def __call__(self, x):
        return list(map(lambda v: evalpoly(v, self.weights), x))


class PolynomialByMethod(Polynomial):
    def at(self, x):
        return evalpoly(x, self.weights)

    def __call__(self, x):
        return list(map(self.at, x))


def test_rules_one_after_the_other():
    y1, back1 = rrule(math.cos, 0.6)
    y2, back2 = rrule(math.sin, y1)
    assert y1 == pytest.approx(0.82533, abs=1e-5)
    assert y2 == pytest.approx(0.73477, abs=1e-4)
    d_sin, d_y1 = back2(1.0)
    d_cos, d_x = back1(d_y1)
    assert d_sin is None
    assert d_cos is None
    assert d_y1 == pytest.approx(0.67831, abs=1e-5)
    assert d_x == pytest.approx(-0.38300, abs=1e-5)


def test_the_pullback_of_a_composition():
    z, back = pullback(foo, 0.6)
    assert repr(back) == "∂(foo)"
    d_foo, d_x = back(1.0)
    assert z == math.sin(math.cos(0.6))
    assert d_foo is None
    assert d_x == pytest.approx(-0.38300, abs=1e-5)


@pytest.mark.parametrize(
    ("function", "value", "cotangents"),
    [
        (operator.add, 5, (None, 1.2, 1.2)),
        (operator.sub, -1, (None, 1.2, -1.2)),
        (operator.mul, 6, (None, 3.6, 2.4)),
        (operator.truediv, 2 / 3, (None, 0.4, -1.2 * 2 / 9)),
    ],
)
def test_arithmetic(function, value, cotangents):
    for call in (rrule, pullback):
        z, back = call(function, 2, 3)
        assert z == value
        assert back(1.2) == (None, pytest.approx(cotangents[1]), pytest.approx(cotangents[2]))


def test_evalpoly():
    for call in (rrule, pullback):
        y, back = call(evalpoly, 1.2, [2.0, 0.0, 3.0, 4.0])
        assert y == pytest.approx(13.232)
        d_self, d_x, d_coefficients = back(1.0)
        assert d_self is None
        assert d_x == pytest.approx(24.48)
        assert d_coefficients == pytest.approx([1.0, 1.2, 1.44, 1.728])
        assert isinstance(d_coefficients, list)


def test_evalpoly_is_finite_at_zero():
    assert gradient(evalpoly, 0.0, [2.0, 5.0, 3.0]) == (5.0, [1.0, 0.0, 0.0])


def test_map_of_one_argument():
    y, back = pullback(map, math.sin, [0.1, 0.2, 0.5])
    assert list(y) == [math.sin(0.1), math.sin(0.2), math.sin(0.5)]
    d_map, d_sin, d_x = back([1.0, 1.0, 1.0])
    assert (d_map, d_sin) == (None, None)
    assert d_x == pytest.approx([math.cos(0.1), math.cos(0.2), math.cos(0.5)])


def test_map_of_two_arguments():
    y, back = pullback(map, f, [2.0, 4.0], [3.0, 5.0])
    assert list(y) == pytest.approx([2 / 11, 4 / 29])
    d_map, d_f, d_a, d_b = back([1.0, 1.0])
    assert (d_map, d_f) == (None, None)
    assert d_a == pytest.approx([0.0743802, 0.0297265], abs=1e-7)
    assert d_b == pytest.approx([-0.0991736, -0.0475624], abs=1e-7)


def test_a_model_at_one_point():
    z, back = pullback(PolynomialByMethod([3.0, 2.0, -3.0, 1.0]).at, 1.0)
    assert z == 3.0
    d_model, d_x = back(2.3)
    assert d_model["__self__"].weights == [2.3, 2.3, 2.3, 2.3]
    assert d_x == pytest.approx(-2.3)


def test_a_field():
    class Foo:
        def __init__(self):
            self.a, self.b, self.c = 1.0, 2.0, "hello"

    z, back = pullback(getattr, Foo(), "b")
    assert z == 2.0
    d_self, d_foo, d_name = back(1.0)
    assert dict(d_foo.items()) == {"a": None, "b": 1.0, "c": None}
    assert (d_self, d_name) == (None, None)


@pytest.mark.parametrize("kind", [Polynomial, PolynomialByLambda, PolynomialByMethod])
@pytest.mark.parametrize("xs", [[1.0, 2.0, 3.0, 4.0], (1.0, 2.0, 3.0, 4.0)], ids=["list", "tuple"])
def test_a_polynomial_model(kind, xs):
    model = kind([3.0, 2.0, -3.0, 1.0])
    z, back = pullback(model, xs)
    assert z == [3.0, 3.0, 9.0, 27.0]
    d_model, d_x = back([1.0] * 4)
    assert isinstance(d_model, Tangent)
    assert d_model.weights == [4.0, 10.0, 30.0, 100.0]
    assert d_x == type(xs)([-1.0, 2.0, 11.0, 26.0])
    assert model.weights == [3.0, 2.0, -3.0, 1.0]


@pytest.mark.parametrize("kind", [PolynomialByLambda, PolynomialByMethod])
def test_a_polynomial_model_of_arrays(kind):
    model = kind(np.array([3.0, 2.0, -3.0, 1.0]))
    z, back = pullback(model, np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(z, [3.0, 3.0, 9.0, 27.0])
    d_model, d_x = back([1.0] * 4)
    np.testing.assert_array_equal(d_model.weights, [4.0, 10.0, 30.0, 100.0])
    np.testing.assert_array_equal(d_x, [-1.0, 2.0, 11.0, 26.0])


def test_the_gradient_of_a_model_by_a_lambda():
    model = PolynomialByLambda([3.0, 2.0, -3.0, 1.0])
    _zs, back = pullback(lambda m: m([1.0, 2.0, 3.0, 4.0]), model)
    assert back([1.0] * 4)[1].weights == [4.0, 10.0, 30.0, 100.0]


def confused(x):
    y = math.exp(x)
    math.sin(x)
    z = y * 2.0
    return x * x


def test_superfluous_calls_do_not_confuse():
    z, back = pullback(confused, 3.0)
    assert z == 9.0
    assert back(1.0) == (None, 6.0)


def test_a_gradient():
    assert gradient(f, 2.0, 3.0) == (pytest.approx(9 / 121), pytest.approx(-12 / 121))
