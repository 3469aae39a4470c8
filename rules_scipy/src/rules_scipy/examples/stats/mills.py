"""Calls that the rules of `rules_scipy.stats.mills` are checked with."""

import numpy as np
from scipy import stats

from rules_scipy.stats.mills import rule

X, K = np.array([-0.4, 2.9]), np.array([0.7, 1.5])
for name in ("_logpdf", "_cdf", "_sf"):
    rule.example(getattr(type(stats.exponnorm), name), stats.exponnorm, X, K)
rule.example(type(stats.dpareto_lognorm)._logcdf, stats.dpareto_lognorm, X**2, 0.3, K, 1.5, 2.0)
