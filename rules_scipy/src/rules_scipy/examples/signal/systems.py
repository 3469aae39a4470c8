"""Calls that the rules of `rules_scipy.signal.systems` are checked with.

Those of simulations need an AD: the tests are with one.
"""

import numpy as np
from scipy import signal as ss

from rules_scipy.signal.systems import recurrence, rule

B, A = np.array([0.7, -0.2]), np.array([2.0, 0.6, -0.3])
STEP = np.array([[0.3, -0.5], [0.2, 0.4]])
for _ in range(800):  # the first calls of SciPy's functions keep some memory, and later ones none
    ss.normalize(B, A)
for f in (ss.tf2ss, ss.normalize):
    rule.example(f, B, A)
    rule.example(f, np.array([[0.5, 0.2, 0.1], [0.3, 0.7, -0.4]]), A)
    rule.example(f, B + 0.3j, A - 0.2j)
    rule.example(f, 0.7, 2.0)
rule.example(recurrence, B, STEP, np.sin(np.arange(8.0)).reshape(4, 2))
