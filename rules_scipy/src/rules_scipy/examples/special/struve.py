"""Calls that the rules of `rules_scipy.special.struve` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.struve import rule

REAL = np.array([0.4, 2.3])
for f in (sp.struve, sp.modstruve):
    rule.example(f, np.array([[0], [2]]), REAL)
for f in (sp.itstruve0, sp.it2struve0, sp.itmodstruve0):
    rule.example(f, REAL)
