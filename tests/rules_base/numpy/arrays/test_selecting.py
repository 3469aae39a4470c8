"""Choosing among arrays."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_the_branch_not_taken_never_leaks():
    x = np.array([0.0, 4.0])
    with np.errstate(divide="ignore"):
        y, back_log = rrule(np.log, x)
    _, back = rrule(np.where, x > 0, y, 0.0)
    _, _, dy, d0 = back(np.ones(2))
    np.testing.assert_array_equal(back_log(dy)[1], [0.0, 0.25])
    assert d0 == 1.0


def test_clip_at_its_bounds_is_shared_like_maximum_and_minimum():
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    _, dx, dlow, dhigh = rrule(np.clip, x, 0.0, 1.0)[1](np.ones(5))
    np.testing.assert_array_equal(dx, [0.0, 0.5, 1.0, 0.5, 0.0])
    assert (dlow, dhigh) == (1.5, 1.5)


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (1.0, 0.0), (None, 0.3), (0.3, None)])
def test_clip_of_numbers(check, bounds):
    for x in (-0.5, 0.5, 1.5):
        check(np.clip, x, *bounds)
