"""The normal distribution, to full precision in both tails, on NumPy alone.

Source: W. J. Cody, "Rational Chebyshev approximation for the error function", Mathematics of
Computation 23 (1969), whose coefficients (highest power first) are good to 18 digits.
"""

import math
from typing import Any

import numpy as np

from rules_nnlib._numbers import bounded, elementwise

_SMALL = (
    (
        1.85777706184603153e-1,
        3.16112374387056560e0,
        1.13864154151050156e2,
        3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (
        1.0,
        2.36012909523441209e1,
        2.44024637934444173e2,
        1.28261652607737228e3,
        2.84423683343917062e3,
    ),
)
_MIDDLE = (
    (
        2.15311535474403846e-8,
        5.64188496988670089e-1,
        8.88314979438837594e0,
        6.61191906371416295e1,
        2.98635138197400131e2,
        8.81952221241769090e2,
        1.71204761263407058e3,
        2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0,
        1.57449261107098347e1,
        1.17693950891312499e2,
        5.37181101862009858e2,
        1.62138957456669019e3,
        3.29079923573345963e3,
        4.36261909014324716e3,
        3.43936767414372164e3,
        1.23033935480374942e3,
    ),
)
_TAIL = (
    (
        1.63153871373020978e-2,
        3.05326634961232344e-1,
        3.60344899949804439e-1,
        1.25781726111229246e-1,
        1.60837851487422766e-2,
        6.58749161529837803e-4,
    ),
    (
        1.0,
        2.56852019228982242e0,
        1.87295284992346725e0,
        5.27905102951428412e-1,
        6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)
_VANISHES = 40.0  # beyond it the density and the lower tail are 0 in every precision


def erfc(x: Any) -> Any:
    """Return the complementary error function, with an error of 1 in the 15th digit at most.

    Arguments:
        x: a floating number or array; its precision is kept.
    """
    if type(x) is float:
        return math.erfc(x)
    if x.dtype == np.float16:
        return erfc(x.astype(np.float32)).astype(np.float16)
    z = np.minimum(abs(x), _VANISHES)
    small = np.minimum(z, 0.46875)
    middle = np.clip(z, 0.46875, 4.0)
    tail = np.maximum(z, 4.0)
    inverse = 1 / (tail * tail)
    decay = _exp_minus_square(z)
    near = 1 - small * _ratio(small * small, _SMALL)
    between = decay * _ratio(middle, _MIDDLE)
    beyond = decay * (1 / math.sqrt(math.pi) - inverse * _ratio(inverse, _TAIL)) / tail
    y = np.where(z <= 0.46875, near, np.where(z <= 4.0, between, beyond))
    # a NaN fails every comparison above
    return np.where(np.isnan(x), x, np.where(x < 0, 2 - y, y))


@elementwise
def normal_cdf(x):
    """Return the standard normal distribution function, Φ(x)."""
    return 0.5 * erfc(-x * math.sqrt(0.5))


@elementwise
def normal_pdf(x):
    """Return the standard normal density, φ(x)."""
    x = bounded(x, _VANISHES)
    return np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def _ratio(x, coefficients):
    numerator, denominator = coefficients
    above, below = numerator[0], denominator[0]
    for a, b in zip(numerator[1:], denominator[1:], strict=True):
        above = above * x + a
        below = below * x + b
    return above / below


def _exp_minus_square(z):
    # z * z has a rounding error that exp would magnify: take out a part whose square is exact
    head = np.floor(z * 16) / 16
    return np.exp(-head * head) * np.exp(-(z - head) * (z + head))
