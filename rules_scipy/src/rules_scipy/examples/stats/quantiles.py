"""Calls that the rules of `rules_scipy.stats.quantiles` are checked with."""

import numpy as np
from scipy import stats

from rules_scipy.stats.quantiles import rule

P = np.array([0.2, 0.7])
for f in (type(stats.cauchy)._ppf, type(stats.cauchy)._isf):
    rule.example(f, stats.cauchy, P)
rule.example(type(stats.invgauss)._ppf, stats.invgauss, P, 0.8)
rule.example(type(stats.skewnorm)._isf, stats.skewnorm, P, 1.5)
