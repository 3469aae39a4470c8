"""Calls that the rules of `rules_scipy.special.legendre` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.legendre import rule

X = np.array([-0.6, 0.4])
rule.example(sp.lpmv, np.array([[0], [1], [2]]), 3, X)
for d in (0, 1, 2):
    rule.example(sp.legendre_p, 3, X, diff_n=d)
    rule.example(sp.legendre_p_all, 2, X, diff_n=d)
    for f in (sp.sph_legendre_p, sp.sph_legendre_p_all):
        rule.example(f, 3, 1, X, diff_n=d)
    for f in (sp.assoc_legendre_p, sp.assoc_legendre_p_all):
        rule.example(f, 3, 1, X, diff_n=d)
        rule.example(f, 2, 1, X, norm=True, diff_n=d)
    for f in (sp.sph_harm_y, sp.sph_harm_y_all):
        rule.example(f, 2, 1, X + 1.0, X, diff_n=d)
rule.example(sp.legendre_p, np.array([[1], [2]]), X)
rule.example(sp.lqn, 3, 0.4)
rule.example(sp.lqn, 2, np.array([0.4, -0.2]))
rule.example(sp.lqmn, 1, 2, 0.4)
