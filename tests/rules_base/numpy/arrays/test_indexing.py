"""Subscripts and their kin."""

import operator
from array import array
from collections import deque

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_repeated_indices_add_up():
    _, dx, none = rrule(operator.getitem, np.zeros(3), [0, 0, 2])[1](np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(dx, [3.0, 0.0, 3.0])
    assert none is None


@pytest.mark.parametrize(
    "index",
    [
        2,
        np.int64(1),
        np.array(1),
        slice(4, None, -2),
        (slice(None), None, 1),
        [True, False, True, False, True],
        (np.array([True, False, True, False, True]), 1),
        ([0, 0, 3], [1, 1, 0]),
        (np.array([[0], [0]]), np.array([1, 1])),
        (Ellipsis, [0, 0]),
        True,
        [],
        slice(2, 2),
        ((0, 0, 3), (1, 1, 0)),
        (array("q", [0, 0, 3]), 1),
        array("q", [0, 0, 3]),
        deque([0, 0, 3]),
        range(2, 4),
        (range(2), 0),
    ],
    ids=repr,
)
def test_every_kind_of_index(check, index):
    check(operator.getitem, np.sin(np.arange(10.0)).reshape(5, 2), index)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "u8"])
def test_rows_by_small_and_unsigned_integers(dtype):
    x = np.zeros((300, 3))
    rows = np.array([50, 100, 50], dtype)
    expected = np.zeros((300, 3))
    expected[50], expected[100] = 2.0, 1.0
    np.testing.assert_array_equal(rrule(operator.getitem, x, rows)[1](np.ones((3, 3)))[1], expected)
    if np.dtype(dtype).kind == "i":
        _, dx, _ = rrule(operator.getitem, x, -rows)[1](np.ones((3, 3)))
        np.testing.assert_array_equal(dx, np.roll(expected[::-1], 1, axis=0))


def test_kinds():
    for dtype in (np.float32, np.complex64):
        _, dx, _ = rrule(operator.getitem, np.ones(3, dtype), 1)[1](1.0)
        assert dx.dtype == dtype
    _, dx, _ = rrule(operator.getitem, np.arange(3), 1)[1](1.0)
    assert dx.dtype == np.float64
    assert rrule(operator.getitem, np.array([True]), 0)[1](1.0) == (None, None, None)
    assert rrule(operator.getitem, np.array(["a"]), 0)[1](1.0) == (None, None, None)
    _, dx, _ = rrule(operator.getitem, np.ones(3), 1)[1](1.0 + 2.0j)
    np.testing.assert_array_equal(dx, [0.0, 1.0, 0.0])


def test_containers_have_no_rule():
    assert rrule(operator.getitem, [1.0], 0) is None
    assert rrule(operator.getitem, {"a": 1.0}, "a") is None


def test_zero_dimensions():
    _, dx, _ = rrule(operator.getitem, np.array(2.0), ())[1](3.0)
    assert dx.shape == ()
    assert dx == 3.0


def test_nested_cotangents_of_lists():
    x = np.zeros((2, 2))
    _y, back = rrule(np.ndarray.tolist, x)
    np.testing.assert_array_equal(back([[1.0, None], None])[1], [[1.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "c8", "c16", "G", "i4"])
def test_rows_of_a_table(dtype):
    x = np.ones((4, 2), dtype)
    index = np.array([0, -1, 0])
    dy = np.arange(6.0).reshape(3, 2)
    _, dx, _ = rrule(operator.getitem, x, index)[1](dy.astype(dtype if dtype != "i4" else "f8"))
    assert dx.dtype == (dtype if dtype != "i4" else "f8")
    np.testing.assert_array_equal(dx, [[4.0, 6.0], [0.0, 0.0], [0.0, 0.0], [2.0, 3.0]])
