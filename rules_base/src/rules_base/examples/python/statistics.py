"""Calls that the rules of `rules_base.python.statistics` are checked with."""

import statistics

import numpy as np

from rules_base.python.statistics import rule

DATA, OTHER = [0.5, 1.5, 0.7, 2.9], (0.3, 0.4, 1.1, 0.9)
MEANS = (statistics.mean, statistics.fmean, statistics.geometric_mean, statistics.harmonic_mean)
MEDIANS = (statistics.median, statistics.median_low, statistics.median_high)
SPREADS = (statistics.pvariance, statistics.pstdev, statistics.variance, statistics.stdev)
for f in (*MEANS, *MEDIANS, *SPREADS):
    rule.example(f, DATA)
    rule.example(f, OTHER[:3])
    rule.example(f, np.array(DATA))
for f in SPREADS:
    rule.example(f, DATA, 1.2)
rule.example(statistics.fmean, DATA, OTHER)
rule.example(statistics.covariance, DATA, OTHER)
rule.example(statistics.correlation, DATA, OTHER)
rule.example(statistics.mode, [0.5, 1.5, 0.7])
rule.example(statistics._normal_dist_inv_cdf, 0.3, 1.0, 2.0)
rule.example(statistics._normal_dist_inv_cdf, 0.99, -1.0, 0.5)
