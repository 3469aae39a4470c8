"""Projecting a cotangent to its primal: shape, precision, real or complex, container, laziness."""

import collections
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

import numpy as np
import pytest

from rulescore import Tangent, accumulate, project, zero

Point = collections.namedtuple("Point", "x y")
V = np.array([1.0, 2.0])
M = np.arange(6.0).reshape(2, 3)


class Count(IntEnum):
    ONE = 1


# Each is a cotangent, a primal, and what is due, in value and in type.
NUMBERS = [
    (2.0, 1.0, 2.0),
    (2, 1.0, 2.0),
    (np.float64(2), 1.0, 2.0),
    (np.array(2.0), 1.0, 2.0),
    (2 + 3j, 1.0, 2.0),
    (np.complex64(2 + 3j), 1.0, 2.0),
    (V, 1.0, 3.0),
    (M * 1j, 1.0, 0.0),
    (2.0, 3, 2.0),
    (2 + 3j, 3, 2.0),
    (2.0, Count.ONE, 2.0),
    (2.0, 1j, 2 + 0j),
    (V * 1j, 1j, 3j),
    (Fraction(1, 2), Fraction(1, 3), Fraction(1, 2)),
    (Decimal(2), Decimal(3), Decimal(2)),
    (V, Fraction(1, 3), np.float64(3.0)),
    (2.0, np.float32(1), np.float32(2)),
    (2 + 1j, np.float64(1), np.float64(2)),
    (V, np.float16(1), np.float16(3)),
    (2.0, np.complex64(1), np.complex64(2)),
    (2.0, np.int8(1), np.float64(2)),
    (np.float32(2), np.int64(1), np.float64(2)),
]


@pytest.mark.parametrize(("dx", "x", "due"), NUMBERS, ids=map(str, range(len(NUMBERS))))
def test_numbers(dx, x, due):
    found = project(dx, x)
    assert type(found) is type(due)
    assert found == due


def array(shape, dtype=np.float64):
    return np.ones(shape, dtype)


ARRAYS = [
    (M, array((2, 3)), M),
    (M, array(3), M.sum(0)),
    (M, array((1, 3)), M.sum(0, keepdims=True)),
    (M, array((2, 1)), M.sum(1, keepdims=True)),
    (M, array((1, 1)), M.sum(keepdims=True)),
    (M, array(()), np.array(15.0)),
    (M, array((2, 3), np.float32), M.astype(np.float32)),
    (M, array((2, 3), np.float16), M.astype(np.float16)),
    (M, array(3, np.complex64), M.sum(0).astype(np.complex64)),
    (M + 1j, array((2, 3)), M),
    (M + 1j, array((2, 3), np.float32), M.astype(np.float32)),
    (M + 1j, array((2, 3), int), M),
    (M.astype(np.float32), array((2, 3), int), M.astype(np.float32)),
    (M.astype(int), array((2, 3), int), M),
    (np.zeros((0, 3)), array((0, 3)), np.zeros((0, 3))),
    (np.zeros((0, 3)), array((1, 3)), np.zeros((1, 3))),
    (np.zeros((0, 3)), array(3), np.zeros(3)),
    (2.0, array(()), np.array(2.0)),
    (np.float64(2), array((), np.float32), np.array(2, np.float32)),
    ([[0, 1, 2], [3, 4, 5]], array((2, 3)), M),
    (M[::-1, ::-2], array((2, 2)), M[::-1, ::-2]),
]


@pytest.mark.parametrize(("dx", "x", "due"), ARRAYS, ids=map(str, range(len(ARRAYS))))
def test_arrays(dx, x, due):
    found = project(dx, x)
    assert type(found) is np.ndarray
    assert (found.shape, found.dtype) == (due.shape, due.dtype)
    np.testing.assert_array_equal(found, due)


def test_what_fits_is_returned_as_it_is():
    for dx, x in [(M, array((2, 3))), (2.0, 1.0), (M + 1j, array((2, 3), complex))]:
        assert project(dx, x) is dx
    assert project(tangent := Tangent(object), object()) is tangent
    assert project(tangent, Point(1.0, 2.0)) is tangent


NO_GRADIENT = [True, np.True_, np.array([True]), "text", b"text", None, np.array(["a"])]
NO_GRADIENT += [np.datetime64(0, "s"), np.array([0], "m8[s]")]


@pytest.mark.parametrize("x", NO_GRADIENT, ids=map(str, range(len(NO_GRADIENT))))
def test_what_is_no_number_has_no_gradient(x):
    assert project(1.0, x) is None


def test_none_stays_none():
    for x in (1.0, M, [1.0], {"a": 1.0}, "text"):
        assert project(None, x) is None


def test_arrays_of_objects_keep_theirs():
    x = np.array([Fraction(1, 2), Fraction(1, 3)])
    found = project(np.array([[1, 2], [3, 4]], object), x)
    assert found.dtype == object
    assert list(found) == [4, 6]


CONTAINERS = [
    ([1, V], [1.0, 2.0], [1.0, 3.0]),
    ((1, 2), [1.0, 2.0], [1.0, 2.0]),
    ([1, None], (1.0, 2.0), (1.0, None)),
    (V, [1.0, 2.0], [1.0, 2.0]),
    (V, (1.0, 2), (1.0, 2.0)),
    (V, [True, 2.0], [None, 2.0]),
    ((1, 2j), Point(1.0, 1j), Point(1.0, 2j)),
    ([], [], []),
    ({"a": 1}, {"a": 1.0, "b": 2.0}, {"a": 1.0}),
    ([[1, 2]], [(1.0, True)], [(1.0, None)]),
]


@pytest.mark.parametrize(("dx", "x", "due"), CONTAINERS, ids=map(str, range(len(CONTAINERS))))
def test_containers(dx, x, due):
    found = project(dx, x)
    assert found == due
    assert type(found) is type(due)
    assert repr(found) == repr(due)


def test_an_array_is_projected_to_a_list_of_rows():
    found = project(M, [[1.0, 2.0, 3.0], np.ones(3, np.float32)])
    assert found[0] == [0.0, 1.0, 2.0]
    assert found[1].dtype == np.float32


@pytest.mark.parametrize("x", [[1.0, 2.0], (1.0, 2.0), [1, 2.0], [1.0, 2j]])
def test_an_array_is_projected_to_a_sequence_of_numbers_as_each_entry_is(x):
    dx = np.array([0.5 + 1j, -2.0])
    found = project(dx, x)
    assert type(found) is type(x)
    assert found == type(x)([complex(d) if type(n) is complex else d.real for d, n in zip(dx, x)])
    assert [type(d) for d in found] == [complex if type(n) is complex else float for n in x]


def test_axes_before_those_of_a_nested_list_are_summed():
    dx = np.arange(8.0).reshape(2, 2, 2)
    assert project(dx, [[1.0, 2.0], [3.0, 4.0]]) == [[4.0, 6.0], [8.0, 10.0]]
    assert project(dx, (1.0, 2.0)) == (12.0, 16.0)
    assert project(dx[0], [[1.0], 2.0, 3.0][1:]) == [2.0, 4.0]


MISMATCHED = [
    (V, array(3)),
    (V, array((2, 2))),
    (2.0, array(1)),
    (M, array((3, 2))),
    ([1.0], [1.0, 2.0]),
    (1.0, [1.0]),
    (np.array(1.0), [1.0]),
    (np.float64(1.0), (1.0,)),
    (V, (1.0,)),
]


@pytest.mark.parametrize(("dx", "x"), MISMATCHED, ids=map(str, range(len(MISMATCHED))))
def test_what_does_not_fit_is_refused(dx, x):
    with pytest.raises(ValueError, match=r"does not fit|no cotangent of"):
        project(dx, x)


def test_foreign_arrays_stay_foreign(foreign):
    for dx, x, due in [
        (foreign(M), foreign(np.ones(3)), M.sum(0)),
        (foreign(M + 1j), foreign(np.ones((2, 3), np.float32)), M.astype(np.float32)),
        (foreign(M), foreign(np.ones((2, 3), int)), M),
        (foreign(M), 1.0, np.float64(15.0)),
        (foreign(M), 1, np.float64(15.0)),
        (foreign(M), 1j, np.float64(15.0)),
        (foreign(M), np.float32(1), np.float32(15.0)),
        (2.0, foreign(np.ones((), np.float32)), np.float32(2.0)),
    ]:
        found = project(dx, x)
        assert isinstance(found, foreign)
        assert found.dtype == due.dtype
        np.testing.assert_array_equal(found.data, due)


def test_dask_arrays_stay_lazy():
    dask = pytest.importorskip("dask", reason="dask is not installed: laziness is not shown")
    import dask.array as da

    def refuse(*args, **kwargs):
        raise AssertionError("computed")

    dx = da.from_array(M + 1j, chunks=2)
    primals = [da.ones(3, chunks=2), da.ones((2, 1), chunks=2, dtype="f4"), 1.0, np.float32(1)]
    with dask.config.set(scheduler=refuse):
        found = [project(dx, x) for x in primals]
    assert all(isinstance(d, da.Array) for d in found)
    np.testing.assert_array_equal(found[0].compute(), M.sum(0))
    np.testing.assert_array_equal(found[1].compute(), M.sum(1, keepdims=True).astype("f4"))
    assert found[1].dtype == np.float32
    assert found[2].compute() == 15.0


class Row(np.ndarray):
    pass


class Pair(collections.namedtuple("Pair", "a b")):
    __slots__ = ()

    def __new__(cls, a):
        return super().__new__(cls, a, 2.0 * a)


def test_the_zero_of_a_subclass_of_arrays_is_a_plain_array():
    d = zero(np.ones((2, 3), np.float32).view(Row))
    assert type(d) is np.ndarray
    assert (d.shape, d.dtype) == ((2, 3), np.float32)


def pair(a, b):
    """Return a pair with fields that its class does not compute."""
    return tuple.__new__(Pair, (a, b))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (zero(Pair(1.0)), pair(0.0, 0.0)),
        (zero([Pair(1.0)]), [pair(0.0, 0.0)]),
        (project((3.0, V), Pair(1.0)), pair(3.0, 3.0)),
        (project([3.0 + 1j, None], Pair(1.0)), pair(3.0, None)),
        (project(pair(3.0, 4), Pair(np.float32(1))), pair(np.float32(3.0), np.float32(4.0))),
        (accumulate(pair(1.0, 3.0), Pair(2.0)), pair(3.0, 7.0)),
        (accumulate(pair(1.0, None), (2.0, 5.0)), pair(3.0, 5.0)),
        ((2.0 * Tangent(Row, pair=pair(1.0, 3.0))).pair, pair(2.0, 6.0)),
    ],
)
def test_the_cotangent_of_a_named_tuple_with_a_new_of_its_own_is_made_of_its_fields(
    found, expected
):
    assert found == expected
    assert type(found) is type(expected)
    assert repr(found) == repr(expected)  # with the kinds of the fields
