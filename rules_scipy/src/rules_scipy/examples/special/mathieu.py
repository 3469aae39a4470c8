"""Calls that the rules of `rules_scipy.special.mathieu` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.mathieu import rule

Q = np.array([0.7, 1.5])
ORDERS = np.array([[1], [2]])
for f in (sp.mathieu_a, sp.mathieu_b):
    rule.example(f, ORDERS, Q)
for f in (sp.mathieu_cem, sp.mathieu_sem):
    rule.example(f, ORDERS, 1, np.array([30.0, 70.0]))
for f in (sp.mathieu_modcem1, sp.mathieu_modcem2, sp.mathieu_modsem1, sp.mathieu_modsem2):
    rule.example(f, 1, 2, np.array([0.4, 0.9]))
