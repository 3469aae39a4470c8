"""Calls that the rules of `rules_scipy.stats.limits` are checked with."""

import numpy as np
from scipy import stats

from rules_scipy.stats.limits import rule

X, Q, SHAPES = np.array([-0.4, 0.9]), np.array([0.2, 0.7]), np.array([0.0, -0.6])


def examples(distribution, names, *xs):
    """Declare a call of each of these methods."""
    for name in names.split():
        rule.example(getattr(type(distribution), name), distribution, *xs)


examples(stats.genpareto, "_logpdf _logsf", X**2, SHAPES)
examples(stats.genpareto, "_munp", 3, np.array([0.1, 0.2]))
examples(stats.genextreme, "_loglogcdf _logpdf", X, SHAPES)
examples(stats.genextreme, "_ppf _isf", Q, SHAPES)
examples(stats.genextreme, "_stats", np.array([0.2, -0.1]))
examples(stats.kappa4, "_logpdf _logcdf", X, SHAPES[:, None], SHAPES)
examples(stats.kappa4, "_ppf", Q, 0.4, SHAPES)
examples(stats.skewnorm, "_logpdf _pdf", X, SHAPES)
examples(stats.pearson3, "_logpdf _cdf _sf", X, np.array([0.5, -1.2]))
examples(stats.pearson3, "_ppf", Q, np.array([0.5, -1.2]))
examples(stats.vonmises, "_cdf", np.array([-0.4, 8.3]), 1.3)
examples(stats.triang, "_pdf _cdf", np.array([0.2, 0.7]), 0.4)
examples(stats.trapezoid, "_munp", 3, 0.2, 0.7)
examples(stats.truncpareto, "_munp", 2, np.array([1.3, 2.6]), 4.0)
