"""Rules of `rules_scipy.optimize.programs`, against differences."""

import numpy as np
import pytest
from scipy import optimize as so
from scipy import sparse

from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import compare, differences
from zygote_lite import NoRuleError, gradient, hessian, hvp, jvp

A = np.cos(np.arange(20.0).reshape(5, 4) ** 2)
B = A @ np.array([1.0, -0.5, 0.3, 0.2]) + 0.1 * np.sin(np.arange(5.0))
W = np.arange(1.0, 5.0)
LIMITS = np.array([4.0, 6.0])
ROWS = np.array([[1.0, 1.0], [1.0, 3.0]])
EQUAL = np.array([[1.0, 1.5]])
COSTS = np.array([-1.0, -2.0])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def bounded(a, b):
    return so.lsq_linear(a, b, (-0.3, 0.5), method="bvls", tol=1e-14)


def assigned(costs):
    rows, columns = so.linear_sum_assignment(costs)
    return np.sum(costs[rows, columns])


CASES = {
    "nnls": (lambda a: np.sum(W * so.nnls(a, B)[0]), A),
    "nnls, norm": (lambda a: so.nnls(a, B)[1], A),
    "nnls, vector": (lambda b: np.sum(W * so.nnls(A, b)[0]), B),
    "lsq_linear": (lambda a: np.sum(W * bounded(a, B).x), A),
    "lsq_linear, vector": (lambda b: np.sum(W * bounded(A, b).x), B),
    "lsq_linear, left": (lambda a: np.sum(bounded(a, B).fun ** 3), A),
    "lsq_linear, cost": (lambda a: bounded(a, B).cost, A),
    "isotonic": (lambda y: np.sum(np.arange(5) * so.isotonic_regression(y).x), B),
    "assignment": (assigned, A),
    "costs": (lambda c: so.linprog(c, ROWS, LIMITS).fun, COSTS),
    "rows": (lambda a: so.linprog(COSTS, a, b_ub=LIMITS).fun, ROWS),
    "limits": (lambda b: so.linprog(COSTS, A_ub=ROWS, b_ub=b).fun, LIMITS),
    "a column of limits": (lambda b: so.linprog(COSTS, ROWS, b).fun, LIMITS[:, None]),
    "equations": (lambda a: so.linprog(COSTS, None, None, a, [4.0]).fun, EQUAL),
    "right sides": (lambda b: so.linprog(COSTS, A_eq=EQUAL, b_eq=b).fun, np.array([4.0])),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, x = CASES[name]
    compare(f, x, differences(f, x), True, rtol=1e-5, atol=1e-6)


def test_isotonic_regression_has_tangents_and_second_derivatives():
    f = lambda y: np.sum(np.arange(5) * so.isotonic_regression(y).x ** 2)
    v = np.linspace(-1.0, 1.0, 5)
    assert jvp(f, (B,), (v,))[1] == pytest.approx(gradient(f, B)[0] @ v)
    expected = (gradient(f, B + 1e-3 * v)[0] - gradient(f, B - 1e-3 * v)[0]) / 2e-3
    np.testing.assert_allclose(hvp(f)(B, v), expected, atol=1e-9)


def test_what_has_no_derivative_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="not unique"):
        gradient(lambda b: so.linprog([-1.0, -1.0], ROWS, b).fun, LIMITS)
    with pytest.raises(np.linalg.LinAlgError, match="does not hold it"):
        gradient(lambda b: so.nnls(np.eye(2), b)[0][0], np.array([1.0, 0.0]))
    with pytest.raises(NoRuleError, match="only x and fun have gradients, and not slack"):
        gradient(lambda b: so.linprog(COSTS, ROWS, b).slack[0], LIMITS)
    for f in (
        lambda b: so.lsq_linear(sparse.csr_array(A), b).x[0],
        lambda b: so.linprog(COSTS, sparse.csr_array(ROWS), b[:2] + 5).fun,
    ):
        with pytest.raises(NoRuleError, match="for sparse matrices"):
            gradient(f, B)
    with pytest.raises(NoRuleError, match="integers"):
        gradient(lambda b: so.linprog(COSTS, ROWS, b, integrality=1).fun, LIMITS)


SEVERAL = {
    "value, costs": lambda k: so.linprog(COSTS * k, ROWS, LIMITS * np.sin(k)).fun,
    "value, rows in a list": lambda k: (
        so.linprog([-1.0, -2.0 * k], [[1.0, k], [1.0, 3.0]], LIMITS).fun
    ),
    "value, a bound": lambda k: (
        so.linprog(COSTS, ROWS * k, LIMITS, bounds=[(0.5, None), (0.0, 1.5)]).fun
    ),
    "value, an equation": lambda k: so.linprog(COSTS, A_eq=EQUAL * k, b_eq=[4.0 * k**2]).fun,
    "solution": lambda k: np.sum(W[:2] * so.linprog(COSTS, ROWS * k, LIMITS * k**3).x ** 2),
    "both": lambda k: (lambda y: y.x[0] * y.fun)(so.linprog(COSTS * k, ROWS, LIMITS * k)),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_linear_programs_have_solutions_tangents_and_second_derivatives(name):
    f, k, h = SEVERAL[name], 1.1, 1e-4
    slope = (f(k + h) - f(k - h)) / (2 * h)
    assert gradient(f, k)[0] == pytest.approx(slope, rel=1e-6)
    assert jvp(f, (k,), (1.0,))[1] == pytest.approx(slope, rel=1e-6)
    curvature = (f(k + h) - 2 * f(k) + f(k - h)) / h**2
    assert hessian(f)(k) == pytest.approx(curvature, rel=1e-5, abs=1e-5)
