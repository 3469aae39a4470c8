"""Calls that the rules of `rules_scipy.stats.powers` are checked with."""

import numpy as np
from scipy import stats

from rules_scipy.stats.powers import rule

X = np.exp(np.sin(np.arange(1.0, 9.0) ** 2))
for method in ("mle", "pearsonr", "all"):
    rule.example(stats.boxcox_normmax, X, None, method, check_tolerance=1e-2)
rule.example(stats.yeojohnson_normmax, X - 1, check_tolerance=1e-2)
