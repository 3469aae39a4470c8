"""Rules of `rules_scipy.interpolate.polynomials`, against differences."""

import numpy as np
import pytest
from scipy import interpolate as si

from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import compare, differences
from zygote_lite import NoRuleError, gradient, hessian

X = np.array([0.0, 0.7, 1.5, 2.9, 3.3])
Y = np.array([0.3, 1.0, 0.4, 1.7, 0.9])
C = np.cos(np.arange(16.0).reshape(4, 4) ** 2)
AT = np.array([0.3, 1.1, 2.5, 3.6])
W = np.array([1.0, -0.7, 0.4, 0.2])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def at(made, x=AT):
    return np.sum(W[: np.size(x)] * made(x) ** 2)


CASES = {
    "antiderivative": (lambda x: at(si.PPoly(C, x).antiderivative(2)), X),
    "of the coefficients": (lambda c: at(si.PPoly(c, X).antiderivative(2)), C),
    "twice": (lambda x: at(si.PPoly(C, x)) + at(si.PPoly(C, x).antiderivative()), X),
    "integral": (lambda x: si.PPoly(C, x).integrate(0.1, 3.1), X),
    "integral, limits": (lambda a: si.PPoly(C, X).integrate(*a), np.array([3.1, 0.1])),
    "integral, periods": (lambda x: si.PPoly(C, x).integrate(-0.45, 8.0, "periodic"), X),
    "roots": (lambda c: np.sum(W[0] * si.PPoly(c, X).roots() ** 2), C),
    "roots, places": (lambda x: np.sum(si.CubicSpline(x, Y - 0.5).roots(extrapolate=False)), X),
    "called": (lambda x: at(si.CubicSpline(X, Y), x), AT),
    "order": (lambda y: at(lambda x: si.CubicSpline(X, y)(x, 2)), Y),
    "derivative": (lambda c: at(si.PPoly(c, X).derivative()), C),
    "solutions": (lambda y: np.sum(si.CubicSpline(X, Y).solve(y) ** 2), np.array(0.6)),
    "jumps": (lambda x: np.sum(si.PPoly([[-1.0, 1.0]], x).roots() ** 2), X[:3]),
    "bernstein": (lambda x: at(lambda at: si.BPoly(C, x)(at, 1)), X),
    "bernstein, integral": (lambda c: si.BPoly(c, X).integrate(0.1, 2.2), C),
    "bernstein, derivative": (lambda x: at(si.BPoly(C, x).derivative()), X),
    "bernstein, antiderivative": (lambda x: at(si.BPoly(C, x).antiderivative()), X),
    "to powers": (lambda x: at(si.PPoly.from_bernstein_basis(si.BPoly(C, x))), X),
    "from powers": (lambda x: at(si.BPoly.from_power_basis(si.PPoly(C, x))), X),
    "from derivatives": (lambda y: at(si.BPoly.from_derivatives(X, y)),
                         np.stack([Y, Y**2], 1)),
    "extended": (lambda c: at(extended(c)), C[:, :1]),
}  # fmt: skip


def extended(c):
    made = si.PPoly(C, X)
    made.extend(c, [4.0])
    return made


# one of each kind is called until transformed code answers
TRANSFORMED = {"antiderivative", "integral", "roots", "called", "bernstein"}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, x = CASES[name]
    compare(f, x, differences(f, x), name in TRANSFORMED, rtol=1e-6, atol=1e-7)


def test_values_that_are_not_numbers_have_no_influence():
    made, x = si.PPoly(C, X, extrapolate=False), np.array([-1.0, 1.0, np.nan])
    dmade, dx = gradient(lambda p, x: np.nansum(p(x)), made, x)
    alone, d = gradient(lambda p, x: p(x), made, 1.0)
    assert dx.tolist() == [0.0, d, 0.0]
    assert str(dmade) == str(alone)


def test_second_derivatives():
    def f(x):
        made = si.CubicSpline(x, Y)
        return at(made) + made.integrate(0.2, 2.0) ** 2

    expected = differences(lambda e: gradient(f, X + e * Y)[0] @ Y, np.zeros(()))
    np.testing.assert_allclose(Y @ hessian(f)(X) @ Y, expected, rtol=1e-6)


def test_roots_that_have_no_derivative_are_errors():
    double = si.PPoly([[1.0], [-2.0], [1.0]], [0.0, 2.0])
    with pytest.raises(np.linalg.LinAlgError, match="double root"):
        gradient(lambda y: np.sum(double.solve(y)), 0.0)
    flat = si.PPoly([[0.0]], [0.0, 2.0])
    with pytest.raises(np.linalg.LinAlgError, match="interval of roots"):
        gradient(lambda p: p.roots()[0], flat)
    several = np.stack([C, C + 0.1], -1)
    with pytest.raises(NoRuleError):
        gradient(lambda c: si.PPoly(c, X).roots()[0][0], several)
