"""Means and standardized moments of samples, along axes.

Their own Python first looks for what may be asked of it; these are the formulas, for the usual
options. With other options (weights, other policies on nan) that Python is differentiated. Where
the value is nan, the gradient is zero.
"""

import numpy as np
from scipy import stats

from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.samples")


def declare_mean(function, power, at_zero):
    """Declare a mean of `n` entries, whose slopes are `(mean / a) ** power / n`.

    A mean is zero where an entry is. Then the slope is `at_zero(n)` at the only zero, where
    there is one, and zero elsewhere.
    """

    @rule(function)
    def _(a: np.ndarray, axis=0, *, keepdims=False):
        y = function(a, axis, keepdims=keepdims)

        def pullback(dy):
            mean, dmean = (restored(v, a, axis, keepdims) for v in (y, dy))
            n = a.size / mean.size
            regular = (mean != 0) & ~np.isnan(mean)
            slopes = (np.where(regular, mean, 0.0) / np.where(regular, a, 1.0)) ** power / n
            zeros = a == 0
            alone = zeros & (np.sum(zeros, axis, keepdims=True) == 1) & (mean == 0) & (dmean != 0)
            slopes = np.where(alone, at_zero(n), np.conj(slopes))
            return (project(dmean * slopes, a),)

        return y, pullback


declare_mean(stats.gmean, 1, lambda n: 1.0 if n == 1 else np.inf)
declare_mean(stats.hmean, 2, lambda n: n)


@rule(stats.skew)
def _(a: np.ndarray, axis=0, bias=True, *, keepdims=False):
    y = stats.skew(a, axis, bias, keepdims=keepdims)

    def pullback(dy):
        whole, dwhole = (restored(v, a, axis, keepdims) for v in (y, dy))
        n, z, second, third, _ = moments(a, axis, whole)
        scale = 3 / n if bias or n <= 2 else 3 / n * np.sqrt((n - 1) * n) / (n - 2)
        slopes = (z**2 - second - third * z / second) / second**1.5
        return (project(dwhole * np.where(np.isnan(whole), 0.0, np.conj(slopes) * scale), a),)

    return y, pullback


@rule(stats.kurtosis)
def _(a: np.ndarray, axis=0, fisher=True, bias=True, *, keepdims=False):
    y = stats.kurtosis(a, axis, fisher, bias, keepdims=keepdims)

    def pullback(dy):
        whole, dwhole = (restored(v, a, axis, keepdims) for v in (y, dy))
        n, z, second, third, fourth = moments(a, axis, whole)
        scale = 4 / n if bias or n <= 3 else 4 / n * (n * n - 1) / ((n - 2) * (n - 3))
        slopes = (z**3 - third - fourth * z / second) / second**2
        return (project(dwhole * np.where(np.isnan(whole), 0.0, np.conj(slopes) * scale), a),)

    return y, pullback


def moments(a, axis, y):
    """Return the count, the differences from the mean, and the means of their powers 2 to 4.

    Where the value `y` is nan, the mean of the squares may be zero, and is given as one.
    """
    z = a - np.mean(a, axis=axis, keepdims=True)
    second, *others = [np.mean(z**k, axis=axis, keepdims=True) for k in (2, 3, 4)]
    return a.size / y.size, z, np.where(np.isnan(y), 1.0, second), *others


def restored(y, a, axis, keepdims):
    """Return what a mean gave, with axes of length one for those that it was taken along."""
    if axis is None or keepdims:
        return np.reshape(y, np.shape(y) if keepdims else (1,) * a.ndim)
    return np.expand_dims(y, axis)
