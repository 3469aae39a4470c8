"""Means and standardized moments of samples, along axes.

Their own Python first looks for what may be asked of it; these are the formulas, for the usual
options. With other options (weights, other policies on nan) that Python is differentiated. Where
the value is nan, or a mean is zero, the gradient is zero, as that Python's is.
"""

import numpy as np
from scipy import stats

from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.samples")


@rule(stats.gmean)
def _(a: np.ndarray, axis=0, *, keepdims=False):
    y = stats.gmean(a, axis, keepdims=keepdims)

    def pullback(dy):
        mean, dmean = (restored(v, a, axis, keepdims) for v in (y, dy))
        lost = np.isnan(mean) | (mean == 0)
        slopes = np.where(lost, 0.0, mean) / np.where(lost, 1.0, a) * (mean.size / a.size)
        return (project(dmean * np.conj(slopes), a),)

    return y, pullback


@rule(stats.hmean)
def _(a: np.ndarray, axis=0, *, keepdims=False):
    y = stats.hmean(a, axis, keepdims=keepdims)

    def pullback(dy):
        mean, dmean = (restored(v, a, axis, keepdims) for v in (y, dy))
        lost = np.isnan(mean) | (mean == 0)
        ratios = np.where(lost, 0.0, mean) / np.where(lost, 1.0, a)
        return (project(dmean * np.conj(ratios**2) * (mean.size / a.size), a),)

    return y, pullback


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
