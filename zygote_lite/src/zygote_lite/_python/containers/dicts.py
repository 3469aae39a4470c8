"""Dicts: what writes moves the cotangents of the entries."""

import collections
import functools
import operator
from collections.abc import Callable
from typing import Any

from zygote_lite._activity.marks import mark_active, mark_new
from zygote_lite._activity.namespaces import note_variable
from zygote_lite._cotangents.kinds import entries_of, is_merged_by_methods, type_in_c
from zygote_lite._cotangents.registry import (
    Handlers,
    Nodes,
    UndoOnly,
    ValueAndPullback,
    small_pullback,
)
from zygote_lite._cotangents.run import EntryBack, current_store, give, slots_of, take_slots
from zygote_lite._python.containers.keys import refuse_kept, stored_key
from zygote_lite._python.containers.lists import change_slice, refused_size, replaced, undone_by

handlers = Handlers()
_Ordered: Any = collections.OrderedDict

# Each write is undone by itself. Keys may stand in another order meanwhile, which no pullback looks
# at; when all writes are done again in the end, each stands where it stood.


def _restoring(x: dict[Any, Any], key: Any, y: Any) -> Callable[[], None]:
    """Return what puts an entry of a dict back that was deleted."""
    base = type_in_c(x)

    def undo() -> None:
        if dict.__contains__(x, key):
            raise refused_size(x)
        base.__setitem__(x, key, y)
        current_store().redo.append(lambda: base.pop(x, key))

    return undo


def put_item(x: Any, key: Any, value: Any) -> tuple[Any, ...]:
    """Write an entry of a dict, or an element of a list or deque.

    It returns the container, the key or place, and what stood there; `undo_put` takes these.
    """
    base = type_in_c(x)
    if isinstance(x, dict):
        note_variable(x, key, value)
        key = stored_key(x, key)
    else:
        place, size = operator.index(key), base.__len__(x)
        if not -size <= place < size:
            base.__setitem__(x, place, value)  # raises what Python raises
        key = place % size
    before = (base.__getitem__(x, key),) if _has_entry(x, key) else ()
    base.__setitem__(x, key, value)
    mark_active(x)
    return x, key, *before


def undo_put(x: Any, key: Any, *before: Any) -> Any:
    """Take an entry back, and return its cotangent."""
    base = type_in_c(x)
    d = slots_of(x).pop(key, None)
    if not _has_entry(x, key):
        raise refused_size(x)
    now = base.__getitem__(x, key)
    if before:
        base.__setitem__(x, key, *before)
    else:
        base.pop(x, key)
    current_store().redo.append(functools.partial(base.__setitem__, x, key, now))
    return d


PUT = small_pullback(lambda x, entry, dy: undo_put(x, *entry[4:]))


def _has_entry(x: Any, key: Any) -> bool:
    if isinstance(x, dict):
        return dict.__contains__(x, key)
    return bool(key < type_in_c(x).__len__(x))


def delete_item(x: Any, index: Any) -> ValueAndPullback:
    """Delete an element or a slice of a list, or an entry of a dict."""
    if isinstance(x, dict):
        key = stored_key(x, index)
        undo: Callable[[], Any] = _restoring(x, key, type_in_c(x).pop(x, key))
    elif isinstance(index, slice):
        undo = change_slice(x, index, None)
    else:
        size = list.__len__(x)
        if not -size <= operator.index(index) < size:
            list.__delitem__(x, index)  # raises what Python raises
        place = range(size)[index]
        undo = replaced(x, place, [list.pop(x, place)], 0)
    return None, undone_by(undo, 3)


@handlers.structural(dict.get)
def _(nodes: Nodes, x: dict[Any, Any], key: Any, *default: Any) -> ValueAndPullback:
    if not dict.__contains__(x, key):
        y = default[0] if default else None
        return y, lambda dy: (None, None, None, dy)[: len(nodes)]
    y = dict.__getitem__(x, key)
    refuse_kept(x, key, nodes[2], y)
    return y, EntryBack(x, stored_key(x, key))


@handlers.structural(dict.pop, _Ordered.pop)
def _(nodes: Nodes, x: dict[Any, Any], key: Any, *default: Any) -> ValueAndPullback:
    if not dict.__contains__(x, key):
        return dict.pop(x, key, *default), lambda dy: (None, None, None, dy)
    refuse_kept(x, key, nodes[2], dict.__getitem__(x, key))
    key = stored_key(x, key)
    y = type_in_c(x).pop(x, key)
    undo = _restoring(x, key, y)

    def pop_back(dy: Any) -> tuple[Any, ...]:
        undo()
        give(slots_of(x), key, dy)
        return (None,) * len(nodes)

    return y, pop_back


@handlers.structural(dict.popitem)
def _(nodes: Nodes, x: dict[Any, Any]) -> ValueAndPullback:
    key, y = dict.popitem(x)
    undo = _restoring(x, key, y)

    def popitem_back(dy: Any) -> tuple[Any, ...]:
        undo()
        give(slots_of(x), key, None if dy is None else dy[1])
        return None, None

    return (key, y), popitem_back


@handlers.structural(dict.setdefault, _Ordered.setdefault)
def _(nodes: Nodes, x: dict[Any, Any], key: Any, default: Any = None) -> ValueAndPullback:
    if dict.__contains__(x, key):
        refuse_kept(x, key, nodes[2], dict.__getitem__(x, key))
    key = stored_key(x, key)
    if dict.__contains__(x, key):
        y, put = dict.__getitem__(x, key), None
    else:
        y, put = default, put_item(x, key, default)
    mark_active(x)

    def setdefault_back(dy: Any) -> tuple[Any, ...]:
        give(slots_of(x), key, dy)
        return (None, None, None, None if put is None else undo_put(*put))[: len(nodes)]

    return y, setdefault_back


@handlers.structural(dict.update)
def _(nodes: Nodes, x: dict[Any, Any], /, *xs: Any, **kws: Any) -> ValueAndPullback | None:
    if any(not isinstance(given, dict) or is_merged_by_methods(given) for given in xs):
        return None
    added = dict(*xs, **kws)
    puts = {key: put_item(x, key, value) for key, value in added.items()}

    def update_back(dy: Any) -> tuple[Any, ...]:
        d = {key: undo_put(*puts[key]) for key in reversed(added)}
        for source in xs:
            given = slots_of(source)
            for key, _ in entries_of(source):
                if key not in kws:
                    give(given, key, d[key])
        return (None, None, *(None for _ in xs), *(d[name] for name in kws))

    return None, UndoOnly(update_back)


@handlers.structural(dict.clear, _Ordered.clear)
def _(nodes: Nodes, x: dict[Any, Any]) -> ValueAndPullback:
    old = [*entries_of(x)]
    _fill_again(x, [])

    def clear_back(dy: Any) -> tuple[Any, ...]:
        now = [*entries_of(x)]
        _fill_again(x, old)
        current_store().redo.append(lambda: _fill_again(x, now))
        return None, None

    return None, UndoOnly(clear_back)


def _fill_again(x: dict[Any, Any], entries: list[tuple[Any, Any]]) -> None:
    """Give a dict other entries, whatever its class makes of that."""
    base = type_in_c(x)
    base.clear(x)
    for key, value in entries:
        base.__setitem__(x, key, value)


@handlers.structural(dict.copy, _Ordered.copy)
def _(nodes: Nodes, x: dict[Any, Any]) -> ValueAndPullback | None:
    if is_merged_by_methods(x):
        return None
    return gathered(type_in_c(x).copy(x), lambda key: (x, key), 2)


@handlers.structural(collections.defaultdict.copy, collections.defaultdict.__copy__)
def _(nodes: Nodes, x: Any) -> ValueAndPullback | None:
    if type(x) is not collections.defaultdict:
        return None  # the copy is made by calling the user's class
    return gathered(x.copy(), lambda key: (x, key), 2)


def gathered(y: Any, source: Callable[[Any], tuple[Any, Any]], count: int) -> ValueAndPullback:
    """Return a new container, and the pullback of a call that makes it of entries of others.

    Arguments:
        y: the container.
        source: from the key of an entry to the container that it comes from, and its key there.
        count: how many operands the call has.
    """
    (mark_active if type(y) is frozenset else mark_new)(y)  # which may be the one it is made of

    def gathered_back(dy: Any) -> tuple[Any, ...]:
        for key, d in take_slots(y).items():
            x, known = source(key)
            give(slots_of(x), known, d)
        return (None,) * count

    return y, gathered_back


@handlers.structural(_Ordered.move_to_end)
def _(nodes: Nodes, x: Any, key: Any, last: bool = True) -> ValueAndPullback:
    _Ordered.move_to_end(x, key, last)

    def move_back(dy: Any) -> tuple[Any, ...]:  # repeated later, in the order of the writes
        current_store().redo.append(lambda: _Ordered.move_to_end(x, key, last))
        return (None,) * len(nodes)

    return None, UndoOnly(move_back)


handlers.inert(
    dict.keys, dict.values, dict.items, _Ordered.keys, _Ordered.values, _Ordered.items,
    dict.__len__, dict.__contains__,
)  # fmt: skip
