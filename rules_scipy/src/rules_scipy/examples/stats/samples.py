"""Calls that the rules of `rules_scipy.stats.samples` are checked with."""

import numpy as np
from scipy import stats

from rules_scipy.stats.samples import rule

X = np.array([0.6, 1.3, 0.9, 2.7, 1.9])
TABLE = np.array([X, X[::-1] ** 2, np.cos(X) + 2.0])
for f in (stats.gmean, stats.hmean, stats.skew, stats.kurtosis):
    rule.example(f, X)
    rule.example(f, TABLE, axis=1)
    rule.example(f, TABLE, axis=None, keepdims=True)
    rule.example(f, TABLE, axis=(0, 1))
    rule.example(f, X + 0.5j * X[::-1])
rule.example(stats.skew, X, bias=False)
rule.example(stats.kurtosis, TABLE, 1, False, False)
rule.example(stats.kurtosis, X[:3], bias=False)
