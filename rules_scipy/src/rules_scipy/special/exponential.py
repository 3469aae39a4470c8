"""Exponential and trigonometric integrals (DLMF 6), and the dilogarithm (25.12)."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import horner, piecewise, truncated
from rules_scipy.shared.outputs import several_outputs
from rules_scipy.shared.refusals import INTEGER
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.exponential")

rule.scalar(sp.exp1)(lambda z: -np.exp(-z) / z)  # 6.2.1
rule.scalar(sp.expi)(lambda z: np.exp(z) / np.where(z == np.inf, 1.0, z))  # 6.2.5
rule.scalar(sp.expn, refuses={"n": INTEGER})(lambda n, x: (None, expn_slope(n, x)))  # 8.19.13
several_outputs(rule, sp.sici)(  # 6.2.9 and 6.2.13
    lambda z, y: (ratio(np.sin, z), np.cos(z) / z)
)
several_outputs(rule, sp.shichi)(  # 6.2.15 and 6.2.16
    lambda z, y: (ratio(np.sinh, z), np.cosh(z) / z)
)
rule.scalar(sp.spence)(lambda z: spence_slope(z))  # 25.12.2


def expn_slope(n, x):
    """Return the derivative of `expn(n, x)`, for order zero that of `exp(-x) / x`."""

    def of_zero(n):
        return -np.exp(-x) / x * (1 + 1 / x)

    n = truncated(n)
    return piecewise(n == 0, (n,), of_zero, (0,), lambda n: -sp.expn(n - 1, x), (1,))


def spence_slope(z):
    """Return `log(z) / (1 - z)`, by its series where `z` is near one."""

    def near(z):
        return -horner([1, -1 / 2, 1 / 3, -1 / 4, 1 / 5, -1 / 6], z - 1)

    return piecewise(abs(z - 1) < 1e-3, (z,), near, (1.0,), lambda z: np.log(z) / (1 - z), (2.0,))


def ratio(f, z):
    """Return `f(z) / z`, and its limit 1 where `z` is zero."""
    return piecewise(z == 0, (z,), lambda z: 1.0, (0.0,), lambda z: f(z) / z, (1.0,))
