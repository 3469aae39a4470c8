"""Calls that the rules of `rules_scipy.signal.chirps` are checked with."""

import numpy as np
from scipy import signal as ss

from rules_scipy.signal.chirps import rule

TIMES = np.linspace(-0.3, 1.2, 6)
for method in ("linear", "quadratic", "logarithmic", "hyperbolic"):
    rule.example(ss.chirp, TIMES, 0.7, 1.5, 1.1, method, 20.0)
    rule.example(ss.chirp, TIMES, 1.1, 1.5, 0.4, method=method, complex=True)
rule.example(ss.chirp, TIMES, 0.7, 1.5, 1.1, "quadratic", 20.0, False)
