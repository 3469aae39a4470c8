"""Derivatives along a direction without any rule: central differences, and the complex step."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rulescore.testing._leaves import difference, inner, leaves, moved

STEPS = (1e-5, 1e-4, 1e-6, 1e-3, 1e-7)
_TINY = 1e-20  # the complex step needs no difference, so the step cannot be too small


def quietly(call: Callable[[], Any]) -> Any:
    """Return what `call` returns, without a word about the numbers on the way."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def derivatives(
    f: Callable[..., Any], xs: tuple[Any, ...], position: int, v: Any, dy: Any
) -> tuple[list[float], float | None]:
    """Return estimates of `d/dt <dy, f(xs + t v)>` at 0, where `v` moves one argument.

    Estimates are taken at several step sizes: what is too large for one function is too small for
    another. Where the function takes complex numbers and is analytic, the complex step is the
    second that is returned: it is as precise as the function; else `None`.
    """

    def at(step: Any) -> Any:
        there = [moved(x, v if i == position else None, step) for i, x in enumerate(xs)]
        return quietly(lambda: f(*there))

    found: list[float] = []
    problem: Exception | None = None
    for step in STEPS:
        try:
            change = quietly(partial(difference, at(step), at(-step)))
            estimate = inner(dy, change) / (2 * step)
        except Exception as error:  # the step has left the domain: a smaller one may not
            problem = error
            continue
        found.append(estimate)
    if not found and problem is not None:
        raise problem
    if all(np.isrealobj(leaf) for x in (*xs, dy) for _, leaf in leaves(x)):
        return found, _complex_step(at, dy, found)
    return found, None


def _complex_step(at: Callable[[Any], Any], dy: Any, found: list[float]) -> float | None:
    try:
        y = at(_TINY * 1j)
        estimate = inner(dy, _imaginary(y)) / _TINY
    except Exception:
        return None
    # abs and its like take complex numbers, and are not analytic
    near = [d for d in found if abs(d - estimate) <= 1e-3 * max(abs(d), abs(estimate), 1e-6)]
    return estimate if near else None


def _imaginary(y: Any) -> Any:
    if isinstance(y, list | tuple):
        return [_imaginary(entry) for entry in y]
    if isinstance(y, dict):
        return {name: _imaginary(entry) for name, entry in y.items()}
    return np.imag(y)
