"""Calls that the rules of `rules_scipy.stats.searches` are checked with."""

import numpy as np
from scipy import stats

from rules_scipy.stats.searches import rule

X = np.array([0.6, 1.3, 0.9, 2.7])
rule.example(stats.boxcox_normmax, X, check_tolerance=1e-3)
rule.example(stats.yeojohnson_normmax, X - 1, check_tolerance=1e-3)
rule.example(stats.expectile, X)
rule.example(stats.expectile, X - 1, 0.2)
rule.example(stats.expectile, X, 0.7, weights=np.array([1.0, 2.0, 0.5, 3.0]))
rule.example(stats.expectile, X[:1], 0.7)
