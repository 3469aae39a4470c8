"""Reshaping, transposing and broadcasting."""

import numpy as np
import pytest

from rulescore import frule, rrule
from rulescore._naming import name_of
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_flatten_copies_and_ravel_does_not():
    x = np.ones((2, 2))
    assert not np.shares_memory(rrule(np.ndarray.flatten, x)[0], x)
    assert np.shares_memory(rrule(np.ravel, x)[0], x)


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        *[((3,), axes) for axes in (0, -1, (0,), [-1], None)],
        *[((), axes) for axes in ((), [], None)],
        *[((2, 3), axes) for axes in ((1, 0), [-1, 0], (0, -1), np.array([1, 0]), range(2), None)],
        *[((2, 3, 4), axes) for axes in ((2, 0, 1), (-2, -1, 0), [np.int8(1), 0, -1])],
    ],
    ids=repr,
)
def test_every_way_to_write_the_axes_of_a_transpose(shape, axes):
    x = np.sin(np.arange(1.0, 1 + np.prod(shape))).reshape(shape)
    places = np.arange(x.size).reshape(shape)
    several = isinstance(axes, tuple | list)
    for f, xs in (
        (np.transpose, (axes,)),
        (np.ndarray.transpose, (axes,)),
        (np.ndarray.transpose, axes if several and axes else (axes,)),
    ):
        y, back = rrule(f, x, *xs)
        moved = np.transpose(places, axes)
        np.testing.assert_array_equal(y, x.flat[moved])
        expected = np.zeros(shape)
        expected.flat[moved] = y**2
        np.testing.assert_array_equal(back(y**2)[1], expected)


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
    "broadcast": np.broadcast_to(np.arange(3.0)[:, None], (2, 3, 2)).transpose(2, 0, 1),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", ["A", "K", "a", "k"])
@pytest.mark.parametrize("f", [np.ravel, np.ndarray.ravel, np.ndarray.flatten], ids=name_of)
def test_orders_that_memory_decides(f, order, layout):
    x = LAYOUTS[layout]
    y, back = rrule(f, x, order)
    np.testing.assert_array_equal(back(y.copy())[1], x)
    for dx in (np.ascontiguousarray(x), np.asfortranarray(x)):
        np.testing.assert_array_equal(frule((None, dx, None), f, x, order), (y, y))


def test_the_order_of_a_number_in_memory():
    assert rrule(np.ravel, 2.0, "K")[1](np.array([3.0]))[1] == 3.0
    assert frule((None, 3.0, None), np.ravel, 2.0, "K") == (2.0, 3.0)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("f", [np.reshape, np.ndarray.reshape], ids=name_of)
def test_the_order_of_reshape_is_that_of_the_argument(f, layout):
    x = LAYOUTS[layout]
    y, back = rrule(f, x, (2, -1), order="A")
    for dy in (np.ascontiguousarray(y), np.asfortranarray(y)):
        np.testing.assert_array_equal(back(dy)[1], x)
    for dx in (np.ascontiguousarray(x), np.asfortranarray(x)):
        np.testing.assert_array_equal(frule((None, dx, None), f, x, (2, -1), order="A"), (y, y))
