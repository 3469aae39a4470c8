"""Whether a pullback or a pushforward is linear, as far as one more call can tell.

What it gives for a number is compared with what it gives for -32 times that: so what clips, what
adds a constant, and what depends on the sign is told from what is linear, and nothing is lost by
rounding. A limit above 32 times the number is not seen. `rulescore.testing.check_rrule` looks at
more numbers.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rulescore._array import Array
from rulescore._tangent import Tangent

__all__ = ["scales"]

_FACTOR = -32.0
_RELATIVE, _OF_LARGEST = 1e-4, 1e-6


def scales(f: Callable[..., Any], xs: tuple[Any, ...], y: Any) -> bool:
    """Return whether a function gives the multiple for a multiple of its arguments.

    Arguments:
        f: the function.
        xs: its arguments: numbers, arrays, structures of them, and `None`.
        y: what it gives for them.

    It is true where that cannot be told, as where the function raises.
    """
    try:
        with np.errstate(all="ignore"):
            multiple = f(*[_times(x) for x in xs])
            return all(_is_multiple(a, b) for a, b in _pairs(y, multiple))
    except Exception:  # it is an error of no other call
        return True


def _times(x: Any) -> Any:
    if type(x) in (list, tuple):
        return type(x)([_times(part) for part in x])
    if type(x) is dict:
        return {key: _times(part) for key, part in x.items()}
    if type(x) is Tangent:
        return Tangent(x._primal, **{key: _times(part) for key, part in x.items()})
    return None if x is None else x * _FACTOR


def _pairs(a: Any, b: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the numbers and arrays at the same places of two structures."""
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        for x, y in zip(a, b, strict=False):
            yield from _pairs(x, y)
    elif isinstance(a, dict | Tangent) and isinstance(b, dict | Tangent):
        others = dict(b.items())
        for key, x in a.items():
            yield from _pairs(x, others.get(key))
    elif _is_floating(a) and _is_floating(b) and np.shape(a) == np.shape(b):
        yield np.asarray(a), np.asarray(b)


def _is_floating(x: Any) -> bool:
    return isinstance(x, float | complex | np.inexact) or (
        isinstance(x, np.ndarray | Array) and np.asarray(x).dtype.kind in "fc"
    )


def _is_multiple(once: Any, multiple: Any) -> bool:
    expected = once * _FACTOR
    known = np.isfinite(expected) & np.isfinite(multiple)
    size = np.max(np.abs(multiple), initial=0.0, where=known)
    error = np.abs(np.where(known, expected - multiple, 0.0))
    is_near = error <= _RELATIVE * np.abs(expected) + _OF_LARGEST * size
    return bool(np.all(is_near | (np.isnan(expected) & np.isnan(multiple))))
