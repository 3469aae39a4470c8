"""Exponential and trigonometric integrals (DLMF 6), and the dilogarithm (25.12)."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.outputs import several_outputs
from rules_scipy.shared.refusals import INTEGER
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.exponential")

rule.scalar(sp.exp1)(lambda z: -np.exp(-z) / z)  # 6.2.1
rule.scalar(sp.expi)(lambda z: np.exp(z) / z)  # 6.2.5
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
    of_zero = -np.exp(-x) / x * (1 + 1 / x)
    return np.where(n == 0, of_zero, -sp.expn(np.maximum(n - 1, 0), x))


def spence_slope(z):
    """Return `log(z) / (1 - z)`, and its limit -1 where `z` is one."""
    safe = np.where(z == 1, 2.0, z)
    return np.where(z == 1, -1.0, np.log(safe) / (1 - safe))


def ratio(f, z):
    """Return `f(z) / z`, and its limit 1 where `z` is zero."""
    zero = z == 0
    safe = np.where(zero, 1.0, z)
    return np.where(zero, 1.0, f(safe) / safe)
