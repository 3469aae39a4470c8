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


def test_missing_values_get_nothing():
    x = np.array([np.nan, 1.0, 2.0])
    for f in (np.nansum, np.nanmean, np.nanmax, np.nanmin, np.nanvar, np.nanstd, np.nanprod):
        _, dx = rrule(f, x)[1](1.0)
        assert dx[0] == 0.0
        assert np.isfinite(dx).all()


@pytest.mark.parametrize("f", [np.var, np.std, np.nanvar, np.nanstd])
def test_any_number_of_degrees_of_freedom(check, f):
    x = np.sin(np.arange(6.0)).reshape(2, 3)
    check(f, x, axis=0, ddof=1.5)
    check(f, x, axis=1, ddof=1.5, where=np.array([True, True, False]))
    check(f, x, correction=0.5, mean=0.25)
    with pytest.raises(ValueError, match="ddof"):
        rrule(f, x, ddof=1, correction=1)


def test_where_leaves_missing_values_out():
    x = np.array([np.nan, 1.0, 2.0, 4.0])
    there = np.array([True, True, True, False])
    _, dx = rrule(np.nanvar, x, where=there)[1](1.0)
    np.testing.assert_allclose(dx, [0.0, -0.5, 0.5, 0.0])


def test_average_with_its_total_weight():
    x, w = np.array([1.0, 3.0]), np.array([0.5, 1.5])
    (mean, total), back = rrule(np.average, x, None, w, returned=True)
    assert (mean, total) == (2.5, 2.0)
    _, dx, _, dw = back((None, 2.0))
    assert dx is None
    np.testing.assert_array_equal(dw, [2.0, 2.0])
    _, dx, _, dw = back((1.0, None))
    np.testing.assert_allclose(dx, [0.25, 0.75])
    np.testing.assert_allclose(dw, [-0.75, 0.25])
    assert rrule(np.average, x, returned=True)[1]((None, 1.0)) == (None, None)


def test_weights_that_are_data_get_no_cotangent():
    x, w = np.arange(6.0).reshape(2, 3), np.array([0.2, 0.5])
    y, back = rrule(np.average, x, 0, w)
    _, dx, _, dw = back(np.ones_like(y))
    only = back.only((False, True, False, False))(np.ones_like(y))
    np.testing.assert_array_equal(only[1], dx)
    assert only[3] is None
    only = back.only((False, False, False, True))(np.ones_like(y))
    np.testing.assert_array_equal(only[3], dw)
    assert only[1] is None
