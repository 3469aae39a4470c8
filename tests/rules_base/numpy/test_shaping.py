"""Reshaping, transposing and broadcasting."""

import numpy as np
import pytest

from rulescore import rrule
from rulescore._rule import name_of
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_flatten_copies_and_ravel_does_not():
    x = np.ones((2, 2))
    assert not np.shares_memory(rrule(np.ndarray.flatten, x)[0], x)
    assert np.shares_memory(rrule(np.ravel, x)[0], x)


def test_a_shape_by_keyword():
    x = np.ones((2, 3))
    y, back = rrule(np.reshape, x, shape=(3, 2))
    assert back(y)[1].shape == (2, 3)
    assert len(back(y)) == 2
    y, back = rrule(np.swapaxes, x, 0, 1)
    assert len(back(y)) == 4


def test_empty_arrays():
    x = np.ones((0, 3))
    for f, args in ((np.reshape, ((3, 0),)), (np.transpose, ()), (np.ravel, ()), (np.squeeze, ())):
        y, back = rrule(f, x, *args)
        assert back(y)[1].shape == (0, 3)


FORTRAN = np.asfortranarray(np.arange(12.0).reshape(3, 4))
LAYOUTS = {
    "C": np.arange(12.0).reshape(3, 4),
    "Fortran": FORTRAN,
    "neither": np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
    "backwards": np.arange(24.0).reshape(2, 3, 4)[::-1].transpose(2, 0, 1),
    "part": FORTRAN[::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ["A", "K", "a", "k"])
@pytest.mark.parametrize("f", [np.ravel, np.ndarray.ravel, np.ndarray.flatten], ids=name_of)
def test_orders_that_memory_decides(f, order, layout):
    x = LAYOUTS[layout]
    y, back = rrule(f, x, order)
    np.testing.assert_array_equal(back(y.copy())[1], x)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("f", [np.reshape, np.ndarray.reshape], ids=name_of)
def test_the_order_of_reshape_is_that_of_the_argument(f, layout):
    x = LAYOUTS[layout]
    y, back = rrule(f, x, (2, -1), order="A")
    for dy in (np.ascontiguousarray(y), np.asfortranarray(y)):
        np.testing.assert_array_equal(back(dy)[1], x)
