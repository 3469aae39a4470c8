"""Methods of ufuncs."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_a_method_is_found_though_each_access_makes_it_anew():
    first, second = np.add.reduce, np.add.reduce
    assert first is not second
    assert rrule(first, np.ones(2))[0] == rrule(second, np.ones(2))[0] == 2.0
    assert rrule(np.arctan2.reduce, np.ones(2)) is None


def test_running_maximum_with_ties(check):
    x = np.array([1.0, 3.0, 2.0, 3.0, 1.0, 5.0])
    _, dx = rrule(np.maximum.accumulate, x)[1](np.ones(6))
    np.testing.assert_array_equal(dx, [1.0, 2.0, 0.0, 2.0, 0.0, 1.0])


def test_slices_that_run_backwards(check):
    x = np.sin(np.arange(8.0))
    check(np.add.reduceat, x, [5, 2, 2, 7, 0])


@pytest.mark.parametrize("f", [np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin])
def test_initial_values_and_entries_left_out(check, f):
    x = np.sin(np.arange(6.0)).reshape(2, 3)
    check(f.reduce, x, initial=0.3, where=x > -0.9)
    check(f.reduce, x, 1, None, None, True, initial=0.3)
    assert rrule(f.reduce, x, 1, None, np.zeros(2)) is None, "a result written to an array"


def test_missing_values_that_fmax_passes_over_get_nothing():
    x = np.array([np.nan, 2.0, np.nan, 1.0])
    _, dx = rrule(np.fmax.reduce, x)[1](3.0)
    np.testing.assert_array_equal(dx, [0.0, 3.0, 0.0, 0.0])
    _, dx = rrule(np.fmin.accumulate, x)[1](np.array([0.0, 1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(dx, [0.0, 2.0, 0.0, 1.0])


def test_a_method_that_is_given_its_ufunc():
    x = np.array([2.0, 3.0, 5.0])
    y, back = rrule(np.ufunc.reduce, np.multiply, x)
    assert y == 30.0
    none, of_ufunc, dx = back(1.0)
    assert none is None
    assert of_ufunc is None
    np.testing.assert_allclose(dx, [15.0, 10.0, 6.0])
    assert rrule(np.ufunc.reduce, np.logical_or, x > 2)[1](1.0) == (None, None, None)
    with pytest.raises(NotImplementedError, match=r"np.arctan2.reduce of \(ndarray, axis=\)"):
        rrule(np.ufunc.reduce, np.arctan2, x, axis=0)
