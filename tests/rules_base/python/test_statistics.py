"""The statistics module."""

import statistics

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_deviation_of_equal_numbers_has_no_slope():
    assert rrule(statistics.pstdev, [2.0, 2.0])[1](1.0) == (None, [0.0, 0.0])


def test_median_of_an_even_number_is_shared():
    assert rrule(statistics.median, [3.0, 1.0, 2.0, 9.0])[1](1.0) == (None, [0.5, 0.0, 0.5, 0.0])
