"""Subscripts: an entry of a tuple, a list or a dict is read, written or deleted."""

import collections
import operator
from typing import Any

from zygote_lite._activity.activity import mark_active
from zygote_lite._cotangents.kinds import DICT, INERT, LIST, TUPLE, kind_of, type_in_c
from zygote_lite._cotangents.pullbacks import UndoOnly, ValueAndPullback, no_pullback
from zygote_lite._cotangents.registry import Handlers, Nodes
from zygote_lite._cotangents.run import current_store, give, slots_of, take_slots
from zygote_lite._python.containers.deques import delete_place
from zygote_lite._python.containers.dicts import delete_item
from zygote_lite._python.containers.keys import refuse_active_key, stored_key
from zygote_lite._python.containers.lists import refused_size, set_slice
from zygote_lite._python.literals import base_method, field_of_tuple_back, into

handlers = Handlers()


@handlers.structural(operator.getitem, dict.__getitem__, list.__getitem__, tuple.__getitem__)
def _(nodes: Nodes, x: Any, index: Any) -> ValueAndPullback | None:
    kind = kind_of(x)
    if kind not in (TUPLE, LIST, DICT):
        return None
    if isinstance(index, slice):
        return _get_slice(x, index)
    y = base_method(x, "__getitem__")(x, index)
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
    y = base_method(x, "__getitem__")(x, index)
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
    if kind == LIST:
        index = operator.index(index)
        index = index + type_in_c(x).__len__(x) if index < 0 else index
    elif kind != DICT:
        return None
    else:
        refuse_active_key(index, nodes[2])
        index = stored_key(x, index)
    had = kind == LIST or dict.__contains__(x, index)
    take, put, remove = (base_method(x, f"__{n}item__") for n in ("get", "set", "del"))
    old = take(x, index) if had else None
    put(x, index, value)
    mark_active(x)

    def setitem_back(dy: Any) -> tuple[Any, ...]:
        d_value = slots_of(x).pop(index, None)
        if not (index < type_in_c(x).__len__(x) if kind == LIST else dict.__contains__(x, index)):
            raise refused_size(x)
        now = take(x, index)
        if had:
            put(x, index, old)
        else:
            remove(x, index)
        current_store().redo.append(lambda: put(x, index, now))
        return None, None, None, d_value

    return None, UndoOnly(setitem_back)


@handlers.structural(operator.delitem, list.__delitem__, dict.__delitem__)
def _(nodes: Nodes, x: Any, index: Any) -> ValueAndPullback | None:
    if isinstance(x, collections.deque):
        return delete_place(x, index)
    return delete_item(x, index) if kind_of(x) in (LIST, DICT) else None
