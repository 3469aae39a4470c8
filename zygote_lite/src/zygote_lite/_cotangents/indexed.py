"""Indexed cotangents: that of `x[i]` is an index and a value, added in place to that of `x`.

So reading every entry of an array in a loop costs one pass over the array. With a cotangent of the
whole array for each entry it would cost one pass for each.
"""

from typing import Any

import numpy as np

_BASIC_INDICES = (int, np.integer, slice, type(...), type(None))


class Part:
    """A cotangent that is zero but for the entries `index` of an array."""

    __slots__ = ("index", "like", "value")

    def __init__(self, like: Any, index: Any, value: Any) -> None:
        self.like, self.index, self.value = like, index, value

    def zeros(self) -> Any:
        """Return a cotangent of zeros for the whole array."""
        kind = self.like.dtype.kind
        return np.zeros_like(self.like, dtype=self.like.dtype if kind in "fc" else float)

    def add_to(self, d: Any) -> None:
        """Add the part to a cotangent of the whole array, in place."""
        value = self.value
        d[self.index] += value.real if d.dtype.kind != "c" else value


def is_part(x: Any, index: Any) -> bool:
    """Return whether `x[index]` reads each entry of a NumPy array once at most."""
    if type(x) is not np.ndarray or x.dtype.kind not in "fciu":
        return False
    if type(index) is tuple:
        return all(isinstance(i, _BASIC_INDICES) and not isinstance(i, bool) for i in index)
    return isinstance(index, _BASIC_INDICES) and not isinstance(index, bool)


def part_back(x: Any, index: Any) -> Any:
    """Return the pullback of reading `x[index]`."""

    def part_of(dy: Any) -> tuple[Any, ...]:
        return None, None if dy is None else Part(x, index, dy), None

    return part_of


def add_part(cotangents: dict[Any, Any], owned: set[Any], node: Any, part: Part) -> None:
    """Add a part to the cotangent of an array, in a buffer of our own."""
    if node not in owned:
        buffer = part.zeros()
        known = cotangents.get(node)
        if known is not None:
            buffer += known
        cotangents[node] = buffer
        owned.add(node)
    part.add_to(cotangents[node])
