"""Arguments are told to have changed by each of their bits, whatever the array is like."""

import numpy as np
import pytest

from rulescore import watching
from rulescore.watching import contents, have_changed

LAYOUTS = {
    "contiguous": lambda z: z,
    "of Fortran": np.asfortranarray,
    "transposed": lambda z: z.T,
    "strided": lambda z: z[::2, ::3],
    "reversed": lambda z: z[::-1, 1:],
    "without an axis": lambda z: z[0, 0:1].reshape(()),
    "empty": lambda z: z[0, 0:0],
}
DTYPES = ("f2", "f4", "f8", "g", "i1", "u4", "i8", "?", "c8", "c16", "G", "m8[s]", "M8[D]")


@pytest.fixture(params=[0, 1 << 14])
def _from_size(request, monkeypatch):
    """Have arrays compared as integers, or as bytes."""
    monkeypatch.setattr(watching, "_LEAST_LARGE", request.param)


def assert_told(x, write, changes=True):
    before = contents((x,))
    write(x)
    assert have_changed((x,), before) is changes


def of_first(value):
    return lambda x: x.__setitem__((0,) * x.ndim, value)


@pytest.mark.usefixtures("_from_size")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_entry_counts(layout):
    for dtype in DTYPES:
        x = LAYOUTS[layout](np.zeros((4, 6), dtype))
        assert_told(x, lambda x: None, changes=False)
        if x.size:
            assert_told(x, of_first(np.ones(1, "i8").view("M8[D]")[0] if dtype == "M8[D]" else 1))


@pytest.mark.usefixtures("_from_size")
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_zeros_of_other_signs_and_what_is_no_number_count(dtype):
    x = np.array([np.nan, 1.0], dtype)
    assert_told(x, lambda x: None, changes=False)
    assert_told(x, of_first(0.0))
    assert_told(x, of_first(-0.0))
    assert_told(x, of_first(np.nan))


@pytest.mark.usefixtures("_from_size")
def test_other_arrays_and_containers():
    objects = np.array([[], 1.0, None], object)
    assert_told(objects, lambda x: None, changes=False)
    assert_told(objects, of_first(2.0))
    assert_told(np.zeros(2, [("a", float)]), lambda x: x["a"].fill(1.0))
    assert_told(np.arange(4.0)[::-1].copy(), lambda x: x.sort())
    items = [1.0, [np.zeros(3)], {"a": bytearray(b"x")}]
    items.append(items)
    assert_told(items, lambda x: None, changes=False)
    assert_told(items, lambda x: x[1][0].fill(1.0))
    assert_told(items, lambda x: x[2]["a"].extend(b"y"))
    assert_told(items, lambda x: x.append(1.0))


def test_two_arrays_that_are_watched_at_once_have_copies_of_their_own():
    x, y = np.zeros(5000), np.zeros(9000)
    outer, inner = contents((x, [y, x])), contents((y,))
    y[8000] = 1.0
    assert have_changed((y,), inner)
    assert have_changed((x, [y, x]), outer)
