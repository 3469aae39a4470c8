"""Cotangents of the entries of a deque or list, which shift when entries come and go."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(eq=False)
class Places:
    """Hold the cotangents of the entries of a deque by their places, as a dict would."""

    places: Any

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
