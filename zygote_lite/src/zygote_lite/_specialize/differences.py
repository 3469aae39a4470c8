"""Hold an answer of transformed code to finite differences, where the tape refuses the function.

The tape has run an iterator in C whose source came to be active later. Transformed code has a
generator in its place, and follows it: so there is no other answer to compare with.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

_WIDTHS = (1e-3, 1e-4, 1e-5, 1e-6)
_NEARLY = 1e-4  # relative: what differences tell of numbers of double precision


class UncheckedWarning(UserWarning):
    """`ZYGOTE_LITE_CHECK` could not compare an answer with anything."""


def contradicted(
    f: Any, xs: tuple[Any, ...], active: list[int], gradients: Sequence[Any], dy: Any = 1.0
) -> str | None:
    """Return how the slope of a function differs from a gradient; `None` where it does not.

    It is asked along one direction. Where the function has no slope there, a kink, or has other
    arguments than numbers of double precision, a warning says so.

    Arguments:
        f: the function, which changes nothing.
        xs: its arguments.
        active: the numbers of those that are differentiated.
        gradients: what transformed code gives for these.
        dy: what it was pulled back from.
    """
    directions = _directions([xs[i] for i in active])
    if directions is None:
        unchecked(f)
        return None
    told = math.fsum(
        float(np.sum(np.asarray(0.0 if g is None else g) * v))
        for g, v in zip(gradients, directions, strict=True)
    )

    def along(t: float) -> float:
        moved = [*xs]
        for i, v in zip(active, directions, strict=True):
            moved[i] = moved[i] + t * v
        with np.errstate(all="ignore"):
            return float(np.sum(np.asarray(f(*moved)) * dy))

    differences = list(_both_sides(along))
    near = _NEARLY * max(1.0, abs(told))
    if any(abs(central - told) <= near for central, _ in differences):
        return None
    smooth = [central for central, kink in differences if kink <= near]
    if not smooth:
        unchecked(f)
        return None
    return f"the slope along one direction is {told!r}, and by differences {smooth[-1]!r}"


def unchecked(f: Any) -> None:
    """Warn that an answer was compared with nothing."""
    name = f.__qualname__
    text = f"{name}: ZYGOTE_LITE_CHECK compares with nothing, since the tape refuses an iterator"
    warnings.warn(text, UncheckedWarning, stacklevel=2)


def _directions(xs: list[Any]) -> list[Any] | None:
    """Return a direction for each argument; `None` where they are not of double precision."""
    draw = np.random.default_rng(0)
    found: list[Any] = []
    for x in xs:
        if type(x) is float:
            found.append(float(draw.normal()))
        elif type(x) is np.ndarray and x.dtype == np.float64:
            found.append(draw.normal(size=x.shape))
        else:
            return None
    return found


def _both_sides(along: Callable[[float], float]) -> Iterator[tuple[float, float]]:
    """Yield central differences, each with by how much the slopes of the two sides differ."""
    try:
        middle = along(0.0)
        for h in _WIDTHS:
            after, before = along(h), along(-h)
            sides = (after - middle) / h, (middle - before) / h
            if all(map(math.isfinite, sides)):
                yield (after - before) / (2.0 * h), abs(sides[0] - sides[1])
    except (ArithmeticError, TypeError, ValueError):  # beside where the function is defined
        return
