"""Methods of ufuncs."""

import numpy as np

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
