"""Calls that the rules of `rules_scipy.stats.cancelling` are checked with."""

import numpy as np
from scipy import stats

from rules_scipy.stats.cancelling import rule

X = np.array([0.2, 0.7])


def examples(distribution, names, *xs):
    """Declare a call of each of these methods."""
    for name in names.split():
        rule.example(getattr(type(distribution), name), distribution, *xs)


examples(stats.argus, "_logpdf _sf _cdf", X, np.array([1.7, 0.4]))
examples(stats.argus, "_stats", np.array([1.7, 0.2]))
examples(stats.bradford, "_pdf _cdf _ppf", X, np.array([0.7, 2.5]))
examples(stats.bradford, "_stats _entropy", np.array([0.7, 2.5]))
examples(stats.tukeylambda, "_entropy", 0.7)
examples(stats.dweibull, "_cdf _sf", X - 0.5, np.array([0.7, 2.5]))
examples(stats.gennorm, "_cdf _sf", X - 0.5, np.array([0.7, 2.5]))
examples(stats.genhalflogistic, "_pdf _cdf _ppf", X, np.array([0.7, 1.2]))
examples(stats.kappa3, "_ppf _isf", X, np.array([0.7, 2.5]))
examples(stats.gennorm, "_ppf", X, np.array([0.7, 2.5]))
examples(stats.genlogistic, "_logpdf _logcdf _cdf", X - 0.5, np.array([0.7, 2.5]))
