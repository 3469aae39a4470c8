"""Rules of `rules_scipy.stats.discrete`, against differences."""

import numpy as np
import pytest
from scipy import stats

from rulescore.testing import check_rrule
from zygote_lite import grad, gradient, jvp


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


AT_ENDS = [
    *((stats.binom, (k, 5, p), 2) for k in (0, 1, 2, 5) for p in (0.0, 1.0)),
    *((stats.bernoulli, (k, p), 1) for k in (0, 1) for p in (0.0, 1.0)),
    *((stats.geom, (k, 1.0), 1) for k in (1, 2, 3)),
    *((stats.poisson, (k, 0.0), 1) for k in (0, 1, 2)),
    *((stats.nbinom, (k, 2.5, 1.0), 2) for k in (0, 1, 2)),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("distribution", "xs", "i"), AT_ENDS)
def test_at_the_end_of_a_parameter_the_slope_is_that_of_the_side_that_there_is(distribution, xs, i):
    for name in ("pmf", "cdf", "sf"):
        method = getattr(distribution, name)
        at = lambda p, f=method: f(*xs[:i], p, *xs[i + 1 :])
        h = -1e-6 if xs[i] == 1 else 1e-6
        expected = (4 * at(xs[i] + h) - at(xs[i] + 2 * h) - 3 * at(xs[i])) / (2 * h)
        for _ in range(3):
            (found,) = gradient(at, xs[i])
        assert (found or 0.0) == pytest.approx(expected, rel=1e-5, abs=1e-5), name


def test_clipped_probabilities_in_all_ways_to_call_them():
    k = np.arange(4)
    p = np.array([0.0, 0.3, 1.0])
    (found,) = gradient(lambda p: np.sum(stats.binom.pmf(k[:, None], 3, p) * k[:, None] ** 2), p)
    np.testing.assert_allclose(found, 3 + 12 * p)  # of 3 p (1 - p) + 9 p**2
    for f in (
        lambda p: stats.binom(3, p).pmf(2),
        lambda p: stats.binom.pmf(2, n=3, p=p),
        lambda p: stats.binom.pmf(3, 3, p, 1),
    ):
        assert gradient(f, 0.3)[0] == pytest.approx(3 * (2 * 0.3 - 3 * 0.09))
    assert grad(grad(lambda p: stats.binom.pmf(2, 3, p)))(0.3) == pytest.approx(3 * (2 - 6 * 0.3))
    assert jvp(lambda p: stats.binom.sf(2, 3, p), (1.0,), (1.0,))[1] == pytest.approx(3.0)
    assert gradient(lambda p: np.sum(stats.binom.pmf([0, 1], 5, p) * k[:2]), 0.0)[0] == 5.0


BY_NAME = {
    "binom": (lambda p: stats.binom.pmf(0, 5, p=p), -5.0),
    "binom, all": (lambda p: stats.binom.pmf(p=p, n=5, k=1, loc=0), 5.0),
    "binom, frozen": (lambda p: stats.binom(5, p=p).sf(0), 5.0),
    "poisson": (lambda p: stats.poisson(mu=p).cdf(0), -1.0),
    "poisson_binom": (lambda p: stats.poisson_binom.pmf(0, p=[p, 0.0]), -1.0),
}


@pytest.mark.parametrize("case", BY_NAME)
def test_probabilities_by_the_names_of_parameters_at_their_ends(case):
    f, expected = BY_NAME[case]
    assert gradient(f, 0.0)[0] == pytest.approx(expected)
