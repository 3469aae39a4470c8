"""Cotangents of the entries of a deque or list, which shift when entries come and go."""

import collections
from collections.abc import Iterator
from typing import Any


class Places:
    """Hold the cotangents of the entries of a deque by their places, as a dict would."""

    __slots__ = ("places",)

    def __init__(self, count: int) -> None:
        self.places: collections.deque[Any] = collections.deque([None] * count)

    def get(self, i: int, default: Any = None) -> Any:
        """Return the cotangent of one entry."""
        return self.places[i]

    def __setitem__(self, i: int, d: Any) -> None:
        self.places[i] = d

    def pop(self, i: int, default: Any = None) -> Any:
        """Return the cotangent of one entry, and forget it."""
        d, self.places[i] = self.places[i], None
        return d

    def items(self) -> Iterator[tuple[int, Any]]:
        """Yield the places that have a cotangent."""
        return ((i, d) for i, d in enumerate(self.places) if d is not None)

    def __bool__(self) -> bool:
        return any(d is not None for d in self.places)


class Row(Places):
    """Hold the cotangents of the entries of a list, in which entries were shifted.

    It ends where the last cotangent is, or before entries of the list that have none.
    """

    __slots__ = ()
    places: Any

    def __init__(self, slots: dict[int, Any]) -> None:
        self.places = [slots.get(i) for i in range(max(slots, default=-1) + 1)]

    def get(self, i: int, default: Any = None) -> Any:
        """Return the cotangent of one entry."""
        return self.places[i] if i < len(self.places) else default

    def __setitem__(self, i: int, d: Any) -> None:
        self.places += [None] * (i + 1 - len(self.places))
        self.places[i] = d

    def pop(self, i: int, default: Any = None) -> Any:
        """Return the cotangent of one entry, and forget it."""
        return super().pop(i) if i < len(self.places) else default

    def replace(self, place: int, count: int, entries: int) -> list[Any]:
        """Put some entries without cotangent for `count` others; return the cotangents of these."""
        given: list[Any] = self.places[place : place + count]
        if place < len(self.places):
            self.places[place : place + count] = [None] * entries
        return given + [None] * (count - len(given))
