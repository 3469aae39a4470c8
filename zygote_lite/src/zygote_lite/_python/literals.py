"""Structural pullbacks: operations that only build values or take them apart.

Construction of tuples, lists and dicts, the cells of variables that functions share, subscripts,
and writes. Each takes the flags of the call and its operands, and returns the value and its
pullback, or `None` for "not for these arguments".
"""

import collections
import functools
import operator
from typing import Any

import numpy as np

from rulescore import accumulate
from zygote_lite._activity.marks import mark_active, mark_new
from zygote_lite._cotangents.kinds import (
    DICT,
    LIST,
    TUPLE,
    carries_nothing,
    is_merged_by_methods,
    kind_of,
    type_in_c,
)
from zygote_lite._cotangents.registry import (
    Handlers,
    Nodes,
    UndoOnly,
    ValueAndPullback,
    no_pullback,
)
from zygote_lite._cotangents.run import EntryBack, current_store, slots_of, take_slots
from zygote_lite._ir.intrinsics import (
    build_dict,
    build_list,
    build_set,
    build_slice,
    build_tuple,
    delete_cell,
    held_in,
    join_dict,
    join_list,
    join_tuple,
    matches_class,
    matches_mapping,
    matches_sequence,
    put_in,
    read_cell,
    unpack,
    write_cell,
    write_global,
)
from zygote_lite._ir.places import where
from zygote_lite._python.containers.deques import delete_place
from zygote_lite._python.containers.dicts import delete_item, gathered, put_item, undo_put
from zygote_lite._python.containers.keys import refuse_active_key, refuse_kept, stored_key
from zygote_lite._python.containers.lists import into, is_sequence, set_slice
from zygote_lite.errors import Fault

handlers = Handlers()

# -- tuples, lists, dicts ----------------------------------------------------------------------


handlers.inert(matches_sequence, matches_class, matches_mapping, operator.truth)


@handlers.structural(write_global)
def _(nodes: Nodes, here: Any, name: str, value: Any) -> ValueAndPullback:
    raise Fault.GLOBAL(
        f"{where()}: the global `{name}` is given a value that depends on what is differentiated, "
        "and what is read from it later would carry no gradient; keep it in a variable of the "
        "function, or return it"
    )


@handlers.structural(build_tuple)
def _(nodes: Nodes, *xs: Any) -> ValueAndPullback:
    nothing = (None,) * len(nodes)

    def build_tuple_back(dy: Any) -> tuple[Any, ...]:
        return nothing if dy is None else (None, *dy)

    return xs, build_tuple_back


@handlers.structural(build_slice, slice)
def _(nodes: Nodes, *xs: Any) -> ValueAndPullback:
    if carries_nothing(slice(*xs)):  # a choice of entries
        return slice(*xs), no_pullback(len(nodes))
    given = slice(0, len(xs)) if len(xs) > 1 else slice(1, 2)  # one is where it stops

    def build_slice_back(dy: Any) -> tuple[Any, ...]:
        return (None,) * len(nodes) if dy is None else (None, *dy[given])

    return slice(*xs), build_slice_back


@handlers.structural(getattr, of=slice)
def _(nodes: Nodes, x: slice, name: str, *default: Any) -> ValueAndPullback | None:
    if name not in _BOUNDS or isinstance(getattr(x, name), int | np.integer | None):
        return None
    at = _BOUNDS.index(name)

    def bound_back(dy: Any) -> tuple[Any, ...]:
        parts = [None, None, None]
        parts[at] = dy
        return None, None if dy is None else tuple(parts), *(None,) * (len(nodes) - 2)

    return getattr(x, name), bound_back


_BOUNDS = ("start", "stop", "step")


@handlers.structural(build_list)
def _(nodes: Nodes, *xs: Any) -> ValueAndPullback:
    return _built(list(xs), range(len(xs)))


@handlers.structural(build_set)
def _(nodes: Nodes, *xs: Any) -> ValueAndPullback:
    return _built(set(xs), xs)


def _built(y: Any, keys: Any) -> ValueAndPullback:
    """Return a container that is built of entries, each at its place, and the pullback of that."""
    mark_new(y)

    def build_back(dy: Any) -> tuple[Any, ...]:
        slots = take_slots(y)
        return (None, *[slots.pop(key, None) for key in keys])

    return y, build_back


@handlers.structural(build_dict)
def _(nodes: Nodes, *items: Any) -> ValueAndPullback:
    y = build_dict(*items)
    mark_new(y)
    keys = items[::2]
    for key, flag in zip(keys, nodes[1::2], strict=True):
        refuse_active_key(key, flag)

    def build_dict_back(dy: Any) -> tuple[Any, ...]:
        slots = take_slots(y)
        values = [slots.pop(key, None) for key in reversed(keys)]  # of equal keys the last one's
        return (None, *[d for value in reversed(values) for d in (None, value)])

    return y, build_dict_back


def _joined(items: Any, parts: Any) -> ValueAndPullback:
    """Return a new list or tuple of the elements of `parts`, and its pullback."""
    is_list = isinstance(items, list)
    if is_list:
        mark_new(items)
    lengths = [len(part) for part in parts]

    def join_back(dy: Any) -> tuple[Any, ...]:
        if is_list:
            slots = take_slots(items)
            dy = [slots.get(i) for i in range(len(items))]
        cotangents: list[Any] = []
        start = 0
        for part, length in zip(parts, lengths, strict=True):
            d = None if dy is None else dy[start : start + length]
            start += length
            cotangents.append(into(part, d))
        return None, *cotangents

    return items, join_back


@handlers.structural(join_list, join_tuple, list, tuple, given=True)
def _(f: Any, nodes: Nodes, *parts: Any) -> ValueAndPullback | None:
    return _joined(f(*parts), parts) if all(map(is_sequence, parts)) else None


handlers.structural(list.copy)(lambda nodes, x: _joined(list.copy(x), (x,)))


@handlers.structural(operator.add, operator.concat, of=(list, tuple))
def _(nodes: Nodes, a: Any, b: Any) -> ValueAndPullback | None:
    if type(a) is type(b) is list:
        return _joined(a + b, (a, b))
    if _is_plain_tuple(a, "__add__", "__iter__") and _is_plain_tuple(b, "__add__", "__iter__"):
        return _joined(operator.add(a, b), (a, b))
    return None


@handlers.structural(operator.mul, of=(list, tuple))
def _(nodes: Nodes, a: Any, b: Any) -> ValueAndPullback | None:
    if _is_repeatable(a) and isinstance(b, int | np.integer):
        return _repeated(a, b, first=True)
    if _is_repeatable(b) and isinstance(a, int | np.integer):
        return _repeated(b, a, first=False)
    return None


def _is_repeatable(x: Any) -> bool:
    return type(x) is list or _is_plain_tuple(x, "__mul__", "__rmul__", "__iter__")


def _is_plain_tuple(x: Any, *names: str) -> bool:
    """Return whether `x` is a tuple, with or without names, in which methods are Python's own."""
    if type(x) is tuple:
        return True
    return isinstance(x, tuple) and all(
        getattr(type(x), name, None) is getattr(tuple, name) for name in names
    )


def _repeated(x: Any, count: Any, first: bool) -> ValueAndPullback:
    y, back = _joined(x * count, (x,) * max(count, 0))

    def repeat_back(dy: Any) -> tuple[Any, ...]:
        total = functools.reduce(accumulate, back(dy)[1:], None)
        return (None, total, None) if first else (None, None, total)

    return y, repeat_back


@handlers.structural(dict)
def _(nodes: Nodes, /, *xs: Any, **kws: Any) -> ValueAndPullback | None:
    pulled = join_dicts(nodes, *xs, kws) if len(xs) < 2 else None
    if pulled is None:
        return None
    y, back = pulled

    def dict_back(dy: Any) -> tuple[Any, ...]:
        given = back(dy)[: 1 + len(xs)]
        slots = take_slots(kws)
        return (*given, *[slots.get(name) for name in kws])

    return y, dict_back


@handlers.structural(operator.or_, of=dict)
def _(nodes: Nodes, a: Any, b: Any) -> ValueAndPullback | None:
    return join_dicts(nodes, a, b) if type(a) is type(b) is dict else None


@handlers.structural(join_dict)
def join_dicts(nodes: Nodes, *parts: Any) -> ValueAndPullback | None:
    """Return the entries of several dicts as a new one, and its pullback."""
    if any(kind_of(part) != DICT or is_merged_by_methods(part) for part in parts):
        return None
    source = {key: (part, key) for part in parts for key in part}
    return gathered(join_dict(*parts), source.__getitem__, len(nodes))


def field_of_tuple_back(x: Any, index: int, count: int) -> Any:
    """Return the pullback of reading one entry of a tuple, by a call of `count` operands."""

    def field_back(dy: Any) -> tuple[Any, ...]:
        if dy is None:
            return (None,) * count
        parts = [None] * len(x)
        parts[index] = dy
        return None, into(x, parts), *(None,) * (count - 2)

    return field_back


@handlers.structural(unpack)
def _(nodes: Nodes, x: Any, count: int, star: int | None) -> ValueAndPullback | None:
    if not is_sequence(x) and type(x) is not collections.deque:
        return None
    y = unpack(x, count, star)
    middle = None if star is None else y[star]
    if middle is not None:
        mark_new(middle)

    def unpack_back(dy: Any) -> tuple[Any, ...]:
        given: list[Any] = [None] * len(y) if dy is None else list(dy)
        if star is not None and middle is not None:
            slots = take_slots(middle)
            given[star : star + 1] = [slots.get(i) for i in range(len(middle))]
        return None, into(x, given), None, None

    return y, unpack_back


# -- shared variables --------------------------------------------------------------------------


@handlers.structural(read_cell)
def _(nodes: Nodes, cell: Any, name: str, is_own: bool) -> ValueAndPullback:
    y = read_cell(cell, name, is_own)
    if carries_nothing(y):
        return y, no_pullback(4)
    return y, EntryBack(cell, "cell_contents")


@handlers.structural(write_cell)
def _(nodes: Nodes, cell: Any, value: Any) -> ValueAndPullback:
    before = held_in(cell)
    cell.cell_contents = value
    mark_active(cell)
    return None, UndoOnly(lambda dy: (None, None, _undo_variable(cell, before)))


@handlers.structural(delete_cell)
def _(nodes: Nodes, cell: Any, name: str, is_own: bool) -> ValueAndPullback:
    before = held_in(cell)
    delete_cell(cell, name, is_own)

    def delete_cell_back(dy: Any) -> tuple[Any, ...]:
        _undo_variable(cell, before)
        return (None,) * 4

    return None, UndoOnly(delete_cell_back)


def _undo_variable(cell: Any, before: tuple[Any, ...]) -> Any:
    """Put back what a variable held, and return the cotangent of what it holds."""
    d = slots_of(cell).pop("cell_contents", None)
    after = held_in(cell)
    put_in(cell, before)
    current_store().redo.append(functools.partial(put_in, cell, after))
    return d


# -- subscripts: an entry of a tuple, a list or a dict is read, written or deleted ---------------


@handlers.structural(operator.getitem, dict.__getitem__, list.__getitem__, tuple.__getitem__)
def _(nodes: Nodes, x: Any, index: Any) -> ValueAndPullback | None:
    kind = kind_of(x)
    if kind not in (TUPLE, LIST, DICT):
        return None
    if isinstance(index, slice):
        return _get_slice(x, index)
    y = type_in_c(x).__getitem__(x, index)
    if carries_nothing(y):
        return y, no_pullback(3)
    if kind == TUPLE:
        return y, field_of_tuple_back(x, index, 3)
    if kind == LIST:
        index = operator.index(index) % type_in_c(x).__len__(x)
    else:
        refuse_kept(x, index, nodes[2], y)
        index = stored_key(x, index)
    return y, EntryBack(x, index)


def _get_slice(x: Any, index: slice) -> ValueAndPullback:
    y = type_in_c(x).__getitem__(x, index)
    size = type_in_c(x).__len__(x)
    positions = range(size)[index]
    if isinstance(y, list):
        mark_new(y)

    def getitem_back(dy: Any) -> tuple[Any, ...]:
        if isinstance(y, list):
            slots = take_slots(y)
            dy = [slots.get(i) for i in range(len(y))]
        if dy is None:
            return None, None, None
        parts = [None] * size
        for position, d in zip(positions, dy, strict=True):
            parts[position] = d
        return None, into(x, parts), None

    return y, getitem_back


@handlers.structural(operator.setitem, dict.__setitem__, list.__setitem__)
def _(nodes: Nodes, x: Any, index: Any, value: Any) -> ValueAndPullback | None:
    kind = kind_of(x)
    if kind == LIST and isinstance(index, slice):
        return set_slice(x, index, value)
    if kind not in (LIST, DICT):
        return None
    if kind == DICT:
        refuse_active_key(index, nodes[2])
    put = put_item(x, index, value)
    return None, UndoOnly(lambda dy: (None, None, None, undo_put(*put)))


@handlers.structural(operator.delitem, list.__delitem__, dict.__delitem__)
def _(nodes: Nodes, x: Any, index: Any) -> ValueAndPullback | None:
    if isinstance(x, collections.deque):
        return delete_place(x, index)
    return delete_item(x, index) if kind_of(x) in (LIST, DICT) else None
