"""Methods of lists, dicts and sets: those that write move the cotangents of the entries."""

import collections
from collections.abc import Callable
from typing import Any

from zygote_lite._activity import mark_active
from zygote_lite._errors import DifferentiationError
from zygote_lite._keys import stored_key
from zygote_lite._kinds import entries_of, type_in_c
from zygote_lite._pullbacks import Effect, Flags, Pulled, inert
from zygote_lite._state import current_store, forget, give, slots_of
from zygote_lite._tables import STRUCTURAL, structural

# What goes back to a list finds it as the run left it, or as others changed it since: it puts that
# back in the end, and refuses where entries are gone.


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


def refused_size(x: Any) -> DifferentiationError:
    """Return the error for a container that lost or got entries before the way back."""
    return DifferentiationError(
        f"a {type(x).__name__} that the function changed has lost or got entries since, in a later "
        "run or elsewhere, so that its pullback can no longer tell what it was: call the pullback "
        "before, or let the function change a copy"
    )


def elements(x: list[Any]) -> list[Any]:
    """Return a list of what a list holds, whatever its class makes of iteration."""
    return list.__getitem__(x, slice(None))


def _is_sequence(x: Any) -> bool:
    """Return whether iteration of a list or a tuple is Python's own."""
    return isinstance(x, list | tuple) and type(x).__iter__ in (list.__iter__, tuple.__iter__)


# -- lists -------------------------------------------------------------------------------------


@structural(list.append)
def _(flags: Flags, x: list[Any], value: Any) -> Pulled:
    place = list.__len__(x)
    list.append(x, value)
    mark_active(x)

    def append_back(dy: Any) -> tuple[Any, ...]:
        cut(x, place, [])
        return None, None, slots_of(x).pop(place, None)

    return None, Effect(append_back)


@structural(list.pop)
def _(flags: Flags, x: list[Any], *index: int) -> Pulled:
    if index and index[0] not in (-1, list.__len__(x) - 1):
        old = elements(x)
        y = list.pop(x, *index)
        back = _rearranged(x, old, lambda tags: tags.pop(*index))
    else:
        y = list.pop(x, *index)
        place = list.__len__(x)
        back = None

    def pop_back(dy: Any) -> tuple[Any, ...]:
        if back is not None:
            back()
            position = range(list.__len__(x))[index[0]]
        else:
            cut(x, place, [y])
            position = place
        give(slots_of(x), position, dy)
        return (None,) * len(flags)

    return y, pop_back


def _rearranged(
    x: list[Any], old: list[Any], same: Callable[[list[Any]], Any], count: int = 0
) -> Callable[[], list[Any]]:
    """Return what undoes a change of a list, after it was made.

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
        for position, tag in enumerate(tags):
            d = slots.get(position)
            if d is not None:
                if tag >= 0:
                    give(moved, tag, d)
                else:
                    give_at(given, -1 - tag, d)
        slots.clear()
        slots.update(moved)
        cut(x, 0, old)
        return given

    return undo


def give_at(given: list[Any], i: int, d: Any) -> None:
    """Add a cotangent to one of a list."""
    slots = {i: given[i]}
    give(slots, i, d)
    given[i] = slots[i]


def _new(count: int) -> list[int]:
    return [-1 - j for j in range(count)]


@structural(list.insert)
def _(flags: Flags, x: list[Any], index: int, value: Any) -> Pulled:
    old = elements(x)
    list.insert(x, index, value)
    undo = _rearranged(x, old, lambda tags: tags.insert(index, -1), 1)
    return None, Effect(lambda dy: (None, None, None, undo()[0]))


@structural(list.extend, list.__iadd__)
def _(flags: Flags, x: list[Any], values: Any) -> Pulled | None:
    return extend(x, values, None)


def extend(x: list[Any], values: Any, y: Any) -> Pulled | None:
    """Extend a list in place; the value is `y`."""
    if not _is_sequence(values):
        return None
    added = list(values)
    start = list.__len__(x)
    list.extend(x, added)
    mark_active(x)

    def extend_back(dy: Any) -> tuple[Any, ...]:
        slots = slots_of(x)
        d = [slots.pop(i, None) for i in range(start, start + len(added))]
        cut(x, start, [])
        if isinstance(values, tuple):
            return None, None, None if all(v is None for v in d) else tuple(d)
        given = slots_of(values)
        for i, v in enumerate(d):
            give(given, i, v)
        return None, None, None

    return y, Effect(extend_back)


def _change(name: str) -> None:
    method = getattr(list, name)

    @structural(method)
    def change(flags: Flags, x: list[Any], /, *xs: Any, **kws: Any) -> Pulled:
        old = elements(x)
        if name == "remove":
            position = old.index(*xs)
            same: Callable[[list[Any]], Any] = lambda tags: tags.pop(position)  # noqa: E731
        elif name == "sort":
            order = list(range(len(old)))
            key = kws.get("key")
            values = old if key is None else [key(v) for v in old]
            order.sort(key=values.__getitem__, reverse=kws.get("reverse", False))
            same = lambda tags: tags.__setitem__(slice(None), order)  # noqa: E731
        else:
            same = lambda tags: getattr(tags, name)(*xs)  # noqa: E731
        method(x, *xs, **kws)
        undo = _rearranged(x, old, same)

        def change_back(dy: Any) -> tuple[Any, ...]:
            undo()
            return (None,) * len(flags)

        return None, Effect(change_back)


for _name in ("remove", "sort", "reverse", "clear"):
    _change(_name)

for _f in (list.index, list.count, list.__len__, tuple.__len__, list.__contains__):
    structural(_f)(lambda flags, *xs, _f=_f: (_f(*xs), inert(len(flags))))


def set_slice(x: list[Any], index: slice, values: Any) -> Pulled | None:
    """Write a slice of a list."""
    if not _is_sequence(values):
        return None
    old = elements(x)
    added = list(values)
    list.__setitem__(x, index, added)
    undo = _rearranged(x, old, lambda tags: tags.__setitem__(index, _new(len(added))), len(added))

    def set_slice_back(dy: Any) -> tuple[Any, ...]:
        d = undo()
        if isinstance(values, tuple):
            return None, None, None, None if all(v is None for v in d) else tuple(d)
        given = slots_of(values)
        for i, v in enumerate(d):
            give(given, i, v)
        return None, None, None, None

    return None, Effect(set_slice_back)


def delete_item(x: Any, index: Any) -> Pulled:
    """Delete an element or a slice of a list, or an entry of a dict."""
    if isinstance(x, dict):
        undo_pop = _popped(x, index)

        def delete_back(dy: Any) -> tuple[Any, ...]:
            undo_pop()
            return None, None, None

        return None, Effect(delete_back)
    before = elements(x)
    list.__delitem__(x, index)
    undo = _rearranged(x, before, lambda tags: tags.__delitem__(index))

    def delete_item_back(dy: Any) -> tuple[Any, ...]:
        undo()
        return None, None, None

    return None, Effect(delete_item_back)


# -- dicts -------------------------------------------------------------------------------------


# Each write is undone by itself. Keys may stand in another order meanwhile, which no pullback looks
# at; when all writes are done again in the end, each stands where it stood.


def _popped(x: dict[Any, Any], key: Any) -> Callable[[], Any]:
    """Delete an entry of a dict; return what puts it back."""
    base, key = type_in_c(x), stored_key(x, key)
    y = base.pop(x, key)

    def undo() -> None:
        if dict.__contains__(x, key):
            raise refused_size(x)
        base.__setitem__(x, key, y)
        current_store().redo.append(lambda: base.pop(x, key))

    return undo


def _put(x: dict[Any, Any], key: Any, value: Any) -> Callable[[], Any]:
    """Write an entry of a dict; return what takes it back, and returns its cotangent."""
    base, key = type_in_c(x), stored_key(x, key)
    had = dict.__contains__(x, key)
    old = dict.__getitem__(x, key) if had else None
    base.__setitem__(x, key, value)

    def undo() -> Any:
        d = slots_of(x).pop(key, None)
        if not dict.__contains__(x, key):
            raise refused_size(x)
        now = dict.__getitem__(x, key)
        if had:
            base.__setitem__(x, key, old)
        else:
            base.pop(x, key)
        current_store().redo.append(lambda: base.__setitem__(x, key, now))
        return d

    return undo


@structural(dict.get)
def _(flags: Flags, x: dict[Any, Any], key: Any, *default: Any) -> Pulled:
    if not dict.__contains__(x, key):
        y = default[0] if default else None
        return y, lambda dy: (None, None, None, dy)[: len(flags)]
    key = stored_key(x, key)

    def get_back(dy: Any) -> tuple[Any, ...]:
        give(slots_of(x), key, dy)
        return (None,) * len(flags)

    return dict.__getitem__(x, key), get_back


@structural(dict.pop)
def _(flags: Flags, x: dict[Any, Any], key: Any, *default: Any) -> Pulled:
    if not dict.__contains__(x, key):
        return dict.pop(x, key, *default), lambda dy: (None, None, None, dy)
    key = stored_key(x, key)
    y = dict.__getitem__(x, key)
    undo = _popped(x, key)

    def pop_back(dy: Any) -> tuple[Any, ...]:
        undo()
        give(slots_of(x), key, dy)
        return (None,) * len(flags)

    return y, pop_back


@structural(dict.popitem)
def _(flags: Flags, x: dict[Any, Any]) -> Pulled:
    key, y = dict.popitem(x)

    def popitem_back(dy: Any) -> tuple[Any, ...]:
        if dict.__contains__(x, key):
            raise refused_size(x)
        dict.__setitem__(x, key, y)
        current_store().redo.append(lambda: dict.pop(x, key))
        give(slots_of(x), key, None if dy is None else dy[1])
        return None, None

    return (key, y), popitem_back


@structural(dict.setdefault)
def _(flags: Flags, x: dict[Any, Any], key: Any, default: Any = None) -> Pulled:
    key = stored_key(x, key)
    if dict.__contains__(x, key):
        y, undo = dict.__getitem__(x, key), None
    else:
        y, undo = default, _put(x, key, default)
    mark_active(x)

    def setdefault_back(dy: Any) -> tuple[Any, ...]:
        give(slots_of(x), key, dy)
        return (None, None, None, None if undo is None else undo())[: len(flags)]

    return y, setdefault_back


@structural(dict.update)
def _(flags: Flags, x: dict[Any, Any], /, *xs: Any, **kws: Any) -> Pulled | None:
    if not all(isinstance(given, dict) for given in xs):
        return None
    added = dict(*xs, **kws)
    undo = {key: _put(x, key, value) for key, value in added.items()}
    mark_active(x)

    def update_back(dy: Any) -> tuple[Any, ...]:
        d = {key: undo[key]() for key in reversed(added)}
        for source in xs:
            given = slots_of(source)
            for key, _ in entries_of(source):
                if key not in kws:
                    give(given, key, d[key])
        return (None, None, *(None for _ in xs), *(d[name] for name in kws))

    return None, Effect(update_back)


@structural(dict.clear)
def _(flags: Flags, x: dict[Any, Any]) -> Pulled:
    old = [*entries_of(x)]
    base = type_in_c(x)
    base.clear(x)

    def clear_back(dy: Any) -> tuple[Any, ...]:
        now = [*entries_of(x)]
        base.clear(x)
        for key, value in old:
            base.__setitem__(x, key, value)

        def redo() -> None:
            base.clear(x)
            for key, value in now:
                base.__setitem__(x, key, value)

        current_store().redo.append(redo)
        return None, None

    return None, Effect(clear_back)


@structural(dict.copy)
def _(flags: Flags, x: dict[Any, Any]) -> Pulled:
    y = type_in_c(x).copy(x)
    mark_active(y)

    def copy_back(dy: Any) -> tuple[Any, ...]:
        slots = slots_of(x)
        for key, d in forget(y).items():
            give(slots, key, d)
        return None, None

    return y, copy_back


_Ordered = collections.OrderedDict
for _name in ("pop", "setdefault", "clear", "copy"):  # which it has in its own way
    structural(getattr(_Ordered, _name))(STRUCTURAL[id(getattr(dict, _name))][1])


@structural(_Ordered.move_to_end)
def _(flags: Flags, x: Any, key: Any, last: bool = True) -> Pulled:
    _Ordered.move_to_end(x, key, last)

    def move_back(dy: Any) -> tuple[Any, ...]:  # done again in its turn, with the other writes
        current_store().redo.append(lambda: _Ordered.move_to_end(x, key, last))
        return (None,) * len(flags)

    return None, Effect(move_back)


for _view in (
    dict.keys, dict.values, dict.items, _Ordered.keys, _Ordered.values, _Ordered.items
):  # fmt: skip
    structural(_view)(lambda flags, x, _view=_view: (_view(x), inert(2)))
structural(dict.__len__)(lambda flags, x: (dict.__len__(x), inert(2)))
structural(dict.__contains__)(lambda flags, x, key: (dict.__contains__(x, key), inert(3)))


# -- sets --------------------------------------------------------------------------------------


@structural(set.add)
def _(flags: Flags, x: set[Any], value: Any) -> Pulled:
    if value in x:
        return None, inert(3)
    x.add(value)
    mark_active(x)

    def add_back(dy: Any) -> tuple[Any, ...]:
        x.discard(value)
        current_store().redo.append(lambda: x.add(value))
        return None, None, slots_of(x).pop(value, None)

    return None, Effect(add_back)
