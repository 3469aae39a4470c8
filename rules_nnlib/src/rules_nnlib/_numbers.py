"""The arguments that all activations and losses take: real numbers, whose precision is kept."""

from functools import wraps
from numbers import Real
from typing import Any

import numpy as np

_PYTHON = (float, int, bool)
_OWN = (float, np.ndarray, np.generic)


def elementwise(formula):
    """Make a function of one real argument from its formula.

    Integers and truth values count as float64, floating arrays keep their precision, and a Python
    number gives a Python float. Raises `TypeError` for complex numbers, and for other than numbers.
    """

    @wraps(formula)
    def activation(x):
        return plain(formula(real(x)), x)

    return activation


def real(x: Any) -> Any:
    """Return `x` as a floating number or array, or raise `TypeError` where it is not real."""
    if type(x) is float:
        return x
    dtype = getattr(x, "dtype", None)
    if dtype is None and isinstance(x, Real):
        return float(x)
    kind = getattr(dtype, "kind", None)
    if kind == "f":
        return x
    if kind is not None and kind in "iub":
        return x.astype(np.float64)
    given = type(x).__name__ if dtype is None else f"{type(x).__name__} of {dtype}"
    raise TypeError(f"activations and losses are for real numbers and arrays of them, not {given}")


def plain(y: Any, *xs: Any) -> Any:
    """Return `y` as a Python float where all of `xs` are Python numbers, else as it is."""
    for x in xs:
        if type(x) not in _PYTHON:
            return y
    return float(y)


def bounded(x: Any, limit: float) -> Any:
    """Return `x` cut off at -limit and limit (a third of the cost of `np.clip` on a number)."""
    return np.minimum(np.maximum(x, -limit), limit)


def kink(x: Any, left: Any, right: Any) -> Any:
    """Return the slope at `x` of a function with slope `left` below 0 and `right` above.

    At 0 it is 0 where the function has an extremum there, else the mean of both slopes.
    """
    at_zero = (left * right > 0) * (left + right) / 2
    return np.where(x < 0, left, np.where(x > 0, right, at_zero))


def times(dy: Any, x: Any) -> Any:
    """Return dy * x, and 0 where dy is 0: a strong zero, which wins over infinity and NaN."""
    if (type(dy) is float and dy) or (isinstance(x, _OWN) and np.isfinite(x).all()):
        return dy * x
    with np.errstate(all="ignore"):
        # only where it wins: elsewhere the derivative by dy is x, at 0, too
        return np.where((dy == 0) & ~np.isfinite(x), 0.0, dy * x)
