"""Reading parts of arrays: subscripts, and the scatter that undoes them."""

import operator
from types import EllipsisType

import numpy as np

from rules_base.shared.axes import inexact_type, like, size_of
from rules_base.shared.forward import linear_in_first
from rules_base.shared.nesting import unstacked
from rulescore import Array, Numeric, RuleSet, project
from rulescore.batching import aligned, behind
from rulescore.faults import an

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.arrays.indexing", may_raise=False)


@rule(operator.getitem)
def _(x: Array, index: object):
    if x.dtype.kind in "OV":
        raise TypeError(f"arrays of {x.dtype} have no gradient: take numbers out of them before")

    if not isinstance(x, np.ndarray) and type(index) is tuple and turns(x, index):
        raise NotImplementedError(
            "a number and an array apart in one subscript: this library puts the axes in another "
            "order than NumPy; use two subscripts, as in x[0][:, rows]"
        )

    def pullback(dy):
        return scatter(dy, x, index), None

    return x[index], pullback


def turns(x, index):
    """Return whether the library of `x` puts the axes of `x[index]` in another order than NumPy.

    It may where a number and an array of them stand in `index` with something between them.
    """
    places = [
        k for k, part in enumerate(index) if not isinstance(part, slice | EllipsisType | None)
    ]
    whole = all(isinstance(index[k], int | np.integer) for k in places)
    if whole or places == list(range(places[0], places[-1] + 1)):
        return False
    return np.reshape(np.arange(8, **like(x)), (2, 2, 2))[0, :, [0, 1, 1]].shape != (3, 2)


@rule(operator.getitem)
def _(x: np.number, index: object):
    def pullback(dy):
        return project(np.sum(dy), x), None  # every entry of `x[..., None]` and the like is `x`

    return x[index], pullback


@rule.forward(operator.getitem)
def _(x: Array | np.number, index: object):
    return x[index], (lambda dx: dx[index], None)


linear_in_first(rule, Numeric, np.take, np.ndarray.take, np.take_along_axis)
linear_in_first(rule, Array, np.ndarray.item, np.lib.stride_tricks.sliding_window_view)


def scatter(dy, x, index):
    """Return the cotangent of `x` from that of `x[index]`: zeros, and `dy` added in its place."""
    kind = x.dtype.kind
    if kind not in "iufc":
        return None
    if not isinstance(x, np.ndarray):
        return scatter_lazily(dy, x, index)
    if kind != "c":
        dy = dy.real
    if type(index) in (int, slice):
        dx = np.zeros_like(x, dtype=None if kind in "fc" else inexact_type(dy))
        dx[index] = dy
        return dx
    rows = type(index) is np.ndarray and index.dtype.kind in "iu" and x.ndim > 1
    if rows and kind != "c" and np.can_cast(np.result_type(dy), np.float64):
        return rows_at(dy, x, index)
    dx = np.zeros_like(x, dtype=x.dtype if kind in "fc" else inexact_type(dy))
    if may_repeat(index):
        np.add.at(dx, index, dy)
    else:
        dx[index] = dy
    return dx


@rule(scatter)
def _(dy: Numeric, x: Array, index: object):
    def pullback(d):
        return project(d[index], dy), None, None

    return scatter(dy, x, index), pullback


def rows_at(dy, x, index):
    """Return the cotangent of `x` from that of the rows `x[index]`, as in a table of embeddings.

    Counting single entries with weights is several times faster than `np.add.at` on rows.
    """
    width = x.size // max(len(x), 1)
    rows = index.astype(np.intp, copy=False)  # small integers would overflow
    starts = np.reshape(rows % max(len(x), 1), (-1, 1)) * width
    places = np.reshape(starts + np.arange(width), (-1,))
    dx = np.bincount(
        places, np.reshape(np.broadcast_to(dy, index.shape + x.shape[1:]), (-1,)), x.size
    )
    return project(np.reshape(dx, x.shape), x)


def may_repeat(index):
    """Return whether `index` holds arrays of integers, which may name an entry more than once.

    Whatever NumPy makes such an array of counts: lists, tuples in a tuple, `array.array`, ...
    """
    if isinstance(index, tuple):
        return any(names_entries(part) for part in index)
    return names_entries(index)


def names_entries(part):
    """Return whether one part of an index is an array of integers, or will be made one."""
    if isinstance(part, np.ndarray):
        return part.dtype.kind != "b" and part.ndim > 0
    if part is None or part is Ellipsis or isinstance(part, slice | int | np.generic):
        return False
    return np.asarray(part).dtype.kind != "b"


def scatter_lazily(dy, x, index):
    """Scatter into an array of a foreign type, through the flat positions of its entries."""
    try:
        positions = np.reshape(np.arange(x.size), x.shape)[index]
    except TypeError:  # the index is on a device, and stays there
        positions = np.reshape(np.arange(x.size, **like(x)), x.shape)[index]
    return from_positions(np.broadcast_to(dy, positions.shape), x, positions)


def from_positions(dy, x, positions):
    """Return the cotangent of `x` whose entries, at these flat `positions`, `dy` belongs to."""
    values, places = np.reshape(dy, (-1,)), np.reshape(positions, (-1,))
    if np.result_type(values).itemsize > 16 or np.result_type(values) == np.longdouble:
        dx = np.zeros(size_of(x), dtype=np.result_type(values))
        np.add.at(dx, places, values)
    elif isinstance(values, np.ndarray | np.generic):
        dx = np.bincount(places, np.real(values), size_of(x))
        if np.iscomplexobj(values):
            dx = dx + 1j * np.bincount(places, np.imag(values), size_of(x))
    else:
        dx = summed(values, places, x)
    return project(np.reshape(dx, np.shape(x)), x)


def summed(values, places, x):
    """Return the same for foreign values, or say that their library cannot add them up."""
    try:
        return sums_at(values, places, size_of(x))
    except TypeError as error:
        raise NotImplementedError(
            f"a subscript of {an(type(x).__name__)} has no gradient, because its library lacks a "
            "function that the rule needs: choose by `np.where`, or by a product with a matrix"
        ) from error


def sums_at(values, places, n):
    """Return the sums of the foreign `values` that fall on each of `n` places.

    Sorted by their place, they are differences of running sums: foreign arrays need no writing.
    """
    order = np.argsort(places, kind="stable")
    sums = np.cumsum(values[order])
    sums = np.concatenate([np.zeros_like(np.sum(values, keepdims=True)), sums])
    ends = np.searchsorted(places[order], np.arange(n, **like(places)), side="right")
    return sums[ends] - sums[np.concatenate([np.zeros_like(ends[:1]), ends[:-1]])]


@rule(operator.getitem)
def _(x: np.flatiter, index: object):
    y, length = x[index], len(x)

    def pullback(dy):
        return scatter(dy, np.zeros(length, np.result_type(y)), index), None

    return y, pullback


@rule(np.array)
def _(x: np.flatiter):
    def pullback(dy):
        return (dy,)

    return np.array(x), pullback


@rule(np.take)
def _(x: Numeric, indices=None, axis=None, *, mode="raise"):
    def pullback(dy):
        return (taken_back(dy, x, indices, axis, mode),)

    return np.take(x, indices, axis, **named(mode)), pullback


@rule(np.ndarray.take)
def _(x: Array, indices=None, axis=None, *, mode="raise"):
    def pullback(dy):
        return (taken_back(dy, x, indices, axis, mode),)

    return np.take(x, indices, axis, **named(mode)), pullback


def named(mode):
    """Return the option `mode`, or nothing where it is the default: few libraries take it."""
    return {} if mode == "raise" else {"mode": mode}


def taken_back(dy, x, indices, axis, mode):
    """Return the cotangent of `x` in `np.take(x, indices, axis)`."""
    if mode != "raise" or np.ndim(x) == 0:
        positions = np.reshape(np.arange(size_of(x)), np.shape(x))
        return from_positions(dy, x, np.take(positions, indices, axis, mode=mode))
    if axis is None:
        flat = np.reshape(x, (-1,))
        return np.reshape(scatter(dy, flat, as_index(indices)), np.shape(x))
    return scatter(dy, x, (slice(None),) * (axis % x.ndim) + (as_index(indices),))


def as_index(indices):
    """Return indices as an array of integers, of the library that they are of.

    To NumPy truth values are the integers 0 and 1 here, and an empty list is one of integers.
    """
    index = indices if isinstance(indices, Array) else np.asarray(indices)
    return index if index.dtype.kind in "iu" else index.astype(np.intp)


@rule(np.take_along_axis)
def _(x: np.ndarray, indices=None, axis=-1):
    def pullback(dy):
        if axis is None:
            return (from_positions(dy, x, np.take_along_axis(np.arange(x.size), indices, 0)),)
        return (scatter(dy, x, grid_along(x, indices, axis)),)

    return np.take_along_axis(x, indices, axis), pullback


def grid_along(x, indices, axis):
    """Return the index of the entries that `np.take_along_axis(x, indices, axis)` takes."""
    if np.ndim(x) == 1:
        return (indices,)
    grid = list(np.ogrid[tuple(slice(n) for n in x.shape)])
    grid[axis] = indices
    return tuple(grid)


@rule(np.lib.stride_tricks.sliding_window_view)
def _(x: Array, window_shape: object, axis=None):
    y = np.lib.stride_tricks.sliding_window_view(x, window_shape, axis)

    def pullback(dy):
        positions = np.reshape(np.arange(x.size), x.shape)
        windows = np.lib.stride_tricks.sliding_window_view(positions, window_shape, axis)
        return from_positions(dy, x, windows), None

    return y, pullback


@rule(np.delete)
def _(x: Array, obj: object, axis=None):
    def pullback(dy):
        positions = np.reshape(np.arange(x.size), x.shape)
        return from_positions(dy, x, np.delete(positions, obj, axis)), None

    return np.delete(x, obj, axis), pullback


@rule(np.insert)
def _(x: Array, index: object, values: Numeric, axis=None):
    def pullback(dy):
        dx, dvalues = inserted_back(dy, x, index, values, axis)
        return dx, None, dvalues

    return np.insert(x, index, values, axis), pullback


@rule(np.insert)
def _(x: Array, index: object, values: list | tuple, axis=None):
    array = np.array(values)

    def pullback(dy):
        dx, dvalues = inserted_back(dy, x, index, array, axis)
        return dx, None, unstacked(dvalues, values)

    return np.insert(x, index, array, axis), pullback


def inserted_back(dy, x, index, values, axis):
    """Return the cotangents of `x` and of the `values` inserted in it."""
    numbered = np.reshape(np.arange(size_of(values)), np.shape(values))
    places = np.reshape(np.insert(np.full(x.shape, -1), index, numbered, axis), (-1,))
    flat, ours, theirs = np.reshape(dy, (-1,)), places < 0, places >= 0
    dvalues = from_positions(flat[np.flatnonzero(theirs)], values, places[theirs])
    return project(np.reshape(flat[np.flatnonzero(ours)], x.shape), x), dvalues


@rule(np.ndarray.item)
def _(x: Array, *index: object):
    def pullback(dy):
        place = index[0] if len(index) == 1 else index
        if not isinstance(place, tuple):
            place = np.unravel_index(place, x.shape)
        return scatter(dy, x, place), *[None] * len(index)

    return x.item(*index), pullback


@rule(np.generic.item, np.generic.tolist)
def _(x: np.generic):
    def pullback(dy):
        return (project(dy, x),)

    return x.item(), pullback


@rule(np.ndarray.tolist)
def _(x: Array):
    def pullback(dy):
        dx = np.zeros_like(x, dtype=x.dtype if x.dtype.kind in "fc" else float)
        fill(dx, dy)
        return (dx,)

    return x.tolist(), pullback


def fill(dx, dy):
    """Write a nested list of cotangents into the zeros `dx`; `None` writes nothing."""
    if isinstance(dy, list | tuple):
        for i, part in enumerate(dy):
            if part is not None:
                fill(dx[i : i + 1] if dx.ndim == 1 else dx[i], part)
    elif dy is not None:
        dx[...] = dy


# -- of batches


@rule.batched(np.take, np.ndarray.take)
def _(x: Array, indices=None, axis=None):
    if axis is None:
        return np.take(np.reshape(x, (len(x), -1)), indices, 1)
    return np.take(x, indices, behind(axis, x))


@rule.batched(operator.getitem)
def _(x: Array, index: int | slice | tuple | type(...) | Array | np.integer | None):
    return entries_at(x, index)


def entries_at(x, index):
    """Return the part of each entry that an index names; a batch of indices is of integers."""
    parts = [*index] if isinstance(index, tuple) else [index]
    arrays = [part for part in parts if isinstance(part, Array)]
    if not arrays:
        is_list = any(isinstance(part, list) for part in parts)
        return NotImplemented if is_list else x[(slice(None), *parts)]
    rest = parts[len(arrays) :]
    if not all(p.dtype.kind in "iu" for p in arrays):
        return NotImplemented  # of a mask the number of entries differs
    if not all(isinstance(part, Array) for part in parts[: len(arrays)]) or not all(
        part is None or isinstance(part, slice) for part in rest
    ):
        return NotImplemented
    arrays = aligned(*arrays)
    count = max(map(len, (x, *arrays)))
    rows = np.arange(count) if len(x) == count else np.zeros(count, int)
    return x[(np.reshape(rows, (count, *(1,) * (arrays[0].ndim - 1))), *arrays, *rest)]
