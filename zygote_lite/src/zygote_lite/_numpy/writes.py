"""Arrays that are written in place.

Such an array is identified by its address: its cotangent lives in a shadow, an array of the same
layout, for as long as the array itself; the shadow of a view has the view's offset and strides over
the shadow of its base. Each write logs the entries that it overwrote, and the reverse pass restores
them, so that values saved before the write are right. Arrays that are never written pay for none of
this.
"""

import array
import operator
import types
from typing import Any

import numpy as np

from rulescore import project
from rulescore.faults import an
from zygote_lite._activity.activity import is_text
from zygote_lite._activity.classes import bind_method, member_of
from zygote_lite._activity.marks import mark_active
from zygote_lite._activity.saved import note_write, restore, write_again
from zygote_lite._cotangents.kinds import owner_of
from zygote_lite._cotangents.registry import (
    Handlers,
    Nodes,
    Traced,
    UndoOnly,
    ValueAndPullback,
)
from zygote_lite._cotangents.run import current_store, state
from zygote_lite._cotangents.store import overlaps_itself
from zygote_lite._ir.places import where
from zygote_lite._numpy.conversions import as_array, is_read_as_array
from zygote_lite._tape.refusals.refusal import text_refusal
from zygote_lite._tape.tape import Tape
from zygote_lite.errors import Fault

handlers = Handlers()


def write_array(x: Any, index: Any, value: Any) -> None:
    """Write into an array: `x[index] = value`."""
    x[index] = value


def read_copy(x: Any, index: Any) -> Any:
    """Return what a part of an array holds now."""
    return np.copy(x[index])


def add_at(x: Any, index: Any, value: Any) -> None:
    """Add at indices, repeated ones repeatedly: `np.add.at`."""
    np.add.at(x, index, value)


@handlers.structural(write_array, write_again, add_at, given=True)
def _(write: Any, nodes: Nodes, x: Any, index: Any, value: Any) -> ValueAndPullback:
    check_kinds(x, value, bool(nodes[3]))
    refuse_overlap_at_mask(x, index, value, nodes)
    part = x[index]
    replaces = write is not add_at
    if replaces and nodes[3] and not x.flags.c_contiguous and _meets_itself(x, part):
        raise Fault.MEMORY(
            f"{where()}: an array whose entries share memory (as after broadcasting) is written "
            "to, and NumPy does not say which of the values stays; write into a copy"
        )
    old = np.copy(part)
    write(x, index, value)
    note_write(x)
    if nodes[1] or nodes[3]:
        mark_active(owner_of(x))
    winners = winning(x, index) if replaces else None

    def write_back(dy: Any) -> tuple[Any, ...]:
        # The cotangent of entries that were replaced belongs to `value` alone: what they held
        # before has no part in the result, so the shadow is cleared. The old entries come back
        # last, because earlier pullbacks read the array as it was at their time.
        shadow = current_store().shadow_view(x)
        d_value = None
        if shadow is not None:
            d = np.copy(shadow[index])
            if replaces:
                shadow[index] = 0
            d_value = project(d if winners is None else np.where(winners, d, 0), value)
        restore(x, index, old)
        return None, None, None, d_value

    return None, UndoOnly(write_back)


def _meets_itself(x: Any, part: Any) -> bool:
    """Return whether entries of a part of an array, which may be a copy, share memory."""
    if not isinstance(part, np.ndarray):
        return False  # it is one entry
    return overlaps_itself(part if owner_of(part) is owner_of(x) else x)


def winning(x: Any, index: Any) -> Any:
    """Return which entries of the written values stayed, where an index is written repeatedly."""
    parts = index if isinstance(index, tuple) else (index,)
    if not any(map(_names_entries, parts)):
        return None
    order = np.full(x.shape, -1)
    shape = np.shape(x[index])
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    order[index] = numbers
    stayed = order[index] == numbers
    return None if stayed.all() else stayed


def refuse_overlap_at_mask(x: Any, index: Any, value: Any, nodes: Any) -> None:
    """Refuse `x[mask] = value` where the value shares memory with the array."""
    mask = index[0] if type(index) is tuple and len(index) == 1 else index
    if isinstance(mask, np.ndarray | list) and isinstance(value, np.ndarray):
        mask = np.asarray(mask)
        if mask.dtype.kind == "b" and 0 < mask.ndim == x.ndim:
            refuse_overlap(x, value, nodes)


def refuse_overlap(x: Any, value: Any, nodes: Any) -> None:
    """Refuse what NumPy writes entry by entry of memory that it writes to at the same time."""
    if any(nodes) and _shares_memory(x, value):
        raise Fault.MEMORY(
            f"{where()}: what is written shares memory with the array that it is written to, and "
            "NumPy reads entries that it has written already; write a copy of it"
        )


def _shares_memory(x: Any, value: Any) -> bool:
    """Return whether entries of an array are entries of a value, an array or a list of arrays."""
    if isinstance(value, list | tuple):
        return any(_shares_memory(x, part) for part in value)
    return isinstance(value, np.ndarray) and np.shares_memory(x, value)


def _names_entries(part: Any) -> bool:
    """Return whether one part of an index is an array of integers, or will be made one."""
    if part is None or part is Ellipsis or isinstance(part, slice | int | np.generic):
        return False
    return np.ndim(part) > 0 and np.asarray(part).dtype.kind in "iu"


def check_kinds(x: Any, value: Any, active: bool) -> None:
    """Refuse a write into memory or an array that no gradient can be followed through."""
    buffer = owner_of(x).base
    if buffer is not None and not getattr(buffer, "is_owned", False):
        raise Fault.MEMORY(
            f"{where()}: a write into memory that NumPy does not own (of "
            f"{an(type(buffer).__name__)}) cannot be differentiated; write into a copy"
        )
    if x.dtype.kind in "OV":
        raise Fault.DTYPE(
            f"{where()}: a write into an array of dtype {x.dtype} cannot be differentiated; use an "
            "array of numbers, or a list"
        )
    if active and is_text(value) and x.dtype.kind not in "UST":
        raise text_refusal(np.ndarray.__setitem__, (x, value))
    if active and x.dtype.kind in "iub" and np.result_type(value).kind in "fc":
        raise Fault.DTYPE(
            f"{where()}: a write into an array of {x.dtype} truncates the value that a gradient "
            "passes through; make the array one of floats"
        )


@handlers.desugared(np.ndarray.__setitem__)
@handlers.desugared(operator.setitem, of=(np.ndarray, np.flatiter))
def _(tape: Tape, nodes: Nodes, x: Any, index: Any, value: Any) -> Traced | None:
    """Resolve `x[index] = value` on an array."""
    if bind_method(type(x), "__setitem__") is not None:
        return None  # the user's class of arrays writes in its own way
    repeats = isinstance(x, np.flatiter)
    if repeats:
        base = x.base
        if not base.flags.c_contiguous:
            return None
        refuse_overlap(base, value, nodes)
        x = base.reshape(-1)
    if not isinstance(x, np.ndarray):
        return None
    index = _copied_index(index)
    if isinstance(member_of(type(value), "__float__"), types.FunctionType):
        value, node = tape.call((None, nodes[3]), float, value)
        return tape.call((None, nodes[1], None, node), write_array, x, index, value)
    if is_read_as_array(x, index, value):
        value, node = as_array(tape, nodes[3], value)
        nodes = (*nodes[:3], node)
    if repeats and np.size(value) != 1:  # it is repeated, or cut off
        shape = np.shape(x[index])
        if not shape or not np.size(value):
            return base.flat.__setitem__(index, value), None  # it raises, or writes nothing
        value, node = tape.call((None, nodes[3], None), np.resize, value, shape)
        nodes = (*nodes[:3], node)
    if isinstance(value, np.ndarray) and value.ndim and value.shape[0] == 1 and x.dtype.kind != "O":
        extra = value.ndim - np.ndim(x[index])
        if extra > 0:  # NumPy leaves out axes of length 1 in front
            less, node = tape.call((None, nodes[3], None), np.reshape, value, value.shape[extra:])
            return tape.call((None, nodes[1], None, node), write_array, x, index, less)
    return tape.call((None, nodes[1], None, nodes[3]), write_array, x, index, value)


@handlers.desugared(np.ndarray.__getitem__)
def _(tape: Tape, nodes: Nodes, x: Any, index: Any) -> Traced:
    return tape.call(nodes, operator.getitem, x, index)


@handlers.desugared(operator.getitem, of=np.ndarray)
def _(tape: Tape, nodes: Nodes, x: Any, index: Any) -> Traced | None:
    if type(x) is np.ndarray and x.dtype == object and nodes[1] is None:
        return x[index], None  # the numbers in it carry no gradient, and the rest has an address
    return None


@handlers.desugared(operator.getitem, of=np.flatiter)
def _(tape: Tape, nodes: Nodes, x: Any, index: Any) -> Traced | None:
    if not isinstance(x, np.flatiter):
        return None
    if nodes[1] is not None and id(owner_of(x.base)) not in (state.written or {}):
        return None  # the iterator still stands for what it was made of
    flat, at = tape.call((None, None), np.ravel, x.base)
    found, at = tape.call((None, at, nodes[2]), operator.getitem, flat, index)
    return tape.call((None, at), np.copy, found) if type(found) is np.ndarray else (found, at)


@handlers.desugared(setattr, of=np.ndarray)
def _(tape: Tape, nodes: Nodes, x: Any, name: str, value: Any) -> Traced | None:
    if not isinstance(x, np.ndarray) or name not in ("real", "imag", "flat"):
        return None
    part, at = tape.call((None, nodes[1], None), getattr, x, name)
    node = nodes[3]
    if name == "flat" and np.ndim(value):
        if np.size(value) != x.size:
            refuse_overlap(x, value, nodes)
        value, node = tape.call((None, node, None), np.resize, value, x.size)  # it is repeated
    return tape.call((None, at, None, node), operator.setitem, part, ..., value)


_CHANGING_INDICES = (np.ndarray, list, array.array, bytearray, memoryview)


def _copied_index(index: Any) -> Any:
    """Return an index that later writes do not change."""
    if isinstance(index, tuple):
        return tuple(_copied_index(part) for part in index)
    if isinstance(index, list) and not np.size(index):
        return np.zeros(np.shape(index), int)  # NumPy alone would make it an array of floats
    return np.copy(index) if isinstance(index, _CHANGING_INDICES) else index


@handlers.desugared(np.ufunc.at)
def _(tape: Tape, nodes: Nodes, f: Any, x: Any, index: Any, *value: Any) -> Traced:
    """Resolve `f.at(x, index, value)` of a ufunc."""
    nodes, given = (None, *nodes[2:]), isinstance(x, np.ndarray)
    index = _copied_index(index) if given else f.at(x, index, *value)  # raises what NumPy raises
    if value:
        made, node = as_array(tape, nodes[3], value[0])
        value, nodes = (made,), (*nodes[:3], node)
    if f is np.add:
        return tape.call((None, nodes[1], None, nodes[3]), add_at, x, index, value[0])
    if f is np.subtract:
        negative, node = tape.call((None, nodes[3]), operator.neg, value[0])
        return tape.call((None, nodes[1], None, node), add_at, x, index, negative)
    places = np.arange(x.size).reshape(x.shape)[index]
    values, node = value[0] if value else None, nodes[3] if value else None
    if value:
        values, node = tape.call((None, node, None), np.broadcast_to, values, places.shape)
        values, node = tape.call((None, node), np.ndarray.flatten, values)  # it may share memory
    flags = (None, None, nodes[1], None, node)
    return tape.call(flags, apply_at, f, x, np.ravel(places), values)


def apply_at(f: Any, x: Any, places: Any, values: Any) -> Any:
    """Apply a ufunc at places counted in C order, one after the other: `f.at`."""
    for i, place in enumerate(places):
        at = np.unravel_index(place, x.shape) if x.ndim else ()
        x[at] = f(x[at]) if values is None else f(x[at], values[i])
