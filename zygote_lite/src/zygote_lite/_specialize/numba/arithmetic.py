"""Arithmetic as Python has it, in the numbers of a machine: code is left where these differ.

All functions of this module are compiled with the code that calls them. Integers stay within what a
float holds exactly, so that an integer and the float of the same value are one and the same.
"""

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite._specialize.typed.reasons import LEFT

LARGEST = 2**53
"""The largest integer that is dealt with."""

FLOAT, INTEGER, MIXED, TRUTH = "float", "integer", "mixed", "truth"
"""The kinds of numbers: a float, an integer, either of the two, a truth value."""


def _bounded(f: Any) -> Callable[..., Any]:
    """Return an operation whose result may not be larger than a float holds exactly."""

    def bounded(x: Any, y: Any) -> Any:
        z = f(x, y)
        if not -LARGEST <= z <= LARGEST:
            raise RuntimeError(LEFT)
        return z

    bounded.__name__ = f"bounded_{f.__name__}"
    return bounded


def bounded_product(x: Any, y: Any) -> Any:
    """Return a product that a float holds exactly."""
    if not abs(float(x) * float(y)) <= LARGEST:
        raise RuntimeError(LEFT)
    return x * y


def power(x: Any, y: Any) -> Any:
    """Return a power of floats: finite, and real."""
    z = math.pow(float(x), float(y))
    if not math.isfinite(z):
        raise RuntimeError(LEFT)
    return z


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


def greatest(x: Any, y: Any) -> Any:
    """Return what `max` does: the first, unless the second is greater."""
    return y if y > x else x


def least(x: Any, y: Any) -> Any:
    """Return what `min` does: the first, unless the second is less."""
    return y if y < x else x


def whole_entry(x: Any, i: Any) -> Any:
    """Return an entry of an array of integers."""
    z = x[i]
    if not -LARGEST <= z <= LARGEST:
        raise RuntimeError(LEFT)
    return z


def _rounded(f: Any) -> Callable[..., Any]:
    """Return an operation from floats to integers."""

    def rounded(x: Any) -> Any:
        if not -LARGEST <= x <= LARGEST:
            raise RuntimeError(LEFT)
        return int(f(x))

    rounded.__name__ = f"rounded_{f.__name__}"
    return rounded


@functools.lru_cache(maxsize=1024)
def checked(f: Any) -> Callable[..., Any]:
    """Return a function of floats that leaves where its value is not finite: Python may raise."""

    def checked(*xs: Any) -> Any:
        z = f(*xs)
        if not math.isfinite(z):
            raise RuntimeError(LEFT)
        return z

    checked.__name__ = f"checked_{f.__name__}"
    return checked


COSTLY = {
    math.acos, math.acosh, math.asin, math.asinh, math.atan, math.atan2, math.atanh, math.copysign,
    math.cos, math.cosh, math.degrees, math.erf, math.erfc, math.exp, math.expm1, math.fabs,
    math.gamma, math.hypot, math.lgamma, math.log, math.log10, math.log1p, math.log2,
    math.pow, math.radians, math.sin, math.sinh, math.sqrt, math.tan, math.tanh,
    np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.arctan2, np.sinh, np.cosh, np.tanh,
    np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sqrt, np.square, np.absolute,
    np.fabs, np.maximum, np.minimum, np.negative, np.add, np.subtract, np.multiply, np.divide,
    np.hypot, np.sign,
}  # fmt: skip
"""Functions of floats, which are left where Python might raise."""
_PLAIN = (
    float, np.float64, bool, math.isfinite, math.isnan, math.isinf, operator.not_, operator.truediv,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip
SIGNS = (operator.neg, operator.pos, operator.abs, abs)


def _integers_too(of_floats: Any, of_integers: Any) -> dict[str, Any]:
    return {FLOAT: of_floats, INTEGER: of_integers, MIXED: of_integers}


COMPILED: dict[Any, dict[str, Any]] = {
    **{f: dict.fromkeys((FLOAT, INTEGER, MIXED, TRUTH), f) for f in _PLAIN},
    max: dict.fromkeys((FLOAT, INTEGER, MIXED, TRUTH), greatest),
    min: dict.fromkeys((FLOAT, INTEGER, MIXED, TRUTH), least),
    **{f: dict.fromkeys((FLOAT, INTEGER, MIXED), f) for f in SIGNS},
    operator.abs: dict.fromkeys((FLOAT, INTEGER, MIXED), abs),
    operator.add: _integers_too(operator.add, _bounded(operator.add)),
    operator.sub: _integers_too(operator.sub, _bounded(operator.sub)),
    operator.mul: _integers_too(operator.mul, bounded_product),
    operator.floordiv: {FLOAT: operator.floordiv, INTEGER: _bounded(operator.floordiv)},
    operator.mod: {FLOAT: operator.mod, INTEGER: _bounded(operator.mod)},
    operator.pow: {FLOAT: power, INTEGER: whole_power},
    **{f: {INTEGER: _rounded(f)} for f in (int, math.floor, math.ceil, math.trunc)},
    **{f: {TRUTH: f} for f in (operator.and_, operator.or_, operator.xor)},
    **{f: {FLOAT: checked(f)} for f in COSTLY},
    math.fmod: {FLOAT: checked(np.fmod)},  # Numba does not know the first
}
"""The functions that Numba compiles in the place of functions of numbers, by the result's kind."""
