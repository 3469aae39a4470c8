"""What bodies of batching rules share: axes behind that of the batch, which is in front.

An array of a batch has one axis more than one of its entries. It is as long as the batch, or of
length 1 where the array is the same for all entries.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore._array import Array

__all__ = ["aligned", "behind", "called"]


def behind(axis: Any, x: Any) -> Any:
    """Return where an axis of an entry, or several, is in an array of the batch.

    Arguments:
        axis: the number of an axis, a tuple or list of them, or `None` for all.
        x: the array of the batch.

    Raises `AxisError` as NumPy does for an entry.
    """
    count = np.ndim(x) - 1
    if axis is None:
        return tuple(range(1, count + 1))
    if isinstance(axis, tuple | list):
        return tuple([behind(a, x) for a in axis])
    if not -count <= axis < count:
        raise np.exceptions.AxisError(axis, count)
    return int(axis) % count + 1


def aligned(*xs: Any) -> list[Any]:
    """Return arrays whose entries have as many axes as those of the one with most.

    Arguments:
        xs: arrays of the batch, and numbers, which stay as they are.

    Axes of length 1 are put in front of those of an entry: `(n, 3)` beside `(n, 2, 3)` becomes
    `(n, 1, 3)`. NumPy raises `ValueError` where the entries then do not broadcast.
    """
    most = max(np.ndim(x) for x in xs)
    return [_with_axes(x, most) if isinstance(x, Array) else x for x in xs]


def _with_axes(x: Any, count: int) -> Any:
    """Return an array whose entries have axes of length 1 in front, so that it has `count`."""
    return np.reshape(x, (len(x), *(1,) * (count - np.ndim(x)), *np.shape(x)[1:]))


def called(f: Callable[..., Any], *xs: Any, **options: Any) -> Any:
    """Return `f(*xs, **options)`, also of arrays of an AD (NEP 18).

    Arguments:
        f: a function that does not look for `__array_function__` itself, as those of SciPy.
        xs: its arguments. Where `vmap` is differentiated, they are, or hold, arrays of the AD.
        options: keyword arguments.

    Raises what `f` raises.
    """
    parts = [x if isinstance(x, list | tuple) else (x,) for x in xs]
    for x in itertools.chain(*parts):
        own = None if isinstance(x, np.ndarray) else getattr(x, "__array_function__", None)
        if own is not None:
            return own(f, (type(x),), xs, options)
    return f(*xs, **options)
