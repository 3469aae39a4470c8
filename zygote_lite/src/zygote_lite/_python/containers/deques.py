"""`collections.deque`: `appendleft` and `popleft` shift every index.

So the cotangents of the entries are held in a deque too. The reverse pass undoes each change on
both, at the cost of the program's own step.
"""

import collections
import functools
from collections.abc import Callable
from typing import Any

from zygote_lite._activity.marks import mark_active, mark_new
from zygote_lite._cotangents.registry import (
    Handlers,
    Nodes,
    UndoOnly,
    ValueAndPullback,
    no_pullback,
)
from zygote_lite._cotangents.run import current_store, slots_of
from zygote_lite._ir.places import where
from zygote_lite._python.containers.lists import (
    contains_equal,
    count_equal,
    index_equal,
    refused_size,
    undone_by,
)
from zygote_lite.errors import Fault

handlers = Handlers()

Deque: Any = collections.deque
Nothing = tuple[Any, ...]


def places_of(x: Any) -> Any:
    """Return the cotangents of the entries of a deque, in a deque."""
    slots: Any = slots_of(x)
    return slots.places


def _check_size(x: Any, size: int) -> None:
    """Refuse to go back through a deque that others have changed since."""
    if len(x) != size:
        raise refused_size(x)


# What the following return undoes a change of a deque, and of the cotangents of its entries.


def _added(x: Any, place: int, value: Any) -> Callable[[], Any]:
    """Insert an entry; what undoes that returns the cotangent of the entry."""
    Deque.insert(x, place, value)
    mark_active(x)
    size = len(x)

    def undo() -> Any:
        _check_size(x, size)
        places = places_of(x)
        d = places[place]
        del places[place]
        Deque.__delitem__(x, place)
        current_store().redo.append(lambda: Deque.insert(x, place, value))
        return d

    return undo


def _removed(x: Any, place: int, old: Any) -> Callable[[Any], None]:
    """Return what puts an entry back that was removed, which has some cotangent."""
    size = len(x)

    def undo(d: Any) -> None:
        _check_size(x, size)
        places_of(x).insert(place, d)
        Deque.insert(x, place, old)
        current_store().redo.append(lambda: Deque.__delitem__(x, place))

    return undo


def _changed(x: Any, count: int, change: Any, unchange: Any) -> ValueAndPullback:
    """Change a deque as a whole, by a call of `count` operands."""
    change(x)
    size = len(x)

    def change_back(dy: Any) -> Nothing:
        _check_size(x, size)
        unchange(places_of(x))
        unchange(x)
        current_store().redo.append(lambda: change(x))
        return (None,) * count

    return None, UndoOnly(change_back)


def _pushed(left: bool, nodes: Nodes, x: Any, value: Any) -> ValueAndPullback:
    """Add at an end; a deque that is full loses an entry at the other end."""
    if x.maxlen == 0:
        return None, no_pullback(3)
    is_full = len(x) == x.maxlen
    lost = _popped(not left, nodes, x)[1] if is_full else None
    undo = _added(x, 0 if left else len(x), value)

    def push_back(dy: Any) -> Nothing:
        d = undo()
        if lost is not None:
            lost(None)
        return None, None, d

    return None, UndoOnly(push_back)


def _popped(left: bool, nodes: Nodes, x: Any) -> ValueAndPullback:
    y = Deque.popleft(x) if left else Deque.pop(x)
    undo = _removed(x, 0 if left else len(x), y)

    def pop_back(dy: Any) -> Nothing:
        undo(dy)
        return None, None

    return y, pop_back


for _at_left, _push, _pop in (
    (False, Deque.append, Deque.pop),
    (True, Deque.appendleft, Deque.popleft),
):
    handlers.structural(_push)(functools.partial(_pushed, _at_left))
    handlers.structural(_pop)(functools.partial(_popped, _at_left))


@handlers.structural(Deque.rotate)
def _(nodes: Nodes, x: Any, n: int = 1) -> ValueAndPullback:
    return _changed(x, len(nodes), lambda q: Deque.rotate(q, n), lambda q: Deque.rotate(q, -n))


@handlers.structural(Deque.reverse)
def _(nodes: Nodes, x: Any) -> ValueAndPullback:
    return _changed(x, 2, Deque.reverse, Deque.reverse)


@handlers.structural(Deque.clear)
def _(nodes: Nodes, x: Any) -> ValueAndPullback:
    old = list(x)

    def fill(q: Any) -> None:
        Deque.extend(q, old if q is x else [None] * len(old))

    return _changed(x, 2, Deque.clear, fill)


@handlers.structural(Deque.insert)
def _(nodes: Nodes, x: Any, index: int, value: Any) -> ValueAndPullback:
    size = len(x)
    undo = _added(x, min(max(index + size if index < 0 else index, 0), size), value)
    return None, UndoOnly(lambda dy: (None, None, None, undo()))


def delete_place(x: Any, index: int) -> ValueAndPullback:
    """Delete an entry of a deque."""
    old = x[index]
    place = index + len(x) if index < 0 else index
    Deque.__delitem__(x, place)
    return None, undone_by(functools.partial(_removed(x, place, old), None), 3)


handlers.inert(Deque.index, Deque.count, Deque.__len__, Deque.__contains__)


handlers.in_python(Deque.__contains__)(contains_equal)
handlers.in_python(Deque.count)(count_equal)
handlers.in_python(Deque.index)(index_equal)


@handlers.in_python(Deque.remove)
def _remove_first(x: Any, value: Any) -> Any:
    del x[x.index(value)]


@handlers.in_python(Deque.extend)
def _extend_deque(x: Any, values: Any) -> Any:
    for value in list(values) if values is x else values:
        x.append(value)


@handlers.in_python(Deque.extendleft)
def _extendleft(x: Any, values: Any) -> Any:
    for value in list(values) if values is x else values:
        x.appendleft(value)


@handlers.in_python(Deque.__iadd__)
def _iadd(x: Any, values: Any) -> Any:
    x.extend(values)
    return x


@handlers.in_python(Deque.copy, Deque.__copy__)
def _copy(x: Any) -> Any:
    return type(x)(x, x.maxlen)


@handlers.in_python(Deque)
def _deque(iterable: Any = (), maxlen: Any = None) -> Any:
    y = empty_deque(maxlen)
    y.extend(iterable)
    return y


def empty_deque(maxlen: Any) -> Any:
    """Return a deque without entries."""
    return Deque((), maxlen)


@handlers.structural(empty_deque)
def _(nodes: Nodes, maxlen: Any) -> ValueAndPullback:
    y = empty_deque(maxlen)
    mark_new(y)
    return y, no_pullback(2)


@handlers.in_python(Deque.__init__)
def _fill_deque(y: Any, x: Any = (), /, maxlen: Any = None) -> None:
    if y.maxlen != maxlen:
        _refuse_length()
    Deque.clear(y)
    for value in x:
        Deque.append(y, value)


def _refuse_length() -> None:
    raise Fault.MEMORY(
        f"{where()}: `deque.__init__` gives another `maxlen` to a deque through which a gradient "
        "passes: make a new deque"
    )
