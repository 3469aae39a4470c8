"""NumPy's statistics."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_deviation_of_equal_numbers_has_no_slope():
    for f in (np.std, np.nanstd):
        np.testing.assert_array_equal(rrule(f, np.ones(3))[1](1.0)[1], np.zeros(3))


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), (2, 0)])
@pytest.mark.parametrize("f", [np.var, np.std, np.nanvar, np.nanstd, np.nanmean, np.nansum])
def test_axes(check, f, axis):
    check(f, np.sin(np.arange(24.0)).reshape(2, 3, 4), axis=axis)


def test_weighted_histograms_have_no_rule():
    assert rrule(np.histogram, np.ones(3), weights=np.ones(3)) is None
    assert rrule(np.bincount, np.array([0, 1]), weights=np.ones(2)) is None


def test_missing_values_get_nothing():
    x = np.array([np.nan, 1.0, 2.0])
    for f in (np.nansum, np.nanmean, np.nanmax, np.nanmin, np.nanvar, np.nanstd, np.nanprod):
        _, dx = rrule(f, x)[1](1.0)
        assert dx[0] == 0.0
        assert np.isfinite(dx).all()
