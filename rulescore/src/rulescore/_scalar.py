"""Elementwise rules: from the partial derivatives to a rule with broadcasting undone."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore._array import Array
from rulescore._project import project

Run = Callable[..., tuple[Any, Any]]


def elementwise(f: Any, partials: Any, arity: int, takes_out: bool, poles: bool) -> Run:
    """Return the body of an elementwise rule of `arity` inputs from its `partials`."""

    def evaluate(xs: tuple[Any, ...], y: Any) -> tuple[Any, ...]:
        given = partials(*xs, y) if takes_out else partials(*xs)
        return given if arity > 1 else (given,)

    def careful(dy: Any, xs: tuple[Any, ...], y: Any) -> tuple[Any, ...]:
        with np.errstate(all="ignore"):
            try:
                given = evaluate(xs, y)
            except (ZeroDivisionError, OverflowError, ValueError):
                # Python's floats raise where IEEE arithmetic, and so NumPy, says inf or nan
                given = evaluate(tuple(map(_ieee, xs)), _ieee(y))
            return tuple([pull(dy, dx, x) for dx, x in zip(given, xs, strict=True)])

    def unary(x: Any) -> tuple[Any, Any]:
        y = f(x)

        def pullback(dy: Any) -> tuple[Any, ...]:
            if poles:
                return careful(dy, (x,), y)
            return (pull(dy, partials(x, y) if takes_out else partials(x), x),)

        return y, pullback

    def binary(a: Any, b: Any) -> tuple[Any, Any]:
        y = f(a, b)

        def pullback(dy: Any) -> tuple[Any, ...]:
            if poles:
                return careful(dy, (a, b), y)
            da, db = partials(a, b, y) if takes_out else partials(a, b)
            return pull(dy, da, a), pull(dy, db, b)

        return y, pullback

    def nary(*xs: Any) -> tuple[Any, Any]:
        y = f(*xs)

        def pullback(dy: Any) -> tuple[Any, ...]:
            return careful(dy, xs, y)

        return y, pullback

    by_arity: dict[int, Run] = {1: unary, 2: binary}
    return by_arity.get(arity, nary)


def pull(dy: Any, partial: Any, x: Any) -> Any:
    """Return the cotangent of `x`: `conj(partial) * dy`, summed to the shape of `x`.

    A zero in `dy` is a strong zero: it wins over an infinite or undefined `partial`, so that a
    branch that `np.where` did not take never leaks into the gradient. A `partial` of `None` is
    "no gradient".
    """
    if partial is None:
        return None
    if type(partial) is float and type(dy) is float and type(x) is float:
        return dy * partial if dy else 0.0
    if type(partial) is int and partial in (1, -1):
        return project(dy if partial == 1 else -dy, x)
    if np.iscomplexobj(partial):
        partial = np.conj(partial)
    if isinstance(partial, Array) or isinstance(dy, Array):
        return project(_times(dy, partial), x)
    return project(dy * partial if dy else dy, x)


def _times(dy: Any, partial: Any) -> Any:
    if type(partial) is np.ndarray:
        if math.isfinite(abs(np.vdot(partial, partial))):
            return dy * partial
    elif not isinstance(partial, Array):
        return dy * partial if np.isfinite(partial) else _masked(dy, partial)
    return _masked(dy, partial)


def _masked(dy: Any, partial: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.where(dy == 0, dy, dy * partial)


def _ieee(x: Any) -> Any:
    return np.float64(x) if type(x) in (float, int) else x
