"""Subscripts: an entry of a tuple, a list or a dict is read, written or deleted."""

import collections
import operator
from typing import Any

from zygote_lite._activity.activity import mark_active
from zygote_lite._cotangents.kinds import DICT, INERT, LIST, TUPLE, kind_of, type_in_c
from zygote_lite._cotangents.pullbacks import UndoOnly, ValueAndPullback, no_pullback
from zygote_lite._cotangents.registry import Handlers, Nodes
from zygote_lite._cotangents.run import give, slots_of, take_slots
from zygote_lite._python.containers.deques import delete_place
from zygote_lite._python.containers.dicts import (
    delete_item,
    put_item,
    refuse_active_key,
    stored_key,
)
from zygote_lite._python.containers.lists import into, set_slice
from zygote_lite._python.literals import field_of_tuple_back

handlers = Handlers()


@handlers.structural(operator.getitem, dict.__getitem__, list.__getitem__, tuple.__getitem__)
def _(nodes: Nodes, x: Any, index: Any) -> ValueAndPullback | None:
    kind = kind_of(x)
    if kind not in (TUPLE, LIST, DICT):
        return None
    if isinstance(index, slice):
        return _get_slice(x, index)
    y = type_in_c(x).__getitem__(x, index)
    if kind_of(y) == INERT:
        return y, no_pullback(3)
    if kind == TUPLE:
        return y, field_of_tuple_back(x, index, 3)
    if kind == LIST:
        index = operator.index(index) % type_in_c(x).__len__(x)
    else:
        index = stored_key(x, index)

    def getitem_back(dy: Any) -> tuple[Any, ...]:
        give(slots_of(x), index, dy)
        return None, None, None

    return y, getitem_back


def _get_slice(x: Any, index: slice) -> ValueAndPullback:
    y = type_in_c(x).__getitem__(x, index)
    size = type_in_c(x).__len__(x)
    positions = range(size)[index]
    if isinstance(y, list):
        mark_active(y)

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
    undo = put_item(x, index, value)
    return None, UndoOnly(lambda dy: (None, None, None, undo()))


@handlers.structural(operator.delitem, list.__delitem__, dict.__delitem__)
def _(nodes: Nodes, x: Any, index: Any) -> ValueAndPullback | None:
    if isinstance(x, collections.deque):
        return delete_place(x, index)
    return delete_item(x, index) if kind_of(x) in (LIST, DICT) else None
