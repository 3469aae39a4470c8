"""Calls that the rules of `rules_scipy.special.zeta` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.zeta import rule

rule.example(sp.zeta, np.array([1.5, 3.2, 0.3, -1.7, -2.0]))
rule.example(sp.zetac, np.array([1.5, 3.2, -1.7]))
rule.example(sp.zeta, np.array([[1.5], [3.2]]), np.array([0.4, 2.7]))
