"""Powers of samples, their likelihood, and power means: for some powers SciPy takes logarithms.

There its source has the value of the limit, and not the slope by the power.
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


@rule(stats.pmean)
def _(a: ArrayLike, p: float, *, axis=0, keepdims=False):
    y = stats.pmean(a, p, axis=axis, keepdims=keepdims)

    def pullback(dy):
        x = np.asarray(a, float)
        mean, dy = (restored(v, x, axis, keepdims) for v in (y, dy))
        whole = np.sum(x**p, axis=axis, keepdims=True)
        by_power = np.sum(dy * mean * slope_by_power(p, x, whole, axis))
        return project(dy * mean * x ** (p - 1) / whole, a), project(by_power, p)

    return y, pullback


def slope_by_power(p, x, whole, axis):
    """Return the derivative of the logarithm of a power mean by the power.

    The logarithm is `k(p) / p`, where `k` generates the cumulants of the logarithms of `x`, and
    `k(p) = log1p(p * p * second)` if their mean is zero.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(x)
        log = log - np.mean(log, axis=axis, keepdims=True)
    if np.all(np.abs(p * log) <= 1):
        second = np.mean(log**2 * sp.hyp1f1(1, 3, p * log), axis=axis, keepdims=True) / 2
        first = np.mean(log**2 * sp.exprel(p * log), axis=axis, keepdims=True)
        square = p * p * second
        return first / (1 + square) - second * sp.hyp2f1(1, 1, 2, -square)
    expected = np.sum(sp.xlogy(x**p, x), axis=axis, keepdims=True) / whole
    return expected / p - np.log(whole / (x.size / whole.size)) / p**2
