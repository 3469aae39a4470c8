"""Calls that the rules of `rules_scipy.special.combinatorics` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.combinatorics import rule

N, K = np.array([[4.3], [7.0]]), np.array([1.2, 3.0])
for f in (sp.binom, sp.comb, sp.perm):
    rule.example(f, N, K)
rule.example(sp.binom, 3.0, np.array([5.0, -1.0]))
rule.example(sp.comb, N, K, repetition=True)
for f in (sp.comb, sp.perm):
    rule.example(f, 5, 2, exact=True)
rule.example(sp.factorial, K)
rule.example(sp.factorial, 4)
rule.example(sp.factorial, 4, exact=True)
