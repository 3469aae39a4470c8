"""Convenience functions: powers, logarithms, trigonometry in degrees, means."""

import math
import operator

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import exprel_slope, piecewise
from rules_scipy.shared.refusals import INTEGER
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.convenience")

LOG2, LOG10, DEGREE = math.log(2), math.log(10), math.pi / 180

rule.scalar(sp.cbrt)(lambda x, out: 1 / (3 * out * out))
rule.scalar(sp.exp2)(lambda x, out: LOG2 * out)
rule.scalar(sp.exp10)(lambda x, out: LOG10 * out)
rule.scalar(sp.expm1)(lambda z: np.exp(z))
rule.scalar(sp.exprel)(lambda x: exprel_slope(x))
rule.scalar(sp.log1p)(lambda z: 1 / (1 + z))
rule.scalar(sp.xlogy)(
    lambda x, y: np.log(y),
    lambda x, y: zero_or_ratio(x, y),
)
rule.scalar(sp.xlog1py)(
    lambda x, y: np.log1p(y),
    lambda x, y: zero_or_ratio(x, 1 + y),
)
rule.scalar(sp.powm1)(
    lambda x, y: np.where((y == 0) & (x == 0), 0.0, y * x ** (y - 1)),
    lambda x, y: np.log(np.where(x == 0, 1.0, x)) * x**y,
)
rule.scalar(sp.cosm1)(lambda x: -np.sin(x))
rule.scalar(sp.sindg)(lambda x: DEGREE * sp.cosdg(x))
rule.scalar(sp.cosdg)(lambda x: -DEGREE * sp.sindg(x))
rule.scalar(sp.tandg)(lambda x, out: DEGREE * (1 + out * out))
rule.scalar(sp.cotdg)(lambda x, out: -DEGREE * (1 + out * out))
rule.scalar(sp.radian)(lambda d, m, s: (DEGREE, DEGREE / 60, DEGREE / 3600))
rule.scalar(sp.agm)(  # 19.8.1 with 19.18.1
    lambda a, b, out: agm_slope(a, b, out),
    lambda a, b, out: agm_slope(b, a, out),
)
rule.constant(sp.round)


def zero_or_ratio(x, y):
    """Return `x / y`, and 0 where both are 0, or the second is no number to divide by."""
    unused = (x == 0) & np.logical_not(abs(y) > 0)
    return piecewise(unused, (x, y), lambda x, y: 0.0, (0.0, 1.0), operator.truediv, (0.0, 1.0))


def agm_slope(a, b, out):
    """Return the derivative of the arithmetic-geometric mean by `a`; it is of degree 0."""

    def near(a, b, out):
        size = np.maximum(abs(a), abs(b))
        a, b, mean = a / size, b / size, out / size
        return 2 / (3 * np.pi) * mean * mean * abs(a) * sp.elliprd(0, b * b, a * a)

    small, large = np.minimum(abs(a), abs(b)), np.maximum(abs(a), abs(b))
    extreme = (small < 1e-100 * large) & (small < large)
    return piecewise(extreme, (a, b, out), far_agm_slope, (1.0, np.inf, 1.0), near, (1.0,) * 3)


def far_agm_slope(a, b, out):
    """Return the derivative of `pi / 2 * large / log(4 large / small)` by `a` (19.8.1, 19.9.1)."""
    a, b = abs(a), abs(b)
    log = np.log(4) + abs(np.log(a) - np.log(b))  # infinite, where the quotient is
    of_small = np.where((a == 0) | (b == np.inf), np.inf, b / a / log**2)
    return np.pi / 2 * np.where(a < b, of_small, 1 / log - 1 / log**2)


@rule(sp.diric, refuses={"n": INTEGER})
def _(x: Numeric, n: object):
    """A sum of cosines, whose derivative cancels nowhere."""

    def by_x(dy):
        count = np.asarray(n)
        most = int(np.max(count, initial=1))
        odd = count % 2 == 1
        k = np.where(np.expand_dims(odd, -1), 0.0, -0.5) + np.arange(1, most // 2 + 1)
        used = k <= np.expand_dims(count, -1) / 2
        sines = np.where(used, k * np.sin(k * np.expand_dims(x, -1)), 0.0)
        return project(dy * -2 / count * np.sum(sines, axis=-1), x)

    return sp.diric(x, n), (by_x, None)
