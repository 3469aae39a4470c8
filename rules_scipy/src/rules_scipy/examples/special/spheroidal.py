"""Calls that the rules of `rules_scipy.special.spheroidal` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.spheroidal import rule

X = np.array([-0.4, 0.7])
for f in (sp.pro_cv, sp.obl_cv):
    rule.example(f, 1, 2, np.array([0.7, 1.5]))
for f in (sp.pro_ang1, sp.obl_ang1):
    rule.example(f, 1, 2, 1, X)
rule.example(sp.pro_rad1, 1, 2, 1, X + 2)
rule.example(sp.obl_rad1, 1, 2, 1, X + 1)
PROLATE, OBLATE = sp.pro_cv(1, 2, 1), sp.obl_cv(1, 2, 1)
rule.example(sp.pro_ang1_cv, 1, 2, 1, PROLATE, X)
rule.example(sp.obl_ang1_cv, 1, 2, 1, OBLATE, X)
rule.example(sp.pro_rad1_cv, 1, 2, 1, PROLATE, X + 2)
rule.example(sp.obl_rad1_cv, 1, 2, 1, OBLATE, X + 1)
rule.example(sp.pro_cv_seq, 1, 3, 1.3)
rule.example(sp.obl_cv_seq, 0, 2, 1.3)
