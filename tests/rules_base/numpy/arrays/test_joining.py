"""Joining and splitting."""

import numpy as np

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_each_part_keeps_its_precision():
    parts = [np.ones(2, np.float32), np.ones(3), np.arange(2)]
    y, back = rrule(np.concatenate, parts)
    _, dparts = back(np.ones_like(y))
    assert type(dparts) is list
    assert [d.dtype for d in dparts] == [np.float32, np.float64, np.float64]


def test_parts_without_a_cotangent():
    x = np.arange(6.0)
    _ys, back = rrule(np.split, x, 3)
    _, dx, none = back([None, np.ones(2), None])
    assert none is None
    np.testing.assert_array_equal(dx, [0, 0, 1, 1, 0, 0])


def test_named_tuples_stay_named():
    from collections import namedtuple

    Pair = namedtuple("Pair", "a b")
    _, dparts = rrule(np.concatenate, Pair(np.ones(2), np.ones(1)))[1](np.arange(3.0))
    assert type(dparts) is Pair
    np.testing.assert_array_equal(dparts.a, [0.0, 1.0])
