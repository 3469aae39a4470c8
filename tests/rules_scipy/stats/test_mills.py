"""Rules of `rules_scipy.stats.mills`, against mpmath."""

import mpmath as mp
import pytest
from scipy import stats

from rulescore.testing import check_rrule
from tests.rules_scipy.exact import compare_exactly
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def mills(t):
    return mp.sqrt(mp.pi / 2) * mp.exp(t * t / 2) * mp.erfc(t / mp.sqrt(2))


def density(x, k):
    return mp.npdf(x) * mills(1 / k - x) / k


def below(x, u, s, a, b):
    z = (mp.log(x) - u) / s
    gap = b * mills(a * s - z) - a * mills(b * s + z)
    return mp.ncdf(z) - mp.npdf(z) * gap / (a + b)


FORMULAS = {
    "logpdf": lambda x, k: mp.log(density(x, k)),
    "cdf": lambda x, k: mp.ncdf(x) - density(x, k) * k,
    "sf": lambda x, k: mp.ncdf(-x) + density(x, k) * k,
}


@pytest.mark.parametrize("k", [1e-5, 0.01, 0.7, 30.0])
@pytest.mark.parametrize("x", [-2.3, 0.0, 1.4, 5.0])
@pytest.mark.parametrize("name", FORMULAS)
def test_exponentially_modified_normal(name, x, k):
    compare_exactly(getattr(stats.exponnorm, name), FORMULAS[name], (x, k), rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("x", [0.1, 1.0, 2.5, 90.0])
@pytest.mark.parametrize(
    "shapes", [(0.0, 1.0, 1.0, 1.0), (0.3, 0.02, 2.0, 2.0), (1.0, 4.0, 0.4, 3.0)]
)
def test_double_pareto_lognormal(x, shapes):
    log = lambda *xs: mp.log(below(*xs))
    compare_exactly(stats.dpareto_lognorm.logcdf, log, (x, *shapes), rel=1e-8, abs=1e-10)


def test_where_both_tails_are_equal():
    """SciPy takes the logarithm of their difference, which is zero there."""
    (found,) = gradient(
        lambda x: stats.dpareto_lognorm.cdf(x, 0.7, 1.3, 2.0, 2.0), 2.013752707470477
    )
    expected = stats.dpareto_lognorm.pdf(2.013752707470477, 0.7, 1.3, 2.0, 2.0)
    assert found == pytest.approx(expected, rel=1e-12)
