"""NumPy's elementary functions, real and complex, one line of calculus each."""

import numpy as np

from rules_base.shared.axes import like
from rules_base.shared.constants import DEGREE, LOG2, LOG10, RADIAN
from rules_base.shared.norms import over_norm
from rulescore import RuleSet

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.ufuncs", may_raise=False)

# exponentials and logarithms
rule.scalar(np.exp)(lambda x, out: out)
rule.scalar(np.exp2)(lambda x, out: out * LOG2)
rule.scalar(np.expm1)(lambda x, out: out + 1)
rule.scalar(np.log)(lambda x: 1 / x)
rule.scalar(np.log2)(lambda x: 1 / (x * LOG2))
rule.scalar(np.log10)(lambda x: 1 / (x * LOG10))
rule.scalar(np.log1p)(lambda x: 1 / (1 + x))
rule.scalar(np.logaddexp)(
    lambda x, y: 1 / (1 + np.exp(gap(y, x))),
    lambda x, y: 1 / (1 + np.exp(gap(x, y))),
)
rule.scalar(np.logaddexp2)(
    lambda x, y: 1 / (1 + np.exp2(gap(y, x))),
    lambda x, y: 1 / (1 + np.exp2(gap(x, y))),
)

# powers
rule.scalar(np.sqrt)(lambda x, out: 0.5 / out)
rule.scalar(np.cbrt)(lambda x, out: 1 / (3 * out * out))

# trigonometry
rule.scalar(np.sin)(lambda x: np.cos(x))
rule.scalar(np.cos)(lambda x: -np.sin(x))
rule.scalar(np.tan, poles=False)(lambda x, out: 1 + out * out)
rule.scalar(np.arcsin)(lambda x: 1 / np.sqrt(one_less_square(x)))
rule.scalar(np.arccos)(lambda x: -1 / np.sqrt(one_less_square(x)))
rule.scalar(np.arctan)(lambda x: 1 / (1 + x * x))
rule.scalar(np.arctan2)(
    lambda y, x: over_square_norm(x, y),
    lambda y, x: -over_square_norm(y, x),
)
rule.scalar(np.hypot)(
    lambda x, y, out: over_norm(x, out),
    lambda x, y, out: over_norm(y, out),
)
rule.scalar(np.deg2rad, np.radians)(lambda x: DEGREE)
rule.scalar(np.rad2deg, np.degrees)(lambda x: RADIAN)
rule.scalar(np.sinc)(lambda x, out: np.pi * sinc_slope(np.pi * x, out))

# hyperbolic functions
rule.scalar(np.sinh)(lambda x: np.cosh(x))
rule.scalar(np.cosh)(lambda x: np.sinh(x))
rule.scalar(np.tanh, poles=False)(lambda x, out: 1 - out * out)
rule.scalar(np.arcsinh)(lambda x: 1 / root_of_one_more_square(x))
rule.scalar(np.arccosh)(lambda x: 1 / (np.sqrt(x - 1) * np.sqrt(-(-x - 1))))
rule.scalar(np.arctanh)(lambda x: 1 / ((1 - x) * (1 + x)))

# Bessel function
rule.scalar(np.i0)(lambda x: bessel_i1(x))

# kinks: ties are shared, and a missing value (nan) that fmax and fmin pass over gets nothing
rule.scalar(np.maximum, chooses=True)(
    lambda x, y: (x > y) + 0.5 * (x == y),
    lambda x, y: (x < y) + 0.5 * (x == y),
)
rule.scalar(np.minimum, chooses=True)(
    lambda x, y: (x < y) + 0.5 * (x == y),
    lambda x, y: (x > y) + 0.5 * (x == y),
)
rule.scalar(np.fmax, np.fmin, chooses=True)(
    lambda x, y, out: (x == out) - 0.5 * (x == y),
    lambda x, y, out: (y == out) - 0.5 * (x == y),
)
rule.scalar(np.fabs)(lambda x: np.sign(x))
rule.scalar(np.copysign)(lambda x, y: (np.sign(x) * np.copysign(1.0, y), None))
rule.scalar(np.heaviside)(lambda x, h: (None, 1.0 * (x == 0)))
rule.scalar(np.nextafter)(lambda x, y: (1, None))


@rule.scalar(np.nan_to_num)
def _(x):
    if np.iscomplexobj(x) and np.any(np.isfinite(np.real(x)) != np.isfinite(np.imag(x))):
        raise NotImplementedError(
            "numpy.nan_to_num has no rule for complex numbers of which one part is not finite: "
            "give it `.real` and `.imag`"
        )
    return 1.0 * np.isfinite(x)


def one_less_square(x):
    """Return `1 - x**2`, with the zero signs of `x` that tell the sides of its branch cuts."""
    return (x - 1) * (-x - 1) if np.iscomplexobj(x) else (1 - x) * (1 + x)


def root_of_one_more_square(x):
    """Return `sqrt(1 + x**2)`, with the zero signs of `x` that tell the sides of the cuts."""
    return np.sqrt(-(-(x * x) - 1)) if np.iscomplexobj(x) else np.hypot(1.0, x)


def over_square_norm(x, y):
    """Return `x / (x**2 + y**2)`, without the overflow of the squares."""
    norm = np.hypot(x, y)
    return x / norm / norm


def gap(x, y):
    """Return `x - y`, and 0 where both are the same infinity."""
    return np.where((x == y) & np.isinf(x), 0.0, x - y)


def sinc_slope(t, out):
    """Return the derivative of `sin(t) / t`, by its series where the formula cancels."""
    small = abs(t) < 0.1
    square = t * t
    series = -t / 3 * (1 - square / 10 * (1 - square / 28 * (1 - square / 54)))
    return np.where(small, series, (np.cos(t) - out) / np.where(small, 1.0, t))


def bessel_i1(x):
    """Return the modified Bessel function of order one, the derivative of `np.i0`.

    The trapezoidal rule on its integral representation (Abramowitz and Stegun 9.6.19), which
    converges exponentially: 512 half-circle points suffice for the whole range of float64.
    """
    points = 512
    cosine = np.cos(np.pi * (np.arange(points, **like(x)) + 0.5) / points)
    return np.exp(np.expand_dims(x, -1) * cosine) @ (cosine / points)
