"""Sums, means, products and extremes."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_ties_are_shared():
    x = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
    _, dx = rrule(np.max, x, axis=1)[1](np.array([1.0, 3.0]))
    np.testing.assert_array_equal(dx, [[0.0, 0.5, 0.5], [1.0, 1.0, 1.0]])


@pytest.mark.parametrize("f", [np.sum, np.mean, np.prod, np.max, np.min])
def test_numbers(f):
    assert rrule(f, 0.7)[1](2.0) == (None, 2.0)
    assert rrule(f, np.float32(0.7))[1](np.float32(2.0)) == (None, np.float32(2.0))
    x = np.array(0.7)
    _, dx = rrule(f, x)[1](2.0)
    assert dx.shape == ()
    assert dx == 2.0


@pytest.mark.parametrize("f", [np.sum, np.prod])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
def test_empty_arrays(f, axis):
    x = np.ones((0, 3))
    y, back = rrule(f, x, axis=axis)
    assert back(np.ones_like(y))[1].shape == (0, 3)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (2, 0), (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("f", [np.sum, np.mean, np.prod, np.max, np.min])
def test_axes(check, f, axis, keepdims):
    check(f, np.sin(np.arange(24.0)).reshape(2, 3, 4), axis=axis, keepdims=keepdims)


def test_product_of_several_zeros_along_two_axes(check):
    x = np.sin(np.arange(24.0)).reshape(2, 3, 4)
    x[0, 1, 2] = x[1, 1, 3] = x[0, 2, 0] = 0.0
    check(np.prod, x, axis=(2, 0))
    check(np.prod, x)


def test_truth_values_have_no_gradient():
    assert rrule(np.sum, np.array([True, False]))[1](1.0) == (None, None)


def test_integers_count_as_real():
    _, dx = rrule(np.sum, np.arange(3))[1](1.0)
    assert dx.dtype == np.float64
    np.testing.assert_array_equal(dx, np.ones(3))


def test_an_initial_value_takes_its_share_of_a_tie():
    x = np.array([1.0, 3.0, 3.0])
    np.testing.assert_allclose(rrule(np.max, x, initial=3.0)[1](1.0)[1], [0.0, 1 / 3, 1 / 3])
    np.testing.assert_array_equal(rrule(np.max, x, initial=4.0)[1](1.0)[1], np.zeros(3))
    hit = rrule(np.max, x, initial=0.0, where=np.array([True, True, False]))[1](1.0)[1]
    np.testing.assert_array_equal(hit, [0.0, 1.0, 0.0])


@pytest.mark.parametrize("f", [np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.ptp])
def test_options_that_numpy_hands_on_as_no_value_are_not_given(f):
    x, dy = np.sin(np.arange(9.0)).reshape(3, 3), np.array([1.0, 10.0, 100.0])
    _, expected = rrule(f, x, axis=1)[1](dy)
    _, dx = rrule(f, x, axis=1, keepdims=np._NoValue)[1](dy)
    np.testing.assert_array_equal(dx, expected)
    if f in (np.sum, np.prod, np.max, np.min):
        more = {"initial": np._NoValue, "where": np._NoValue}
        np.testing.assert_array_equal(rrule(f, x, axis=1, **more)[1](dy)[1], expected)


def test_products_that_under_or_overflow():
    """Divided by each factor they would say nothing about the others."""
    for x in ([1e-200, 1e-200, 1e200], [1e200, 1e200, 1e-200], [5e-324, 2.0], [0.0, 1e300, 1e300]):
        with np.errstate(over="ignore"):
            _, dx = rrule(np.prod, np.array(x))[1](1.0)
            expected = [np.prod(x[:i] + x[i + 1 :]) for i in range(len(x))]
        np.testing.assert_allclose(dx, expected, rtol=1e-14)


def test_products_of_single_precision():
    x = np.array([0.5, 3.0, 2.0], np.float32)
    _, dx = rrule(np.prod, x)[1](np.float32(1.0))
    assert dx.dtype == np.float32
    np.testing.assert_allclose(dx, [6.0, 1.0, 1.5], rtol=1e-6)
