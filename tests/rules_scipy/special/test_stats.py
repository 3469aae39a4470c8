"""Rules of `rules_scipy.special.stats`, against differences."""

import mpmath as mp
import pytest
from scipy import stats

from rulescore.testing import check_rrule
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("n", [3.5, 1e4, 1e8])
def test_negative_binomial_by_a_large_count(n):
    p, k = n / (n + 2.0), 3
    (found,) = gradient(lambda n: stats.nbinom.logpmf(k, n, p), n)
    with mp.workdps(40):
        expected = mp.psi(0, mp.mpf(n) + k) - mp.psi(0, mp.mpf(n)) + mp.log(mp.mpf(p))
    assert found == pytest.approx(float(expected), rel=1e-9)
