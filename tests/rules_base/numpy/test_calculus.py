"""Differences, slopes, integrals and interpolation."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


@pytest.mark.parametrize("n", [2, 3, 4, 7])
@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("axis", [0, 1])
def test_slopes_of_short_and_long_samples(check, n, edge_order, axis):
    if n <= edge_order:
        pytest.skip("np.gradient needs more samples than that")
    x = np.sin(np.arange(n * n * 1.0)).reshape(n, n)
    check(np.gradient, x, 0.7, axis=axis, edge_order=edge_order)
    check(np.gradient, x + 1j * x.T, 0.7, axis=axis, edge_order=edge_order)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize("axis", [0, 1])
def test_slopes_at_places_that_happen_to_be_even(check, n, edge_order, axis):
    if n <= edge_order:
        pytest.skip("np.gradient needs more samples than that")
    x = np.sin(np.arange(n * n * 1.0)).reshape(n, n)
    for places in (np.arange(n * 1.0), 0.3 * np.arange(n) ** 1.5):
        check(np.gradient, x, places, axis=axis, edge_order=edge_order)
        check(np.gradient, x, places, places[::-1], edge_order=edge_order)
        check(np.gradient, x, [*places], np.float64(0.7), edge_order=edge_order)
        check(np.gradient, x + 1j * x.T, places, axis=axis, edge_order=edge_order)


def test_interpolation_outside_and_at_the_ends():
    xp, fp = np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 5.0])
    x = np.array([-1.0, 0.0, 3.0, 4.0])
    _, dx, _dxp, dfp = rrule(np.interp, x, xp, fp)[1](np.ones(4))
    np.testing.assert_array_equal(dx[[0, 3]], [0.0, 0.0])
    np.testing.assert_allclose(dfp, [2.0, 0.0, 2.0])
    _, _, _, dfp = rrule(np.interp, x, xp, fp, left=7.0, right=8.0)[1](np.ones(4))
    np.testing.assert_allclose(dfp, [1.0, 0.0, 1.0])


def test_interpolation_at_a_knot_follows_the_piece_to_the_right():
    _, dx, _, _ = rrule(np.interp, 1.0, np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 5.0]))[1](
        1.0
    )
    assert dx == 1.5


def test_interpolation_in_a_table_of_one_entry():
    _, dx, dxp, dfp = rrule(np.interp, np.array([0.0, 2.0]), np.array([1.0]), np.array([5.0]))[1](
        np.array([1.0, 2.0])
    )
    np.testing.assert_array_equal(dx, [0.0, 0.0])
    np.testing.assert_array_equal(dxp, [0.0])
    np.testing.assert_array_equal(dfp, [3.0])


def test_differences_of_too_few_entries():
    for n in (0, 1):
        x = np.ones(n)
        for f in (np.diff, np.ediff1d):
            y, back = rrule(f, x)
            assert back(y)[1].shape == (n,)


def test_the_integral_over_no_piece():
    for n in (0, 1):
        y, x = np.ones((2, n)), np.arange(1.0 * n)
        np.testing.assert_array_equal(rrule(np.trapezoid, y, dx=0.5)[1](np.ones(2))[1], 0 * y)
        _, dy, dx = rrule(np.trapezoid, y, x)[1](np.ones(2))
        np.testing.assert_array_equal(dy, 0 * y)
        np.testing.assert_array_equal(dx, 0 * x)


def test_places_that_are_data_get_no_cotangent():
    y, x = np.array([0.3, 1.0, -0.4]), np.array([0.0, 0.5, 2.0])
    _, back = rrule(np.trapezoid, y, x)
    _, dy, dx = back(2.0)
    assert dx is not None
    _, part, unasked = back.only((False, True, False))(2.0)
    np.testing.assert_array_equal(part, dy)
    assert unasked is None
