"""Lists and tuples in the place of arrays."""

import numpy as np

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_a_list_of_arrays():
    xs = [np.ones(3), np.ones(3, np.float32)]
    _y, back = rrule(np.sum, xs, axis=0)
    _, dxs = back(np.arange(3.0))
    assert type(dxs) is list
    assert dxs[1].dtype == np.float32
    np.testing.assert_array_equal(dxs[0], np.arange(3.0))


def test_operators_of_two_lists_have_no_rule():
    import operator

    assert rrule(operator.add, [1.0], [2.0]) is None
    assert rrule(operator.mul, [1.0], 2) is None
