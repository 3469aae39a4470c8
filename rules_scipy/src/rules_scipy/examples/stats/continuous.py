"""Calls that the rules of `rules_scipy.stats.continuous` are checked with."""

import numpy as np
from scipy import stats

from rules_scipy.stats.continuous import rule

X, POSITIVE = np.array([-0.4, 0.9]), np.array([0.3, 1.6])


def examples(distribution, names, *xs):
    """Declare a call of each of these methods."""
    for name in names.split():
        rule.example(getattr(type(distribution), name), distribution, *xs)


examples(stats.cosine, "_cdf _sf", X)
examples(stats.skewnorm, "_cdf", X, POSITIVE)
examples(stats.skewnorm, "_sf", X, np.array([0.0, -0.6]))
examples(stats.cauchy, "_logpdf", np.array([-3.0, 0.0, 0.5, 1e3]))
examples(stats.logistic, "_logpdf", np.array([-3.0, 0.0, 0.5, 50.0]))
examples(stats.landau, "_pdf _cdf _sf", np.array([-3.0, 0.9, 25.0]))
examples(stats.irwinhall, "_pdf _cdf _sf", np.array([0.4, 2.3]), 5)
examples(stats.f, "_logpdf", POSITIVE, np.array([2.0, 700.0]), np.array([3.0, 6.0]))
examples(stats.f, "_logpdf", POSITIVE, 3.0, np.array([5.0, 900.0]))
examples(stats.genhyperbolic, "_logpdf _pdf", X, 0.5, 1.5, -0.5)
examples(stats.geninvgauss, "_logpdf", POSITIVE, 2.3, np.array([0.7, 1.5]))
examples(stats.gausshyper, "_pdf", np.array([0.2, 0.7]), 2.5, 1.5, 0.7, 1.2)
