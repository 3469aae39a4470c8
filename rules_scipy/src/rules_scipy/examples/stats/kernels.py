"""Calls that the rules of `rules_scipy.stats.kernels` are checked with."""

import numpy as np
from scipy.stats import _stats

from rules_scipy.stats.kernels import rule

POINTS, XI = np.sin(np.arange(10.0)).reshape(5, 2), np.cos(np.arange(6.0)).reshape(3, 2)
VALUES, FACTOR = np.linspace(0.1, 0.3, 5)[:, None], np.array([[0.7, 0.0], [0.2, 0.5]])
for f in (_stats.gaussian_kernel_estimate, _stats.gaussian_kernel_estimate_log):
    rule.example(f["double"], POINTS, VALUES, XI, FACTOR, float)
