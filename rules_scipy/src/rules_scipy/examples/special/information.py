"""Calls that the rules of `rules_scipy.special.information` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.information import rule

X, Y = np.array([[0.4], [1.7]]), np.array([0.7, 2.5])
rule.example(sp.entr, Y)
for f in (sp.rel_entr, sp.kl_div):
    rule.example(f, X, Y)
for f in (sp.huber, sp.pseudo_huber):
    rule.example(f, X, np.array([-2.0, 0.3, 1.5]))
