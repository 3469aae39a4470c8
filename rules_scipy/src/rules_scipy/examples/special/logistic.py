"""Calls that the rules of `rules_scipy.special.logistic` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.logistic import rule

REAL = np.array([-1.3, 0.4])
for f in (sp.expit, sp.log_expit):
    rule.example(f, REAL)
if hasattr(sp, "softplus"):
    rule.example(sp.softplus, REAL)
rule.example(sp.logit, np.array([0.2, 0.9]))
for f in (sp.boxcox, sp.boxcox1p, sp.inv_boxcox, sp.inv_boxcox1p):
    rule.example(f, np.array([0.4, 1.7]), np.array([[0.7], [0.05], [2.0]]))
