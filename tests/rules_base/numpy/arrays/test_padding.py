"""Padding of arrays."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule

CUBE = np.sin(np.arange(1.0, 25.0) ** 2).reshape(2, 3, 4)


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


@pytest.mark.parametrize("mode", ["linear_ramp", "mean", "median", "maximum", "minimum"])
@pytest.mark.parametrize("width", [1, (0, 2), ((1, 0), (0, 3), (2, 2))])
def test_pads_made_of_entries(check, mode, width):
    check(np.pad, CUBE, width, mode)
    if mode != "linear_ramp":
        check(np.pad, CUBE, width, mode, stat_length=2)
        check(np.pad, CUBE, width, mode, stat_length=((1, 2), (9, 1), (3, 1)))


def test_largest_entries_share_what_their_copies_are_given():
    _, dx, *_ = rrule(np.pad, np.array([1.0, 3.0, 3.0]), (1, 1), "maximum")[1](np.ones(5))
    np.testing.assert_array_equal(dx, [1.0, 2.0, 2.0])


@pytest.mark.parametrize(("mode", "options"), [("empty", {}), ("reflect", {"reflect_type": "odd"})])
def test_paddings_without_a_rule_are_refused(mode, options):
    with pytest.raises(NotImplementedError, match=f"np.pad has no rule for mode='{mode}'"):
        rrule(np.pad, np.ones(3), 1, mode=mode, **options)


def test_nothing_is_padded():
    y, back = rrule(np.pad, np.ones((0, 2)), ((0, 0), (1, 0)), "mean")
    assert back(np.ones_like(y))[1].shape == (0, 2)
    y, back = rrule(np.pad, np.ones((0, 2)), 1)
    assert back(np.ones_like(y))[1].shape == (0, 2)
