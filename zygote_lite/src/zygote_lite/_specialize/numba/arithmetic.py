"""Arithmetic as Python has it, in the numbers of a machine: code is left where these differ.

The functions are compiled with the code that calls them. Integers stay within what a float holds
exactly, so that an integer and the float of the same value are one and the same.
"""

import functools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LARGEST = 2**53
"""The largest integer that is dealt with."""

LEFT = "left to the generic engine"
HELPERS: set[Callable[..., Any]] = set()


def _declare_helper(f: Callable[..., Any]) -> Callable[..., Any]:
    HELPERS.add(f)
    return f


def _bounded(f: Any) -> Callable[..., Any]:
    """Return an operation whose result may not be larger than a float holds exactly."""

    def bounded(x: Any, y: Any) -> Any:
        z = f(x, y)
        if not -LARGEST <= z <= LARGEST:
            raise RuntimeError(LEFT)
        return z

    bounded.__name__ = f"bounded_{f.__name__}"
    return _declare_helper(bounded)


@_declare_helper
def bounded_product(x: Any, y: Any) -> Any:
    """Return a product that a float holds exactly."""
    if not abs(float(x) * float(y)) <= LARGEST:
        raise RuntimeError(LEFT)
    return x * y


@_declare_helper
def power(x: Any, y: Any) -> Any:
    """Return a power of floats: finite, and real."""
    z = math.pow(float(x), float(y))
    if not math.isfinite(z):
        raise RuntimeError(LEFT)
    return z


@_declare_helper
def whole_power(x: Any, n: Any) -> Any:
    """Return a power of integers, whose exponent is neither negative nor large."""
    if not 0 <= n <= 64:
        raise RuntimeError(LEFT)
    z = 1
    for _ in range(n):
        if not abs(float(z) * float(x)) <= LARGEST:
            raise RuntimeError(LEFT)
        z = z * x
    return z


@_declare_helper
def greatest(x: Any, y: Any) -> Any:
    """Return what `max` does: the first, unless the second is greater."""
    return y if y > x else x


@_declare_helper
def least(x: Any, y: Any) -> Any:
    """Return what `min` does: the first, unless the second is less."""
    return y if y < x else x


@_declare_helper
def whole_entry(x: Any, i: Any) -> Any:
    """Return an entry of an array of integers."""
    z = x[i]
    if not -LARGEST <= z <= LARGEST:
        raise RuntimeError(LEFT)
    return z


def _rounded(f: Any) -> Callable[..., Any]:
    """Return an operation from floats to integers."""

    def rounded(x: Any) -> Any:
        if not abs(x) <= LARGEST:
            raise RuntimeError(LEFT)
        return int(f(x))

    rounded.__name__ = f"rounded_{f.__name__}"
    return _declare_helper(rounded)


@functools.cache
def checked(f: Any, count: int) -> Callable[..., Any]:
    """Return a function of floats that leaves where its value is not finite: Python may raise."""
    if count == 1:

        def checked(x: Any) -> Any:
            z = f(x)
            if not math.isfinite(z):
                raise RuntimeError(LEFT)
            return z
    else:

        def checked(x: Any, y: Any) -> Any:  # type: ignore[misc]
            z = f(x, y)
            if not math.isfinite(z):
                raise RuntimeError(LEFT)
            return z

    checked.__name__ = f"checked_{f.__name__}"
    return _declare_helper(checked)


@dataclass(frozen=True)
class Arithmetic:
    """The replacements of an operator: of floats, of integers, and where either may result."""

    of_floats: Any = None
    of_whole: Any = None
    of_mixed: Any = None


MACHINE_ARITHMETIC = {
    operator.add: Arithmetic(None, _bounded(operator.add), _bounded(operator.add)),
    operator.sub: Arithmetic(None, _bounded(operator.sub), _bounded(operator.sub)),
    operator.mul: Arithmetic(None, bounded_product, bounded_product),
    operator.floordiv: Arithmetic(None, _bounded(operator.floordiv), None),
    operator.mod: Arithmetic(None, _bounded(operator.mod), None),
    operator.pow: Arithmetic(power, whole_power, None),
}
"""Division is not among them: it always gives a float."""

ROUNDED = {
    int: _rounded(int),
    math.floor: _rounded(math.floor),
    math.ceil: _rounded(math.ceil),
    math.trunc: _rounded(math.trunc),
}
