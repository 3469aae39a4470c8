"""Calls that the rules of `rules_scipy.special.elliptic` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.elliptic import rule

M = np.array([-0.7, 0.2, 0.8])
X, Y, Z = np.array([0.4, 1.7]), np.array([0.7, 2.5]), np.array([[1.3], [0.2]])
for f in (sp.ellipk, sp.ellipe):
    rule.example(f, M)
rule.example(sp.ellipkm1, np.array([0.2, 1.4]))
for f in (sp.ellipkinc, sp.ellipeinc):
    rule.example(f, np.array([[0.4], [-1.2], [2.3], [7.5]]), M)
rule.example(sp.ellipj, np.array([[0.4], [-1.2], [2.8]]), np.array([0.2, 0.8]))
rule.example(sp.elliprc, X, Y)
rule.example(sp.elliprc, X, -Y)
for f in (sp.elliprf, sp.elliprg, sp.elliprd):
    rule.example(f, X, Y, Z)
rule.example(sp.elliprf, X + 0.4j, Y, Z)
rule.example(sp.elliprd, X + 0.4j, Y, X + 0.4j)
rule.example(sp.elliprj, X, Y, Z, 0.9)
rule.example(sp.elliprj, X, Y, 1.3, -0.9 + 0.2j)
rule.example(sp.elliprj, X, Y, 1.3, -0.9)
