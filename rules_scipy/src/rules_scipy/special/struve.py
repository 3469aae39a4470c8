"""Struve functions (DLMF 11), by their argument."""

import operator

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import piecewise
from rules_scipy.shared.refusals import ORDER
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.struve")

rule.scalar(sp.struve, refuses={"v": ORDER})(lambda v, x, out: (None, slope(sp.struve, v, x, out)))
rule.scalar(sp.modstruve, refuses={"v": ORDER})(
    lambda v, x, out: (None, slope(sp.modstruve, v, x, out))
)
rule.scalar(sp.itstruve0)(lambda x: of_known(x))
rule.scalar(sp.it2struve0)(lambda x: -ratio(x))
rule.scalar(sp.itmodstruve0)(lambda x: sp.modstruve(0, x))


def slope(f, v, x, out):
    """Return the derivative by 11.4.27 and 11.4.29, of order -1 at zero by 11.2.1 and 11.2.2."""
    even = (v == -1) & (x == 0)
    return np.where(even, 0.0, f(v - 1, x) - over(v * out, x))


def of_known(x):
    """Return the derivative of `itstruve0`, up to where SciPy's expansion is another function."""
    if np.any(abs(x) > 30):
        raise NotImplementedError(
            "`itstruve0` of numbers beyond 30 has no rule, because SciPy's values are wrong: "
            "integrate `struve(0, t)` by `scipy.integrate.quad`"
        )
    return sp.struve(0, x)


def ratio(x):
    """Return `struve(0, x) / x`, and its limit at 0."""
    first = 2 / np.pi
    return piecewise(x == 0, (x,), lambda x: first, (0.0,), lambda x: sp.struve(0, x) / x, (1.0,))


def over(y, x):
    """Return `y / x`, and 0 where `x` is 0, as `y` is there."""
    return piecewise(x == 0, (y, x), lambda y, x: 0.0, (0.0, 1.0), operator.truediv, (0.0, 1.0))
