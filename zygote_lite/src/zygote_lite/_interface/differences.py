"""Derivatives without any rule: central differences at several steps, and the complex step."""

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

STEPS = tuple([1e-2 / 4**k for k in range(8)])  # times the size of what is moved
_TINY = 1e-30  # the complex step needs no difference, so the step cannot be too small
_NEAR = 1e-3  # abs and its like take complex numbers, and are not analytic


def derivative(at: Callable[[Any], Any], size: float) -> tuple[float, float] | None:
    """Return the derivative at 0 of a function of a number, and how far it may be off.

    Arguments:
        at: the function; where it raises, or is not finite, another step is taken.
        size: the size of what is moved: steps are relative to it, or to 1 where it is smaller.

    Differences are extrapolated (Richardson) from pairs of steps, and taken where neighbours agree
    best: larger steps leave the function's shape, smaller ones its precision. Where the function
    takes complex numbers and agrees, the complex step is taken, which is as precise as the
    function. Returns `None` where there are too few steps to tell.
    """
    slopes = [_central(at, step * max(size, 1.0)) for step in STEPS]
    if any(known is not None and known[0] for known in slopes):
        # two values that were rounded to the same tell nothing of what is between them
        slopes = [None if known is None or not known[0] else known for known in slopes]
    found = [
        None if a is None or b is None else ((16 * b[0] - a[0]) / 15, b[1])
        for a, b in itertools.pairwise(slopes)
    ]
    pairs = [
        (k, a[0], b[0], b[1])
        for k, (a, b) in enumerate(itertools.pairwise(found))
        if a is not None and b is not None
    ]
    if not pairs:
        return None
    # what neighbours differ by at the smallest steps is noise in the values, which is less in a
    # difference the larger its step is; two that agree by chance would be taken for good
    noise = max(abs(a - b) * STEPS[k + 2] for k, a, b, _ in pairs[-3:])
    pairs_off = [(abs(a - b) + rounding + noise / STEPS[k + 2], b) for k, a, b, rounding in pairs]
    off, best = min(pairs_off)
    exact = _complex_step(at)
    if exact is not None and abs(exact - best) <= off + _NEAR * max(abs(exact), abs(best)):
        return exact, min(off, 1e-12 * abs(exact))
    return best, off


def quietly(f: Callable[..., Any], *xs: Any) -> Any:
    """Return what `f` returns, without a word about the numbers on the way."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(*xs)


def _central(at: Callable[[Any], Any], step: float) -> tuple[float, float] | None:
    """Return a central difference, and how far the rounding of the values may put it off."""
    try:
        above, below = quietly(at, step), quietly(at, -step)
        slope = (float(above) - float(below)) / (2 * step)
        dtype = getattr(above, "dtype", np.dtype(float))
        unit = np.finfo(dtype if dtype.kind == "f" else float).eps
    except Exception:  # the step has left the domain: a smaller one may not
        return None
    rounding = 2 * float(unit) * max(abs(float(above)), abs(float(below))) / step
    return (slope, rounding) if np.isfinite(slope) else None


def _complex_step(at: Callable[[Any], Any]) -> float | None:
    try:
        slope = float(np.imag(quietly(at, _TINY * 1j))) / _TINY
    except Exception:
        return None
    return slope if np.isfinite(slope) else None
