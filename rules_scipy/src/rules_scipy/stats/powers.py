"""Powers of samples, and the likelihood of one: for some powers SciPy takes the logarithm instead.

There the source has the value of the limit, and not its slope by the power.
"""

import numpy as np
from scipy import special as sp
from scipy import stats
from scipy.stats import _morestats

from rules_scipy.shared.linear.matrices import ArrayLike
from rules_scipy.special.logistic import boxcox_by_power
from rules_scipy.stats.samples import restored
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.powers")


@rule(_morestats._yeojohnson_transform)
def _(x: np.ndarray, lmbda: float, *, xp=None):
    y = _morestats._yeojohnson_transform(x, lmbda, xp=xp)
    size, power = 1 + np.abs(x), np.where(x < 0, 2 - lmbda, lmbda)
    by_x = lambda dy: project(dy * size ** (power - 1), x)
    by_power = lambda dy: project(np.sum(dy * boxcox_by_power(np.log1p(np.abs(x)), power)), lmbda)
    return y, (by_x, by_power)


@rule(stats.boxcox_llf)
def _(lmb: float, data: ArrayLike, *, axis=0, keepdims=False):
    y = stats.boxcox_llf(lmb, data, axis=axis, keepdims=keepdims)

    def pullback(dy):
        x = np.asarray(data, float)
        dy = restored(dy, x, axis, keepdims)
        log = np.log(x)
        z, power, by_power = transformed(lmb, log, axis)
        z = z - np.mean(z, axis=axis, keepdims=True)
        slopes = -z / np.mean(z * z, axis=axis, keepdims=True)
        dlmb = np.sum(log + slopes * by_power, axis=axis, keepdims=True)
        return project(np.sum(dy * dlmb), lmb), project(dy * (lmb - 1 + slopes * power) / x, data)

    return y, pullback


def transformed(lmb, log, axis):
    """Return transformed samples, and their derivatives by logarithms of the samples and the power.

    They are given up to a constant, and up to a factor for each sample where it would overflow.
    """
    if np.all(np.abs(lmb * log) <= 1):
        return log * sp.exprel(lmb * log), np.exp(lmb * log), boxcox_by_power(log, lmb)
    power = np.exp(lmb * log - np.max(lmb * log, axis=axis, keepdims=True))
    return power / lmb, power, (log - 1 / lmb) / lmb * power
