"""Rules of `rules_scipy.stats.studentized`, against differences."""

import numpy as np
import pytest
from scipy import stats

from rules_scipy.stats.studentized import density_slopes, moment_by_count
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_means_of_ranges_of_two_and_three_normals_are_apart_as_known():
    nodes, weights = np.polynomial.legendre.leggauss(12)
    log_ratio = weights @ moment_by_count(1, 2.5 + nodes / 2) / 2
    assert np.exp(log_ratio) == pytest.approx(1.5, rel=1e-9)  # 3 / sqrt(pi) and 2 / sqrt(pi)


def test_the_density_of_the_range_of_two_normals_by_their_count():
    at, near, far = (stats.studentized_range._pdf(1.3, k, 9.0) for k in (2.0, 2.005, 2.01))
    expected = (4 * near - far - 3 * at) / 0.01
    assert density_slopes(1.3, 2.0, 9.0)[1] == pytest.approx(expected, rel=1e-4)
