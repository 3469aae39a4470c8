"""Calls that the rules of `rules_scipy.stats.discrete` are checked with."""

import numpy as np
from scipy import stats

from rules_scipy.stats.discrete import rule

for name in ("_pmf", "_cdf"):
    rule.example(getattr(type(stats.skellam), name), stats.skellam, np.array([-2, 3]), 2.5, 1.7)
    rule.example(getattr(type(stats.poisson_binom), name), stats.poisson_binom, 1, 0.3, 0.6, 0.8)
rule.example(type(stats.binom)._pmf, stats.binom, np.array([2, 0]), 5, np.array([0.3, 0.7]))
for d in (stats.nchypergeom_fisher, stats.nchypergeom_wallenius):
    rule.example(type(d)._pmf, d, np.array([2, 3]), 20, 8, 6, 0.7)
    rule.example(type(d)._stats, d, 20, 8, 6, 0.7)
rule.example(type(stats.poisson)._pmf, stats.poisson, np.array([2, 0]), np.array([0.3, 0.7]))
for name in ("_cdf", "_sf"):
    rule.example(getattr(type(stats.geom), name), stats.geom, np.array([2, 1]), 0.3)
