"""Rules of `rules_scipy.stats.powers`, against differences."""

import numpy as np
import pytest
from scipy import stats

from rules_scipy.examples.stats.powers import X
from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import differences
from zygote_lite import gradient, hessian


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


F = {
    "boxcox_llf": lambda v: stats.boxcox_llf(v[0], v[1:] + 1),
    "yeojohnson_llf": lambda v: stats.yeojohnson_llf(v[0], v[1:]),
    "pmean": lambda v: stats.pmean(v[1:] + 1, v[0]),
    "yeojohnson": lambda v: np.sum(stats.yeojohnson(v[1:], v[0]) ** 2),
}


@pytest.mark.parametrize("name", F)
def test_where_the_logarithm_is_taken(name):
    """SciPy's own values beside such a power have no digits less."""
    f = F[name]
    for power in (0.0, 2.0):
        at = np.append(power, X - 1)
        for _ in range(3):
            found = gradient(f, at)[0]
            np.testing.assert_allclose(found, differences(f, at), rtol=1e-7, atol=1e-8)
        expected = differences(lambda h, at=at: gradient(f, at + h * E)[0][0], np.zeros(()))
        assert hessian(f)(at)[0, 0] == pytest.approx(expected, rel=1e-5)


E = np.append(1.0, 0 * X)


def test_large_powers():
    found = gradient(stats.boxcox_llf, 500.0, X)
    expected = [differences(lambda p: stats.boxcox_llf(p, X), np.array(500.0)),
                differences(lambda x: stats.boxcox_llf(500.0, x), X)]  # fmt: skip
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def test_power_means_with_a_zero():
    a = np.append(0.0, X)
    for p in (1.0, 3.0):
        found = gradient(stats.pmean, a, p)
        expected = stats.pmean(a, p) * a ** (p - 1) / np.sum(a**p)
        np.testing.assert_allclose(found[0], expected)
        slope = differences(lambda p: stats.pmean(a, float(p)), np.array(p))
        assert found[1] == pytest.approx(slope, rel=1e-7)
