"""Struve functions (DLMF 11), by their argument."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import piecewise
from rules_scipy.shared.refusals import ORDER
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.struve")

rule.scalar(sp.struve, refuses={"v": ORDER})(
    lambda v, x, out: (None, slope(sp.struve, v, x, out, -1.0))
)
rule.scalar(sp.modstruve, refuses={"v": ORDER})(
    lambda v, x, out: (None, slope(sp.modstruve, v, x, out, 1.0))
)
rule.scalar(sp.itstruve0)(lambda x: of_known(x))
rule.scalar(sp.it2struve0)(lambda x: -ratio(x))
rule.scalar(sp.itmodstruve0)(lambda x: sp.modstruve(0, x))


def slope(f, v, x, out, sign):
    """Return the derivative by 11.4.27 and 11.4.29, and at zero by 11.4.24 and 11.4.26.

    These divide by nothing; elsewhere they cancel. Of order -1 it is zero there (11.2.1, 11.2.2).
    """

    def at_zero(v, x, out):
        before = f(v - 1, x)
        power = (x / 2) ** np.maximum(v, 0.0) * sp.rgamma(v + 1.5) / np.sqrt(np.pi)
        found = np.where(v < 0, before, (before + sign * f(v + 1, x) + power) / 2)
        return np.where(v == -1, 0.0, found)

    def elsewhere(v, x, out):
        return f(v - 1, x) - v * out / x

    return piecewise(x == 0, (v, x, out), at_zero, (0.0, 0.0, 0.0), elsewhere, (0.0, 1.0, 0.0))


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
