"""Calls that the rules of `rules_scipy.special.convenience` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.convenience import rule

REAL = np.array([-0.6, 0.4, 1.7])
POSITIVE = np.array([0.4, 1.7])
for f in (sp.cbrt, sp.exp2, sp.exp10, sp.expm1, sp.exprel, sp.log1p, sp.cosm1):
    rule.example(f, REAL)
for f in (sp.sindg, sp.cosdg, sp.tandg, sp.cotdg):
    rule.example(f, 40 * REAL)
for f in (sp.expm1, sp.log1p):
    rule.example(f, REAL + 0.5j)
for f in (sp.xlogy, sp.xlog1py, sp.powm1):
    rule.example(f, np.array([[0.7], [1.3]]), POSITIVE)
rule.example(sp.xlogy, POSITIVE + 0.5j, POSITIVE - 0.3j)
rule.example(sp.radian, 30.0, 12.5, 7.0)
rule.example(sp.agm, POSITIVE, np.array([[0.3], [5.0]]))
rule.example(sp.diric, REAL, 5)
rule.example(sp.diric, REAL, np.array([[4], [7]]))
