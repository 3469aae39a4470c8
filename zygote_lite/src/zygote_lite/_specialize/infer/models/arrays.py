"""Arrays that are taken apart, spread or put together: `a, b = x`, `f(*x)`, `np.r_[x, 0.5]`.

How many parts there are is known when the code is made. The length of an array that the code is
given is tested at entry, so there is code for each length; that of any other where it is taken
apart.
"""

import operator

import numpy as np

from zygote_lite._specialize.infer.counters import leave_where
from zygote_lite._specialize.infer.iteration.known import known_items
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import INTS, TRUTHS, ArrayOf, Scalar
from zygote_lite._specialize.typed.functions import attribute_of
from zygote_lite._specialize.typed.plugins import are_of_one_plugin
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import has_length
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant, shape_root

_MOST_PARTS = 16


def parts_of_array(builder: Builder, x: Value, count: int | None = None) -> list[Value]:
    """Write what takes an array apart along its first axis; `count` parts, if that is known."""
    length = len(x.sample)
    if count is not None and length != count:
        raise Unsound.RAISES(f"it unpacks {length} values into {count} variables")
    if length > _MOST_PARTS and count is None:
        raise NotSupported.TOO_LONG(f"it unpacks an array of {length} entries")
    _settle_length(builder, x, length)
    whole, row = _row_of(builder, x)
    if whole is not None:  # an entry of a row is one of the whole array
        builder.definitions[x].required = False
        places = [structure(tuple, [row, constant(i)]) for i in range(length)]
        return [builder.item(whole, place) for place in places]
    return [builder.item(x, constant(i)) for i in range(length)]


def known_parts(builder: Builder, x: Value) -> list[Value] | None:
    """Return the items of an iterable one by one, where it is known how many there are."""
    return parts_of_array(builder, x) if x.is_array else known_items(one_by_one(builder, x))


def one_by_one(builder: Builder, x: Value) -> Value:
    """Return `x.shape` of an array as a tuple of its lengths; other values as they are."""
    made = builder.definitions.get(x)
    if made is None or made.function is not attribute_of("shape") or not made.arguments[0].is_array:
        return x
    places = map(constant, range(len(x.sample)))
    return structure(tuple, [builder.apply(operator.getitem, [x, i]) for i in places])


def _row_of(builder: Builder, x: Value) -> tuple[Value | None, Value]:
    """Return the array that another is a row of, if it is one, and the index of the row."""
    made = builder.definitions.get(x)
    if made is not None and made.function is operator.getitem:
        whole, row = made.arguments
        if whole.is_array and isinstance(row.fact, Scalar) and row.fact.classes <= INTS:
            return whole, row
    return None, x


def _settle_length(builder: Builder, x: Value, length: int) -> None:
    """Demand that an array has the length that it has now, at entry if that is possible."""
    whole, _ = _row_of(builder, x)
    root = shape_root(x if whole is None else whole)
    if root.sizes is not None:
        root.sizes[int(whole is not None)] = length
        return
    key = (has_length, x, length)
    if key not in builder.known:
        builder.known[key] = builder.demand(has_length, x, constant(length))


def settled_length(builder: Builder, n: Value) -> Value:
    """Return the length of an axis as a constant, and demand that it is this one.

    Of an array that the code is given it is tested at entry. Raises `NotSpecializable` for other
    numbers: there would be code for each of them.
    """
    if n.is_constant:
        return n
    if n.lengths is None:
        raise NotSupported.UNKNOWN_LENGTH(
            "it iterates over a range whose length is known only as it runs"
        )
    made = builder.definitions[n]
    x, *index = made.arguments
    root = shape_root(x)
    at = index[0] if index else constant(0)
    is_length = made.function is (operator.getitem if type(x.sample) is tuple else len)
    if root.sizes is not None and is_length and at.is_constant and type(at.sample) is int:
        assert isinstance(root.fact, ArrayOf)
        root.sizes[at.sample % len(root.fact.axes)] = n.sample
    else:
        leave_where(builder, builder.apply(operator.ne, [n, constant(n.sample)]))
    return constant(n.sample)


def open_mesh(builder: Builder, xs: list[Value]) -> Value | None:
    """Write `np.ix_(*xs)`, of vectors of integers: views, each along an axis of its own."""
    if not all(isinstance(x.fact, ArrayOf) and len(x.fact.axes) == 1 for x in xs):
        return None
    if any(x.sample.dtype.kind not in "iu" for x in xs):  # of truth values it takes the places
        return None
    parts = []
    for k, x in enumerate(xs):
        axes = [constant(slice(None) if i == k else None) for i in range(len(xs))]
        parts.append(x if len(xs) == 1 else builder.item(x, structure(tuple, axes)))
    return structure(tuple, parts)


def spread_arrays(builder: Builder, xs: list[Value]) -> Value | None:
    """Write `np.broadcast_arrays(*xs)`, of numbers and arrays."""
    known = all(x.is_array or x.is_scalar for x in xs)
    if not known or not are_of_one_plugin(np.broadcast_arrays, np.broadcast_to):
        return None
    arrays = [x if x.is_array else builder.apply(np.asarray, [x]) for x in xs]
    first = max(arrays, key=lambda x: x.sample.ndim)
    if all(x.has_no_axes or shape_root(x) is shape_root(first) for x in arrays):
        shape = builder.attribute(first, "shape")
    else:
        shape = builder.apply(np.broadcast_shapes, [builder.attribute(x, "shape") for x in arrays])
    alike = {shape_root(x) for x in arrays if not x.has_no_axes}
    if first.has_no_axes or (len(alike) == 1 and not any(x.has_no_axes for x in arrays)):
        return structure(tuple, arrays)
    return structure(tuple, [builder.apply(np.broadcast_to, [x, shape]) for x in arrays])


_ROWS, _COLUMNS = np.r_, np.c_
JOINING = (type(_ROWS), type(_COLUMNS))
_WIDE = {np.dtype(kind) for kind in (float, complex, np.int64)}  # which Python's numbers leave


def joined_by_index(builder: Builder, by: Value, index: Value) -> Value:
    """Write `np.r_[index]` or `np.c_[index]`: of vectors, numbers, ranges, or of arrays alike."""
    given = [index]
    if type(index.sample) is tuple:
        given = [*map(constant, index.sample)] if index.items is None else index.items
    parts = [_part_to_join(builder, x) for x in given]
    axes = {len(x.fact.axes) if isinstance(x.fact, ArrayOf) else 0 for x in parts}
    if by.sample is _COLUMNS and max(axes, default=0) <= _OF_TABLE:
        return builder.apply(np.column_stack, [structure(tuple, parts)])
    if by.sample is not _ROWS or len(axes - {0}) > 1 or (0 in axes and max(axes) > 1):
        raise NotSupported.ITEM("`np.r_` or `np.c_` gets arrays of different numbers of dimensions")
    return builder.apply(np.hstack if 0 in axes else np.concatenate, [structure(tuple, parts)])


_OF_TABLE = 2  # axes


def _part_to_join(builder: Builder, x: Value) -> Value:
    """Return what `np.r_` makes of one of its parts, before it joins them."""
    if isinstance(x.sample, slice):
        start, stop, step = (_end_of_range(x, name) for name in ("start", "stop", "step"))
        if isinstance(step.sample, complex):
            count = constant(int(abs(step.sample)))
            return builder.apply(np.linspace, [start, stop, count])
        return builder.apply(np.arange, [start, stop, step])
    if type(x.sample) in (list, tuple) and x.items:
        x = builder.apply(np.array, [x])
    if isinstance(x.fact, ArrayOf) and x.fact.axes and x.fact.dtype in _WIDE:
        return x
    if isinstance(x.fact, Scalar) and x.fact.classes <= {float, np.float64, *INTS, *TRUTHS}:
        return x
    raise NotSupported.ITEM("`np.r_` or `np.c_` gets something other than vectors and numbers")


def _end_of_range(x: Value, name: str) -> Value:
    """Return a part of a slice that stands for a range: `start`, `stop` or `step`."""
    found = constant(getattr(x.sample, name))
    if x.items is not None:
        found = x.items[("start", "stop", "step").index(name)]
    if found.sample is None and name != "stop":
        return constant(int(name == "step"))
    if found.active or not (found.is_scalar and (found.is_constant or name != "step")):
        raise NotSupported.ITEM(
            "`np.r_` gets a slice whose step is not a constant, or whose ends are differentiated"
        )
    return found
