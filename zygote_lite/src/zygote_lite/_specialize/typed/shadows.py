"""The cotangents of containers that the code makes, as the reverse pass keeps them: by identity.

Each container whose items carry gradients has a shadow: a container of the cotangents of its items,
made when the reverse pass first comes to it. The shadow undoes, in reverse, what was done to the
container, and so has its length at each point. That of a number is a number; that of an array is an
array that is never written to, or `None` where no gradient has reached it. An entry of a dict
without one has none.
"""

from collections import deque
from typing import Any

import numpy as np

from zygote_lite._specialize.typed.runtime import add_item


class HeldObject(dict[str, Any]):
    """An object that containers hold: its attributes. It equals itself alone."""

    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__  # type: ignore[assignment]


def shadow_of(shadows: dict[int, Any], x: Any) -> Any:
    """Return the shadow of a container."""
    found = shadows.get(id(x))
    if found is None:
        if isinstance(x, dict):
            found = {}
        else:
            zeros = [None if isinstance(item, np.ndarray) else 0.0 for item in x]
            found = deque(zeros) if isinstance(x, deque) else zeros
        shadows[id(x)] = found
    return found


def add_number(d: Any, place: Any, dy: Any) -> None:
    """Add the cotangent of a number to a shadow: `d[place] += dy` in the text."""
    d[place] += dy


def add_entry(d: dict[Any, Any], key: Any, dy: Any) -> None:
    """Add the cotangent of a value to the shadow of a dict."""
    known = d.get(key)
    d[key] = dy if known is None else known + dy


def take_entry(d: dict[Any, Any], key: Any) -> Any:
    """Take the cotangent of the value of a key from a shadow; `None` where there is none."""
    return d.pop(key, None)


def number_or(d: Any) -> Any:
    """Return the cotangent of a number: zero where no gradient has reached it."""
    return 0.0 if d is None else d


def put_entry(d: dict[Any, Any], key: Any, dy: Any) -> None:
    """Set the cotangent of a value that was taken out of a dict."""
    if dy is None:
        d.pop(key, None)
    else:
        d[key] = dy


def take_item(d: list[Any], place: int, zero: Any) -> Any:
    """Take the cotangent of what was stored in a place, which then holds what was there before."""
    found = d[place]
    d[place] = zero
    return found


def put_back(d: list[Any], place: int, dy: Any) -> None:
    """Insert the cotangent of an item that was taken out of a list."""
    d.insert(place if place >= 0 else len(d) + 1 + place, dy)


def take_out(d: list[Any], place: int) -> Any:
    """Remove the cotangent of an item that was inserted into a list, and return it."""
    last = len(d) - 1
    place = max(0, place + last) if place < 0 else min(place, last)
    found = d[place]
    del d[place]
    return found


def cut_off(d: list[Any], count: int) -> list[Any]:
    """Remove the cotangents of the last items, and return them."""
    start = len(d) - count
    found = [d[i] for i in range(start, len(d))]
    for _ in found:
        d.pop()
    return found


def add_all(d: list[Any], found: list[Any], part: slice = slice(None)) -> None:
    """Add cotangents to those of the items of a list, or of a part of it."""
    for i, dy in zip(range(*part.indices(len(d))), found, strict=True):
        if dy is not None:
            add_item(d, i, dy)


def add_each(d: list[Any], dy: Any) -> None:
    """Add a cotangent to those of all items."""
    for i in range(len(d)):
        add_item(d, i, dy)


def add_to_places(d: list[Any], places: list[int], dy: Any) -> None:
    """Add a cotangent to those of items that share it."""
    for i in places:
        add_item(d, i, dy / len(places))


def undo_slice(d: list[Any], part: slice, length: int, zero: Any) -> list[Any]:
    """Undo `x[part] = y` in a shadow: return the cotangents of `y`.

    Arguments:
        d: the shadow.
        part: the slice.
        length: how many items there were before.
        zero: the cotangent of an item that no gradient has reached.
    """
    places = range(*part.indices(length))
    if part.step not in (None, 1):
        found = [d[i] for i in places]
        for i in places:
            d[i] = zero
        return found
    start = places.start
    stop = start + len(d) - (length - len(places))
    found = d[start:stop]
    d[start:stop] = [zero] * len(places)
    return found


def put_zeros(d: list[Any], part: slice, length: int, zero: Any) -> None:
    """Undo `del x[part]` in a shadow."""
    for i in sorted(range(*part.indices(length))):
        d.insert(i, zero)


def fill(d: list[Any], length: int, zero: Any) -> None:
    """Undo `x.clear()` in a shadow."""
    d.clear()
    d.extend([zero] * length)


def places_sorted(x: list[Any], reverse: bool = False) -> list[int]:
    """Return the places of items in their sorted order."""
    return sorted(range(len(x)), key=x.__getitem__, reverse=reverse)


def arrange(x: list[Any], places: list[int]) -> None:
    """Bring the items of a list into an order."""
    x[:] = [x[i] for i in places]


def arrange_back(d: list[Any], places: list[int]) -> None:
    """Undo `arrange` in a shadow."""
    found = [None] * len(d)
    for i, dy in zip(places, d, strict=True):
        found[i] = dy
    d[:] = found


def places_equal(x: Any, y: Any) -> list[int]:
    """Return the places of the items that equal a value."""
    return [i for i, item in enumerate(x) if item == y]


def add_array(d: list[Any], dy: np.ndarray) -> None:
    """Add the cotangent of the array that was made of a list."""
    add_all(d, dy.tolist() if dy.ndim == 1 else [*dy])


def add_rows(shadows: dict[int, Any], rows: list[Any], dy: np.ndarray) -> None:
    """Add the cotangent of the array that was made of several lists."""
    for row, part in zip(rows, dy, strict=True):
        add_array(shadow_of(shadows, row), part)


def nest_of(shadows: dict[int, Any], x: list[Any]) -> list[Any]:
    """Return the cotangent of a list of numbers, or of lists of those."""
    rows = any(type(item) is list for item in x)
    return [nest_of(shadows, item) for item in x] if rows else shadow_of(shadows, x)
