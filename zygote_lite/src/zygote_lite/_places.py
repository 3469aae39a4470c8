"""The cotangents of the entries of a deque: a deque of them, one for each entry, in its order."""

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
