"""Calls that the rules of `rules_scipy.stats.boxes` are checked with: of one variable.

SciPy reads one half of a covariance, and a rule gives half of its derivative to each.
"""

import numpy as np
from scipy import stats

from rules_scipy.stats.boxes import NORMAL, rule

X, MEAN, COVARIANCE = np.array([[0.4], [-1.1]]), np.array([0.2]), np.array([[1.3]])
OPTIONS = (1000, 1e-5, 1e-5, np.array([-0.7]), np.random.default_rng(0))
rule.example(NORMAL._cdf, stats.multivariate_normal, X, MEAN, COVARIANCE, *OPTIONS)
