"""Calls that the rules of `rules_scipy.stats.powers` are checked with."""

import numpy as np
from scipy import stats
from scipy.stats import _morestats

from rules_scipy.stats.powers import rule

X = np.array([0.7, 1.3, 2.9, 0.4, 5.1, 1.1])
for power in (0.0, 0.3, 2.0, -40.0):
    rule.example(stats.boxcox_llf, power, X)
for power in (0.0, 0.3, 2.0):
    rule.example(_morestats._yeojohnson_transform, X - 1, power)
rule.example(stats.boxcox_llf, 0.0, np.stack([X, X**2]), axis=1)
rule.example(stats.boxcox_llf, 0.4, np.stack([X, X**2]), axis=None, keepdims=True)
for power in (0.0, 1e-5, 0.3, 1.0, -7.0):
    rule.example(stats.pmean, X, power)
rule.example(stats.pmean, np.stack([X, X**2]), 0.0, axis=None)
