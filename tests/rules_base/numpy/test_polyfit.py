"""Fits of polynomials against finite differences."""

import numpy as np
import pytest

from rules_base.numpy import polyfit
from rulescore import rrule

EXAMPLES = [
    pytest.param(*e, id=f"{e[0].__name__}-{i}") for i, e in enumerate(polyfit.rule.examples)
]


@pytest.mark.parametrize(("f", "xs", "options"), EXAMPLES)
def test_example(check, f, xs, options):
    check(f, *xs, **options)


X = np.array([-1.5, -0.5, 0.25, 1.0, 2.0, 2.5])
Y = np.sin(3 * X)


def test_residuals_of_a_full_fit():
    rng = np.random.default_rng(0)
    (_, residuals, *_), back = rrule(np.polyfit, X, Y, 2, full=True)
    assert residuals.shape == (1,)
    _, dx, dy, ddeg = back((None, np.ones(1), None, None, None))
    assert ddeg is None
    for position, d in enumerate((dx, dy)):
        v = rng.normal(size=X.shape)
        ends = []
        for h in (1e-6, -1e-6):
            xs = [X, Y]
            xs[position] = xs[position] + h * v
            ends.append(np.polyfit(*xs, 2, full=True)[1][0])
        np.testing.assert_allclose(np.dot(d, v), (ends[0] - ends[1]) / 2e-6, rtol=1e-6)


def test_results_without_a_rule_are_refused():
    _, back = rrule(np.polyfit, X, Y, 2, full=True)
    with pytest.raises(NotImplementedError, match="singular values"):
        back((None, None, None, np.ones(3), None))
    (_, cov), back = rrule(np.polyfit, X, Y, 2, cov=True)
    with pytest.raises(NotImplementedError, match="covariance"):
        back((None, np.ones_like(cov)))
    expected = rrule(np.polyfit, X, Y, 2)[1](np.ones(3))
    for d, e in zip(back((np.ones(3), None)), expected, strict=True):
        np.testing.assert_array_equal(d, e)


@pytest.mark.filterwarnings("ignore:Polyfit may be poorly conditioned")
def test_a_fit_that_is_not_unique():
    _, back = rrule(np.polyfit, X[:2], Y[:2], 3)
    with pytest.raises(np.linalg.LinAlgError, match="not unique"):
        back(np.ones(4))
    _, back = rrule(np.polyfit, np.ones(4), Y[:4], 1)
    with pytest.raises(np.linalg.LinAlgError, match="not unique"):
        back(np.ones(2))


def test_integers_are_real_numbers():
    _, back = rrule(np.polyfit, np.arange(5), np.array([1, -2, 3, 4, 0]), 1)
    _, dx, dy, _ = back(np.ones(2))
    assert dx.dtype == dy.dtype == np.float64
