"""`collections.deque`: `appendleft` and `popleft` shift every index.

So the cotangents of the entries are held in a deque too. The reverse pass undoes each change on
both, at the cost of the user's own step.
"""

import collections
from collections.abc import Callable
from typing import Any

from zygote_lite._activity.activity import mark_active
from zygote_lite._cotangents.pullbacks import UndoOnly, ValueAndPullback, no_pullback
from zygote_lite._cotangents.registry import Handlers, Nodes
from zygote_lite._cotangents.run import current_store, slots_of
from zygote_lite._python.containers.lists import refused_size

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


def _undo(x: Any, change: Callable[[Any], None], redo: Callable[[], None]) -> None:
    """Take back a change of a deque and of the cotangents that stand for its entries."""
    places = places_of(x)
    change(places)
    change(x)
    current_store().redo.append(redo)


@handlers.structural(Deque.append)
def _(nodes: Nodes, x: Any, value: Any) -> ValueAndPullback:
    return _pushed(x, value, left=False)


@handlers.structural(Deque.appendleft)
def _(nodes: Nodes, x: Any, value: Any) -> ValueAndPullback:
    return _pushed(x, value, left=True)


def _pushed(x: Any, value: Any, left: bool) -> ValueAndPullback:
    """Add at an end; a deque that is full loses an entry at the other end."""
    full = x.maxlen is not None and len(x) == x.maxlen
    if x.maxlen == 0:
        return None, no_pullback(3)
    lost = x[-1 if left else 0] if full else None
    push, pop = (Deque.appendleft, Deque.popleft) if left else (Deque.append, Deque.pop)
    push_other = Deque.append if left else Deque.appendleft
    push(x, value)
    mark_active(x)
    size = len(x)

    def push_back(dy: Any) -> Nothing:
        _check_size(x, size)
        places = places_of(x)
        d = pop(places)
        pop(x)
        if full:
            push_other(places, None)
            push_other(x, lost)
        current_store().redo.append(lambda: push(x, value))
        return None, None, d

    return None, UndoOnly(push_back)


@handlers.structural(Deque.pop)
def _(nodes: Nodes, x: Any) -> ValueAndPullback:
    return _popped(x, left=False)


@handlers.structural(Deque.popleft)
def _(nodes: Nodes, x: Any) -> ValueAndPullback:
    return _popped(x, left=True)


def _popped(x: Any, left: bool) -> ValueAndPullback:
    push, pop = (Deque.appendleft, Deque.popleft) if left else (Deque.append, Deque.pop)
    y = pop(x)
    size = len(x)

    def pop_back(dy: Any) -> Nothing:
        _check_size(x, size)
        push(places_of(x), dy)
        push(x, y)
        current_store().redo.append(lambda: pop(x))
        return None, None

    return y, pop_back


@handlers.structural(Deque.rotate)
def _(nodes: Nodes, x: Any, n: int = 1) -> ValueAndPullback:
    x.rotate(n)

    def rotate_back(dy: Any) -> Nothing:
        _undo(x, lambda q: q.rotate(-n), lambda: x.rotate(n))
        return (None,) * len(nodes)

    return None, UndoOnly(rotate_back)


@handlers.structural(Deque.reverse)
def _(nodes: Nodes, x: Any) -> ValueAndPullback:
    x.reverse()

    def reverse_back(dy: Any) -> Nothing:
        _undo(x, Deque.reverse, x.reverse)
        return None, None

    return None, UndoOnly(reverse_back)


@handlers.structural(Deque.insert)
def _(nodes: Nodes, x: Any, index: int, value: Any) -> ValueAndPullback:
    size = len(x)
    x.insert(index, value)
    mark_active(x)
    place = min(max(index + size if index < 0 else index, 0), size)

    def insert_back(dy: Any) -> Nothing:
        _check_size(x, size + 1)
        d = places_of(x)[place]
        _undo(x, lambda q: q.__delitem__(place), lambda: x.insert(place, value))
        return None, None, None, d

    return None, UndoOnly(insert_back)


def delete_place(x: Any, index: int) -> ValueAndPullback:
    """Delete an entry of a deque."""
    old = x[index]
    place = index + len(x) if index < 0 else index
    del x[place]

    size = len(x)

    def delete_back(dy: Any) -> Nothing:
        _check_size(x, size)
        places_of(x).insert(place, None)
        x.insert(place, old)
        current_store().redo.append(lambda: x.__delitem__(place))
        return None, None, None

    return None, UndoOnly(delete_back)


@handlers.structural(Deque.clear)
def _(nodes: Nodes, x: Any) -> ValueAndPullback:
    old = list(x)
    x.clear()

    def clear_back(dy: Any) -> Nothing:
        _check_size(x, 0)
        places_of(x).extend([None] * len(old))
        x.extend(old)
        current_store().redo.append(x.clear)
        return None, None

    return None, UndoOnly(clear_back)


handlers.inert(Deque.index, Deque.count, Deque.__len__, Deque.__contains__)


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
    mark_active(y)
    return y, no_pullback(2)
