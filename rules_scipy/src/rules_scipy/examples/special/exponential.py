"""Calls that the rules of `rules_scipy.special.exponential` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.exponential import rule

REAL = np.array([0.4, 2.1])
COMPLEX = np.array([0.3 + 0.4j, 1.2 - 0.7j])
for f in (sp.exp1, sp.expi, sp.sici, sp.shichi, sp.spence):
    rule.example(f, REAL)
    rule.example(f, COMPLEX)
rule.example(sp.expn, np.array([[0], [1], [3]]), REAL)
