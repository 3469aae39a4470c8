"""Derivatives without any rule: central differences at several steps, and the complex step."""

import itertools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

STEPS = tuple([1e-2 / 4**k for k in range(8)])  # times the size of what is moved
_FINE = tuple([1e-2 / 4**k for k in range(8, 14)])  # where the smallest of these disagree
_CHANCE = 10.0  # times what differences may be off, they disagree
_TINY = 1e-30  # the complex step needs no difference, so the step cannot be too small
_UNIT = 2 * float(np.finfo(float).eps)
_NEAR = 1e-3  # abs and its like take complex numbers, and are not analytic


def derivative(at: Callable[[Any], Any], size: float) -> tuple[float, float, float] | None:
    """Return the derivative at 0 of a function of a number, how far it may be off, and its bend.

    The bend is 0, unless the slopes to both sides differ however small the step is: by so much.
    Then there is a kink so near that any slope between them may be the derivative.

    Arguments:
        at: the function; where it raises, or is not finite, another step is taken.
        size: the size of what is moved: steps are relative to it, or to 1 where it is smaller.

    Differences are extrapolated (Richardson) from pairs of steps, and taken where neighbours agree
    best: larger steps leave the function's shape, smaller ones its precision. Where the function
    takes complex numbers and agrees, the complex step is taken, which is as precise as the
    function. Where the smallest steps agree on something else, there is a kink between them and
    the larger ones, and they are taken. Returns `None` where there are too few steps to tell.
    """
    size = max(size, 1.0)
    slopes = _slopes(at, STEPS, size)
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
    pairs_off = [
        (abs(a - b) + rounding + noise / STEPS[k + 2], b, k) for k, a, b, rounding in pairs
    ]
    off, best, k = min(pairs_off)
    last, rounding = [known for known in slopes if known is not None][-1]
    finer = None
    if abs(last - best) > _CHANCE * (off + rounding) or off > _NEAR * abs(best):
        finer = _finer(at, size, best, off)
    if finer is not None:
        off, best = finer
    bend = _bend(at, [step * size for step in STEPS[k : k + 3]]) if finer is None else 0.0
    exact = _complex_step(at)
    if exact is not None and abs(exact - best) <= off + _NEAR * max(abs(exact), abs(best)):
        # the terms that it is a sum of are rounded, too: a sum of nearly 0 has no more digits
        return exact, min(off, 1e-12 * abs(exact) + _UNIT * _size_at(at) / size), bend
    return best, off, bend


def quietly(f: Callable[..., Any], *xs: Any) -> Any:
    """Return what `f` returns, without a word about the numbers on the way."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return f(*xs)


def _slopes(
    at: Callable[[Any], Any], steps: Sequence[float], size: float
) -> list[tuple[float, float] | None]:
    slopes = [_central(at, step * size) for step in steps]
    if any(known is not None and abs(known[0]) > known[1] for known in slopes):
        # two values that were rounded to the same tell nothing of what is between them
        slopes = [None if known is None or not known[0] else known for known in slopes]
    return slopes


def _finer(
    at: Callable[[Any], Any], size: float, best: float, coarse: float
) -> tuple[float, float] | None:
    """Return how far the slope of still smaller steps may be off, and it, where three agree.

    Rounding makes them disagree, and more so the smaller they are; also the same values at all of
    them tell nothing.
    """
    slopes = _slopes(at, _FINE, size)
    found = [
        (max(a[0], b[0], c[0]) - min(a[0], b[0], c[0]) + c[1], b[0])
        for a, b, c in zip(slopes, slopes[1:], slopes[2:], strict=False)
        if a is not None and b is not None and c is not None and b[0]
    ]
    off, slope = min(found, default=(np.inf, best))
    return (off, slope) if _CHANCE * off < max(abs(slope - best), coarse) else None


def _bend(at: Callable[[Any], Any], steps: Sequence[float]) -> float:
    """Return by how much the slopes to both sides differ, if smaller steps do not lessen it."""
    try:
        middle = float(quietly(at, 0.0))
        values = [(float(quietly(at, h)), float(quietly(at, -h))) for h in steps]
    except Exception:  # there is no value on one side
        return 0.0
    found = [abs((a - middle) + (b - middle)) / h for h, (a, b) in zip(steps, values, strict=True)]
    rounding = [
        _UNIT * max(abs(a), abs(b), abs(middle)) / h
        for h, (a, b) in zip(steps, values, strict=True)
    ]
    stays = all(a < 2 * b and b < 2 * a for a, b in itertools.pairwise(found))
    clear = all(a > 100 * b for a, b in zip(found, rounding, strict=True))
    return max(found) if stays and clear else 0.0


def _size_at(at: Callable[[Any], Any]) -> float:
    try:
        return abs(float(quietly(at, 0.0)))
    except Exception:
        return 0.0


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
