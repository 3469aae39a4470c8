"""Calls that the rules of `rules_scipy.special.airy` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.airy import rule

REAL = np.array([-1.4, 0.3, 2.1])
rule.example(sp.airy, REAL)
rule.example(sp.airy, REAL + 0.5j)
rule.example(sp.airye, np.array([0.3, 2.1, 7.5]))
rule.example(sp.itairy, np.array([0.3, 2.1]), check_tolerance=1e-4)  # SciPy has six digits
