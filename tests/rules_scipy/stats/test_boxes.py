"""Distribution functions of several variables, against differences, integrals and closed forms."""

import numpy as np
import pytest
from scipy import integrate, stats

from rulescore.testing import check_rrule
from zygote_lite import check_gradient, gradient

NORMAL, STUDENT = stats.multivariate_normal, stats.multivariate_t
X, LOWER = np.array([0.5, 0.3]), np.array([-1.0, 0.4])
POINTS = np.array([[0.1, 0.2], [0.4, -0.3], [2.0, np.inf]])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def matrix(a):
    return np.array([[1.3, a], [a, 0.8]])


def correlations(a):
    return np.array([[1.0, a[0], a[1]], [a[0], 1.0, a[2]], [a[1], a[2], 1.0]])


CALLS = {
    "point": lambda a: NORMAL.cdf(a * X, X - 0.4, matrix(0.3)),
    "points": lambda a: NORMAL.cdf(a * POINTS, X - 0.4, matrix(0.3)) @ np.array([1.0, 2.0, 3.0]),
    "mean": lambda a: NORMAL.cdf(X, a * X, matrix(0.3), lower_limit=LOWER),
    "covariance": lambda a: NORMAL.cdf(X, X - 0.4, a * matrix(a), lower_limit=LOWER),
    "lower": lambda a: NORMAL.cdf(X, X - 0.4, matrix(0.3), lower_limit=a * LOWER),
    "frozen": lambda a: NORMAL(a * X, matrix(a)).logcdf(X),
    "one": lambda a: STUDENT.cdf(a, 0.1, a + 0.2, 3 * a, lower_limit=-a),
}


@pytest.mark.parametrize("name", CALLS)
def test_differences(name):
    if name == "one":  # SciPy's own value is of random points
        got, moved = gradient(CALLS[name], 0.7)[0], 1e-5

        def exact(a):
            low, high = np.array([-a - 0.1, a - 0.1]) / (a + 0.2) ** 0.5
            return stats.t.cdf(high, 3 * a) - stats.t.cdf(low, 3 * a)

        expected = (exact(0.7 + moved) - exact(0.7 - moved)) / (2 * moved)
        assert got == pytest.approx(expected, rel=1e-8)
    else:
        check_gradient(CALLS[name], 0.7)


@pytest.mark.parametrize("cdf", [NORMAL.cdf, lambda *xs: STUDENT.cdf(*xs, 3.0)])
def test_correlations_of_an_octant(cdf):
    a, zero = np.array([0.3, -0.2, 0.5]), np.zeros(3)
    got = gradient(lambda a: cdf(zero, zero, correlations(a)), a)[0]
    np.testing.assert_allclose(got, 1 / (4 * np.pi * np.sqrt(1 - a**2)), rtol=1e-9)


def test_a_limit_of_student():
    expected = [
        integrate.quad(lambda v: STUDENT.pdf([X[0], v], X - 0.4, matrix(0.3), 4), -np.inf, X[1])[0],
        integrate.quad(lambda v: STUDENT.pdf([v, X[1]], X - 0.4, matrix(0.3), 4), -np.inf, X[0])[0],
    ]
    got = gradient(lambda x: STUDENT(X - 0.4, matrix(0.3), 4).cdf(x), X)[0]
    np.testing.assert_allclose(got, expected, rtol=1e-8)


def test_freedom_of_two_variables():
    # a quadrant has the same probability for all, and one variable alone its own distribution
    zero = gradient(lambda df: STUDENT.cdf([0, 0], [0, 0], matrix(0.3), df), 4.0)[0]
    got = gradient(lambda df: STUDENT.cdf([1.0, np.inf], [0, 0], matrix(0.3), df), 4.0)[0]
    one = gradient(lambda df: stats.t.cdf(1 / 1.3**0.5, df), 4.0)[0]
    assert zero == pytest.approx(0, abs=1e-15)
    assert got == pytest.approx(one, rel=1e-9)


def test_refused():
    with pytest.raises(np.linalg.LinAlgError, match="singular covariance"):
        gradient(lambda a: NORMAL.cdf(X, X, a * np.ones((2, 2)), allow_singular=True), 0.7)
    with pytest.raises(TypeError, match="SciPy's values are wrong"):
        gradient(lambda a: STUDENT.cdf(a * X, X, matrix(0.3), 0.5), 0.7)
