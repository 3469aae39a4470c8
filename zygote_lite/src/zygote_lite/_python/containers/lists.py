"""Methods of lists: those that write move the cotangents of the entries."""

import functools
import operator
import sys
from collections.abc import Callable
from typing import Any

from rulescore.faults import an
from zygote_lite._activity.marks import mark_active
from zygote_lite._cotangents.kinds import tuple_like
from zygote_lite._cotangents.registry import (
    Handlers,
    Nodes,
    UndoOnly,
    ValueAndPullback,
    small_pullback,
)
from zygote_lite._cotangents.run import current_store, give, slots_of
from zygote_lite.errors import Fault

handlers = Handlers()

# A pullback may find the list changed by later code. It undoes its own change, restores the later
# state at the end, and refuses if entries that it needs are gone.


def cut(x: list[Any], place: int, old: list[Any]) -> None:
    """Put the entries of a list from a place on back to what they were."""
    tail = slice(place, None)  # of a list, whatever its class makes of subscripts
    if list.__len__(x) < place:
        raise refused_size(x)
    now = list.__getitem__(x, tail)
    list.__setitem__(x, tail, old)

    def redo() -> None:
        list.__setitem__(x, tail, now)

    current_store().redo.append(redo)


def refused_size(x: Any) -> Exception:
    """Return the error for a container that lost or got entries before the reverse pass."""
    return Fault.OVERWRITTEN(
        f"{an(type(x).__name__)} that the function changed has lost or got entries since, in a "
        "later run or elsewhere, so that its pullback can no longer tell what it was: call the "
        "pullback before, or let the function change a copy"
    )


def elements(x: list[Any]) -> list[Any]:
    """Return a list of what a list holds, whatever its class makes of iteration."""
    return list.__getitem__(x, slice(None))


def is_sequence(x: Any) -> bool:
    """Return whether iteration of a list or a tuple is Python's own."""
    return isinstance(x, list | tuple) and type(x).__iter__ in (list.__iter__, tuple.__iter__)


def into(x: Any, parts: Any) -> Any:
    """Give the entries of a sequence their cotangents; return what goes by value."""
    if parts is None or all(d is None for d in parts):
        return None
    if isinstance(x, tuple):
        return tuple_like(x, parts)
    slots = slots_of(x)
    for i, d in enumerate(parts):
        give(slots, i, d)
    return None


@handlers.structural(list.append)
def _(nodes: Nodes, x: list[Any], value: Any) -> ValueAndPullback:
    place = append_to(x, value)
    return None, UndoOnly(lambda dy: (None, None, _take_last(x, place)))


def append_to(x: list[Any], value: Any) -> int:
    """Append to a list; return the place."""
    place = list.__len__(x)
    list.append(x, value)
    mark_active(x)
    return place


def _take_last(x: list[Any], place: int) -> Any:
    """Take what was appended at a place away, and return its cotangent."""
    if list.__len__(x) == place + 1:
        current_store().redo.append(functools.partial(list.append, x, list.pop(x)))
    else:
        cut(x, place, [])
    return slots_of(x).pop(place, None)


APPENDED = small_pullback(lambda x, entry, dy: _take_last(x, entry[4]))


@handlers.structural(list.pop)
def _(nodes: Nodes, x: list[Any], *index: Any) -> ValueAndPullback:
    size = list.__len__(x)
    y = list.pop(x, *index)
    place = range(size)[index[0]] if index else size - 1
    at_end = functools.partial(cut, x, place, [y])  # which moves no cotangents
    undo = at_end if place == size - 1 else replaced(x, place, [y], 0)

    def pop_back(dy: Any) -> tuple[Any, ...]:
        undo()
        give(slots_of(x), place, dy)
        return (None,) * len(nodes)

    return y, pop_back


def replaced(x: list[Any], place: int, old: list[Any], count: int) -> Callable[[], list[Any]]:
    """Return what undoes the change of a list in which `count` entries stand for others.

    Arguments:
        x: the list, after it was changed.
        place: where the entries stand.
        old: what stood there.
        count: how many stand there now.

    What it returns gives the cotangents of the new entries. It keeps what it puts back, no more.
    """
    size = list.__len__(x)
    new, before = slice(place, place + count), slice(place, place + len(old))
    mark_active(x)

    def undo() -> list[Any]:
        if list.__len__(x) < size:
            raise refused_size(x)
        if list.__len__(x) > size:
            cut(x, size, [])
        now = list.__getitem__(x, new)
        list.__setitem__(x, new, old)
        current_store().redo.append(lambda: list.__setitem__(x, before, now))
        return current_store().row(x).replace(place, count, len(old))

    return undo


def _rearranged(
    x: list[Any], old: list[Any], same: Callable[[list[Any]], Any], count: int = 0
) -> Callable[[], list[Any]]:
    """Return the pullback that undoes a change of a list.

    Arguments:
        x: the list.
        old: its elements before.
        same: makes the same change to a list of tags, in which `-1 - j` stands for the `j`-th of
            `count` new values.

    What it returns gives the cotangents of the new values.
    """
    tags = list(range(len(old)))
    same(tags)
    mark_active(x)

    def undo() -> list[Any]:
        slots = slots_of(x)
        given: list[Any] = [None] * count
        moved: dict[Any, Any] = {}
        for position, d in slots.items():
            tag = tags[position]
            if tag >= 0:
                moved[tag] = d
            else:
                given[-1 - tag] = d
        current_store().entries[id(x)] = (x, moved)
        cut(x, 0, old)
        return given

    return undo


@handlers.structural(list.insert)
def _(nodes: Nodes, x: list[Any], index: int, value: Any) -> ValueAndPullback:
    place = slice(index, None).indices(list.__len__(x))[0]
    undo = change_slice(x, slice(place, place), [value])
    return None, UndoOnly(lambda dy: (None, None, None, undo()[0]))


@handlers.structural(list.extend)
def _(nodes: Nodes, x: list[Any], values: Any) -> ValueAndPullback | None:
    return _extend_list(x, values, None)


@handlers.structural(list.__iadd__)
@handlers.structural(operator.iadd, of=list)
def _(nodes: Nodes, x: Any, values: Any) -> ValueAndPullback | None:
    return _extend_list(x, values, x)


def _extend_list(x: list[Any], values: Any, y: Any) -> ValueAndPullback | None:
    """Extend a list in place; the value is `y`."""
    pulled = set_slice(x, slice(list.__len__(x), None), values)
    return pulled and (y, UndoOnly(lambda dy: pulled[1](dy)[1:]))


@handlers.structural(list.remove)
def _(nodes: Nodes, x: list[Any], value: Any) -> ValueAndPullback:
    try:
        place = list.index(x, value)
    except ValueError:
        list.remove(x, value)  # raises what Python raises
        raise
    undo = replaced(x, place, [list.pop(x, place)], 0)
    return None, undone_by(undo, len(nodes))


@handlers.structural(list.clear)
def _(nodes: Nodes, x: list[Any]) -> ValueAndPullback:
    return None, undone_by(change_slice(x, slice(None), None), len(nodes))


@handlers.structural(list.reverse)
def _(nodes: Nodes, x: list[Any]) -> ValueAndPullback:
    old = elements(x)
    list.reverse(x)
    return None, undone_by(_rearranged(x, old, list.reverse), len(nodes))


@handlers.structural(list.sort)
def _(nodes: Nodes, x: list[Any], /, *, key: Any = None, reverse: Any = False) -> ValueAndPullback:
    old = elements(x)
    order = list(range(len(old)))
    order.sort(key=old.__getitem__, reverse=reverse)  # with `key`, it stands for other calls
    list.__setitem__(x, slice(None), [old[i] for i in order])
    undo = _rearranged(x, old, lambda tags: tags.__setitem__(slice(None), order))
    return None, undone_by(undo, len(nodes))


def undone_by(undo: Callable[[], Any], count: int) -> UndoOnly:
    """Return the pullback of a call of `count` operands that only undoes a change."""

    def change_back(dy: Any) -> tuple[Any, ...]:
        undo()
        return (None,) * count

    return UndoOnly(change_back)


handlers.inert(list.index, list.count, list.__len__, tuple.__len__, list.__contains__)


def set_slice(x: list[Any], index: slice, values: Any) -> ValueAndPullback | None:
    """Write a slice of a list."""
    if not is_sequence(values):
        return None
    added = list(values)
    undo = change_slice(x, index, added)

    def set_slice_back(dy: Any) -> tuple[Any, ...]:
        return None, None, None, into(values, undo())

    return None, UndoOnly(set_slice_back)


def change_slice(x: list[Any], index: slice, added: list[Any] | None) -> Callable[[], list[Any]]:
    """Write or delete a slice of a list; return what undoes it, and gives the new cotangents."""
    start, stop, step = index.indices(list.__len__(x))
    if step == 1:
        index = slice(start, max(start, stop))
        old = list.__getitem__(x, index)
        list.__setitem__(x, index, added or [])
        return replaced(x, start, old, len(added or []))
    old = elements(x)
    if added is None:
        list.__delitem__(x, index)
        return _rearranged(x, old, lambda tags: tags.__delitem__(index))
    list.__setitem__(x, index, added)
    new = [-1 - j for j in range(len(added))]
    return _rearranged(x, old, lambda tags: tags.__setitem__(index, new), len(added))


# What asks elements whether they are equal, where that is for a method of the user.


@handlers.in_python(operator.contains, list.__contains__, tuple.__contains__)
def contains_equal(x: Any, value: Any) -> Any:
    return any(y is value or y == value for y in x)


@handlers.in_python(list.count, tuple.count, operator.countOf)
def count_equal(x: Any, value: Any) -> Any:
    return len([y for y in x if y is value or y == value])


@handlers.in_python(list.index, tuple.index)
def index_equal(x: Any, value: Any, start: Any = 0, stop: Any = sys.maxsize) -> Any:
    first, last, _ = slice(start, stop).indices(len(x))
    i = first
    while i < last and i < len(x):
        y = x[i]
        if y is value or y == value:
            return i
        i = i + 1
    raise ValueError(f"{value!r} is not in {type(x).__name__}")


@handlers.in_python(list.remove)
def _remove_equal(x: Any, value: Any) -> Any:
    for i, y in enumerate(x):
        if y is value or y == value:
            del x[i]
            return
    raise ValueError("list.remove(x): x not in list")
