"""Calls that the rules of `rules_scipy.stats.noncentral` are checked with."""

import numpy as np
from scipy import stats

from rules_scipy.stats.noncentral import rule

X, NC = np.array([0.7, 2.6]), np.array([0.4, 3.0])
for name in ("_pdf", "_cdf", "_sf"):
    rule.example(getattr(type(stats.ncx2), name), stats.ncx2, 3 * X, 2.5, NC)
    rule.example(getattr(type(stats.ncf), name), stats.ncf, X, 4.5, 7.0, NC)
    rule.example(getattr(type(stats.nct), name), stats.nct, X - 1, 3.5, NC)
rule.example(type(stats.ncx2)._logpdf, stats.ncx2, 3 * X, 2.5, NC)
