"""The zeta functions of Riemann and Hurwitz (DLMF 25)."""

import math

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import BERNOULLI
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.zeta")

rule.scalar(sp.zetac)(lambda x: riemann_slope(x))

LOG_2PI = math.log(2 * math.pi)
TERMS = 14  # that are summed before the Euler-Maclaurin formula takes over


@rule(sp.zeta)
def _(x: Numeric):
    def by_x(dy):
        return project(dy * riemann_slope(real_only(x)), x)

    return sp.zeta(x), (by_x,)


@rule(sp.zeta)
def _(x: Numeric, q: Numeric):
    def by_x(dy):
        return project(dy * hurwitz_slope(real_only(x), q), x)

    def by_q(dy):
        return project(dy * -x * sp.zeta(x + 1, q), q)  # 25.11.17

    return sp.zeta(x, q), (by_x, by_q)


def real_only(x):
    """Return a real exponent, and refuse a complex one."""
    if np.iscomplexobj(x):
        raise NotImplementedError(
            "scipy.special.zeta has no derivative by a complex exponent: let it be constant "
            "(`stop_gradient`)"
        )
    return x


def hurwitz_slope(x, q):
    """Return the derivative of `zeta(x, q)` by `x`, for `x > 1` or positive `q` (25.11.5)."""
    infinite = q == np.inf
    x, q = x + 0.0, np.where(infinite, 1.0, q + 0.0)
    total = 0.0
    for k in range(TERMS):
        total = total - np.log(q + k) * (q + k) ** -x
    a = q + TERMS
    log, power = np.log(a), a**-x
    total = total - power * a * (log / (x - 1) + 1 / (x - 1) ** 2) - log * power / 2
    rising, rate = x, 1.0  # x (x + 1) ... and its derivative
    w = 1 / (a * a)
    for j in range(1, 11):
        weight = BERNOULLI[j - 1] / math.factorial(2 * j) * power * a * w**j
        total = total + weight * (rate - log * rising)
        for step in (2 * j - 1, 2 * j):
            rate = rate * (x + step) + rising
            rising = rising * (x + step)
    return np.where(infinite, 0.0, total)


def riemann_slope(x):
    """Return the derivative of `zeta(x)`, far below 0 by reflection (25.4.1)."""
    left = x < -1
    y = np.where(left, 1.0 - x, x)
    slope = hurwitz_slope(y, 1.0)
    z = np.where(left, x, -2.0)
    scale = 2 * np.exp((z - 1) * LOG_2PI + sp.gammaln(1 - z))
    sine, cosine = np.sin(np.pi / 2 * z), np.cos(np.pi / 2 * z)
    rate = (LOG_2PI - sp.psi(1 - z)) * sine + np.pi / 2 * cosine
    return np.where(left, scale * (rate * sp.zeta(1 - z) - sine * slope), slope)
