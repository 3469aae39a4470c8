"""Calls that the rules of `rules_scipy.stats.kolmogorov` are checked with."""

import numpy as np
from scipy import stats

from rules_scipy.stats.kolmogorov import rule

for name in ("_pdf", "_cdf", "_sf"):
    rule.example(getattr(type(stats.kstwobign), name), stats.kstwobign, np.array([0.6, 1.1]))
    rule.example(getattr(type(stats.ksone), name), stats.ksone, np.array([0.1, 0.33]), 12)
for name in ("_cdf", "_sf"):
    rule.example(getattr(type(stats.kstwo), name), stats.kstwo, np.array([0.2, 0.33]), 12)
