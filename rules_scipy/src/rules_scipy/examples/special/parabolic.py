"""Calls that the rules of `rules_scipy.special.parabolic` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.parabolic import rule

X = np.array([-0.4, 0.7])
for f in (sp.pbdv, sp.pbvv):
    rule.example(f, np.array([[1], [2]]), X)
rule.example(sp.pbwa, 1, X)
for f in (sp.pbdv_seq, sp.pbvv_seq):
    rule.example(f, 2, 0.7)
rule.example(sp.pbdn_seq, 2, 0.7)
