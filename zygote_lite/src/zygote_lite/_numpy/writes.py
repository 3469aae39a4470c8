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
from zygote_lite._cotangents.kinds import is_of_pandas, owner_of
from zygote_lite._cotangents.registry import (
    Handlers,
    NodeId,
    Nodes,
    Traced,
    UndoOnly,
    ValueAndPullback,
)
from zygote_lite._cotangents.run import current_store, state
from zygote_lite._cotangents.store import overlaps_itself
from zygote_lite._ir.names import name_of
from zygote_lite._ir.operators import IN_PLACE
from zygote_lite._ir.places import where
from zygote_lite._ir.traits import traits_of
from zygote_lite._numpy.conversions import as_array, is_read_as_array
from zygote_lite._tape.refusal import text_refusal
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
    if isinstance(x, np.flatiter):
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


def write_whole(tape: Tape, x: Any, at_x: NodeId, value: Any, at_value: NodeId, f: Any) -> Traced:
    """Write the whole of an array, as `out=` and the operators in place do."""
    check_kinds(x, value, at_value is not None)
    shape = np.shape(value)
    spreads = isinstance(f, np.ufunc) and (f.signature is None or not shape)
    if spreads and len(shape) <= x.ndim:
        shape = tuple(
            n if m == 1 else m
            for m, n in zip((1,) * (x.ndim - len(shape)) + shape, x.shape, strict=True)
        )  # the operands are repeated
    if shape != x.shape and f is not np.copyto:
        raise ValueError(
            f"non-broadcastable output operand with shape {x.shape} doesn't match the broadcast "
            f"shape {np.shape(value)}"
        )
    if not np.can_cast(np.result_type(value), x.dtype, "same_kind"):
        np.copyto(np.empty_like(x), value)  # raises what NumPy raises
    tape.call((None, at_x, None, at_value), write_array, x, Ellipsis, value)
    return x, at_x


@handlers.desugared(*IN_PLACE, of=np.ndarray, given=True)
def _(in_place: Any, tape: Tape, nodes: Nodes, a: Any, b: Any) -> Traced | None:
    """Resolve `a += b` on an array: the operator, and a write of the whole array."""
    of = IN_PLACE[in_place]
    if not isinstance(a, np.ndarray):
        return None
    try:
        value, node = tape.call((None, nodes[1], nodes[2]), of.function, a, b)
    except ValueError as error:
        refused = error
    else:
        return write_whole(tape, a, nodes[1], value, node, of.ufunc)
    of.in_place(a.copy(), b)  # raises what Python raises: of three shapes
    raise refused


_SIZE_AT = {"random": 1, "standard_normal": 1, "standard_exponential": 1, "standard_gamma": 2}
"""Methods of generators that take `out`, and the place of `size`, the generator counted."""


@handlers.by_option("out")
def _(tape: Tape, nodes: Nodes, f: Any, xs: tuple[Any, ...], kws: dict[str, Any]) -> Traced:
    """Resolve a call with `out=`: the call without it, and a write of the whole array."""
    out = kws["out"]
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    mask = kws.get("where", True)
    if target is None:  # `out=(None,)`
        place = 1 + len(xs) + list(kws).index("out")
        others = {name: value for name, value in kws.items() if name != "out"}
        return tape.call((*nodes[:place], *nodes[place + 1 :]), f, *xs, **others)
    if mask is not True and isinstance(f, np.ufunc) and f.nout == 1 and f.signature is None:
        return _with_mask(tape, nodes, f, xs, kws, target, mask)
    if not isinstance(target, np.ndarray) or mask is not True:
        option = "`where` and `out`" if isinstance(target, np.ndarray) else "this `out`"
        raise Fault.MEMORY(
            f"{where()}: {name_of(f)} with {option} ({an(type(out).__name__)}) cannot be "
            "differentiated; assign the result instead"
        )
    names = list(kws)
    at = nodes[1 + len(xs) + names.index("out")]
    if traits_of(f).writes_early:
        refuse_overlap(target, xs, nodes)
    rest = {name: value for name, value in kws.items() if name not in ("out", "where")}
    flags = tuple(
        node
        for name, node in zip(names, nodes[1 + len(xs) :], strict=True)
        if name not in ("out", "where")
    )
    is_draw = bool(xs) and type(xs[0]) is np.random.Generator
    at_size = _SIZE_AT.get(f.__name__) if is_draw else None
    if at_size is not None and len(xs) > at_size and xs[at_size] is None:
        xs = (*xs[:at_size], target.shape, *xs[at_size + 1 :])
    elif at_size == len(xs) and "size" not in rest:
        rest, flags = {**rest, "size": target.shape}, (*flags, None)
    value, node = tape.call((*nodes[: 1 + len(xs)], *flags), f, *xs, **rest)
    if is_of_pandas(type(value)):
        value, node = tape.call((None, node), np.asarray, value)
    return write_whole(tape, target, at, value, node, f)


def _with_mask(
    tape: Tape,
    nodes: Nodes,
    f: Any,
    xs: tuple[Any, ...],
    kws: dict[str, Any],
    out: Any,
    mask: Any,
) -> Traced:
    """Resolve a call of a ufunc with `out=` and `where=`: a call for the entries asked for."""
    mask = np.array(np.broadcast_to(mask, out.shape))
    parts = []
    for x, node in zip(xs, nodes[1:], strict=False):
        whole, at = tape.call((None, node, None), np.broadcast_to, x, out.shape)
        parts.append(tape.call((None, at, None), operator.getitem, whole, mask))
    others = {name: x for name, x in kws.items() if name not in ("out", "where")}
    flags = (None, *(at for _, at in parts), *(None for _ in others))
    value, node = tape.call(flags, f, *(part for part, _ in parts), **others)
    at_out = nodes[1 + len(xs) + list(kws).index("out")]
    tape.call((None, at_out, None, node), write_array, out, mask, value)
    return out, at_out


@handlers.desugared(np.copyto)
def _(
    tape: Tape, nodes: Nodes, dst: Any, src: Any, casting: str = "same_kind", where: Any = True
) -> Traced:
    src, at_src = as_array(tape, nodes[2], src)
    if where is not True:
        src, at_src = tape.call((None, None, at_src, nodes[1]), np.where, where, src, dst)
    write_whole(tape, dst, nodes[1], src, at_src, np.copyto)
    return None, None


def _replaced_by(of: Any, tape: Tape, nodes: Nodes, x: Any, *xs: Any, axis: int = -1) -> Traced:
    """Resolve a method that gives an array the value that a function makes of it."""
    value, node = tape.call((None, nodes[1], *(None for _ in (*xs, axis))), of, x, *xs, axis)
    write_whole(tape, x, nodes[1], value, node, of)
    return None, None


handlers.desugared(np.ndarray.sort)(
    lambda tape, nodes, x, axis=-1, **kws: _replaced_by(np.sort, tape, nodes, x, axis=axis)
)
handlers.desugared(np.ndarray.partition)(
    lambda tape, nodes, x, kth, axis=-1: _replaced_by(np.partition, tape, nodes, x, kth, axis=axis)
)


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
