"""What dual code does with containers of tangents, as it runs."""

import heapq
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._python.library.heapq import in_python

HEAPS = in_python(heapq)


def still_like(x: Any) -> Any:
    """Return the container of tangents of a container in which nothing moves."""
    if isinstance(x, dict):
        return {key: _zero_like(item) for key, item in x.items()}
    zeros = [_zero_like(item) for item in x]
    return deque(zeros, x.maxlen) if isinstance(x, deque) else type(x)(zeros)


def _zero_like(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.zeros_like(x) if x.dtype.kind in "fc" else None
    return 0.0 if isinstance(x, int | float | np.number) else None


def tangents_given(d: list[Any]) -> list[Any]:
    """Return the list of tangents that is given, to be changed: a copy, and so of lists in it."""
    return [tangents_given(item) if type(item) is list else item for item in d]


def mean_at(d: Any, places: list[int]) -> Any:
    """Return the tangent of the largest or smallest item: the mean, where several are equal."""
    return sum([d[i] for i in places]) / len(places)


@dataclass(eq=False, slots=True)
class _Both:
    """An item of a heap with its tangent: the items decide which comes first."""

    x: Any
    d: Any

    def __lt__(self, other: "_Both") -> Any:
        return self.x < other.x


@dataclass(eq=False, slots=True)
class _Beside:
    """A heap and the list of tangents beside it, as one list for the functions of `heapq`."""

    x: list[Any]
    d: list[Any]

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, at: int) -> _Both:
        return _Both(self.x[at], self.d[at])

    def __setitem__(self, at: int, both: _Both) -> None:
        self.x[at], self.d[at] = both.x, both.d

    def append(self, both: _Both) -> None:
        """Add an item."""
        self.x.append(both.x)
        self.d.append(both.d)

    def pop(self) -> _Both:
        """Take the last item."""
        return _Both(self.x.pop(), self.d.pop())


def heap_with_tangents(f: Any, x: list[Any], d: list[Any], *item: Any) -> tuple[Any, Any]:
    """Call a function of `heapq` on a heap, and have the list of its tangents go along.

    Arguments:
        f: the function.
        x, d: the heap, and its tangents.
        item: the item that is pushed, and its tangent.
    """
    found = HEAPS[f](_Beside(x, d), *([_Both(*item)] if item else []))
    return (None, None) if found is None else (found.x, found.d)
