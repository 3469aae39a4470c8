"""Calls that the rules of `rules_scipy.special.hypergeometric` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.hypergeometric import rule

X = np.array([-0.6, 0.4])
rule.example(sp.hyp0f1, 2, X)
rule.example(sp.hyp1f1, 1, 3, X)
rule.example(sp.hyperu, 1, 2, X + 1.0)
rule.example(sp.hyperu, 2, np.array([-1, 3]), X + 1.0)
rule.example(sp.hyp2f1, 1, 2, 3, X)
for f, orders in ((sp.hyp0f1, (2,)), (sp.hyp1f1, (1, 3)), (sp.hyp2f1, (1, 2, 3))):
    rule.example(f, *orders, X + 0.3j)
