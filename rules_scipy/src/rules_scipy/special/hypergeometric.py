"""Hypergeometric functions (DLMF 13, 15 and 16), by their argument."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import piecewise
from rules_scipy.shared.refusals import PARAMETER
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.hypergeometric")

rule.scalar(sp.hyp0f1, refuses={"v": PARAMETER})(lambda v, z: (None, sp.hyp0f1(v + 1, z) / v))
rule.scalar(sp.hyp1f1, refuses={"a": PARAMETER, "b": PARAMETER})(  # 13.3.15
    lambda a, b, x: (None, None, a / b * raised_1f1(a, b, x))
)
rule.scalar(sp.hyperu, refuses={"a": PARAMETER, "b": PARAMETER})(
    lambda a, b, x: (None, None, hyperu_slope(a, b, x))
)
rule.scalar(sp.hyp2f1, refuses={"a": PARAMETER, "b": PARAMETER, "c": PARAMETER})(  # 15.5.1
    lambda a, b, c, z: (None, None, None, hyp2f1_slope(a, b, c, z))
)


def raised_1f1(a, b, x):
    """Return `hyp1f1(a + 1, b + 1, x)`, 1 where `a` is -1: SciPy has none for some `b` there."""
    one = 1.0 + 0.0 * x

    def transformed(a, b, x):  # where the terms of SciPy's series are large, and cancel (13.2.39)
        return np.exp(x) * sp.hyp1f1(b - a, b + 1, -x)

    def direct(a, b, x):
        return sp.hyp1f1(a + 1, b + 1, x)

    def usual(a, b):
        cancels = (x < 0) & (x >= -1) & (a > 9) & (b > -1)
        return piecewise(cancels, (a, b, x), transformed, (0.0, 1.0, 0.0), direct, (0.0, 1.0, 0.0))

    return piecewise(a == -1, (a, b), lambda a, b: one, (0.0, 0.0), usual, (0.0, 1.0))


def hyp2f1_slope(a, b, c, z):
    """Return the derivative of `hyp2f1` by its argument, of constants and squares as such."""
    flat, square = (a == 0) | (b == 0), (a == -2) | (b == -2)

    def of_square(a, b, c):
        other = np.where(b == -2, a, b)
        ends = other == -1
        curved = np.where(ends, 0.0, (other + 1) / np.where(ends, 1.0, c + 1))
        return -2 * other / c * (1 - curved * z)

    def usual(a, b, c):
        return a * b / c * sp.hyp2f1(a + 1, b + 1, c + 1, z)

    def of_product(a, b, c):
        return piecewise(square, (a, b, c), of_square, (0.0, 0.0, 1.0), usual, (0.0, 0.0, 1.0))

    def of_two(a, b, c):
        return piecewise(
            flat, (a, b, c), lambda *_: 0.0 * z, (0.0, 0.0, 1.0), of_product, (1.0,) * 3
        )

    def of_power(a, b, c):
        return b * (1 - z) ** (-b - 1)

    power = (a == c) & (a <= 0)  # which SciPy takes for the function also there (15.4.6)
    return piecewise(power, (a, b, c), of_power, (0.0, 1.0, 0.0), of_two, (1.0,) * 3)


def hyperu_slope(a, b, x):
    """Return the derivative of `hyperu(a, b, x)` by `x`; at zero, where it is finite (13.2.19)."""

    def at_zero(x):
        return -a / sp.poch(-b, a + 1)

    def away(x):
        return -a * raised(a, b, x)

    slope = piecewise((x == 0) & (b < 0), (x,), at_zero, (0.0,), away, (1.0,))
    return np.where(a == 0, 0.0, slope)


def raised(a, b, x):
    """Return `hyperu(a + 1, b + 1, x)` (13.3.22), for negative `b` by Kummer's transformation.

    So it is where SciPy has no value, as for some `b` at small arguments.
    """

    def transformed(x):  # where SciPy's function of these parameters has six digits (13.2.40)
        return x**-b * sp.hyperu(a - b + 1, 1 - b, x)

    def usual(x):
        found = sp.hyperu(a + 1, b + 1, x)
        return piecewise(np.isnan(found), (x,), transformed, (1.0,), lambda _: found, (1.0,))

    return piecewise(b < 0, (x,), transformed, (1.0,), usual, (1.0,))
