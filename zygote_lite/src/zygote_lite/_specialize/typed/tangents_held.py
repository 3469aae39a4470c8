"""What dual code does with containers of tangents, as it runs."""

from collections import deque
from typing import Any

import numpy as np


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
