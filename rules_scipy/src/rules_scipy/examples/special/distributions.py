"""Calls that the rules of `rules_scipy.special.distributions` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.distributions import rule

A, B, X = np.array([[0.8], [2.4]]), np.array([1.3, 3.2]), np.array([0.9, 2.2])
P = np.array([0.2, 0.7])
for f in (sp.gdtr, sp.gdtrc):
    rule.example(f, A, B, X)
rule.example(sp.gdtrix, A, B, P)
rule.example(sp.gdtria, P, B, A)
rule.example(sp.gdtrib, A, P, X)
for f in (sp.chdtr, sp.chdtrc):
    rule.example(f, A, X)
rule.example(sp.chdtri, A, P)
rule.example(sp.chdtriv, P, X)
K = np.array([[1], [3]])
for f in (sp.pdtr, sp.pdtrc):
    rule.example(f, K, X)
rule.example(sp.pdtri, K, P)
rule.example(sp.pdtrik, P, np.array([3.5, 6.2]))
rule.example(sp.btdtria, P, B, np.array([0.3, 0.6]))
rule.example(sp.btdtrib, B, P, np.array([0.3, 0.6]))
for f in (sp.bdtr, sp.bdtrc, sp.bdtri, sp.nbdtr, sp.nbdtrc, sp.nbdtri):
    rule.example(f, K, 5, P)
rule.example(sp.bdtrik, P, 7.0, np.array([0.4, 0.6]))
rule.example(sp.bdtrin, 2.0, P, np.array([0.3, 0.4]))
rule.example(sp.nbdtrik, P, 7.0, np.array([0.4, 0.6]))
rule.example(sp.nbdtrin, 2.0, P, np.array([0.3, 0.4]))
for f in (sp.fdtr, sp.fdtrc):
    rule.example(f, A, B, X)
rule.example(sp.fdtri, A, B, P)
rule.example(sp.fdtridfd, 3.0, np.array([0.6, 0.7]), np.array([1.4, 1.8]))
rule.example(sp.stdtr, B, np.array([[-1.2], [0.7]]))
rule.example(sp.stdtrit, B, P)
rule.example(sp.stdtridf, np.array([0.8, 0.7]), np.array([1.1, 0.6]))
rule.example(sp.nrdtrimn, P, A, X)
rule.example(sp.nrdtrisd, X, P, A + 5.0)
rule.example(sp.kolmogorov, np.array([0.6, 1.1]))
rule.example(sp.kolmogi, P)
rule.example(sp.smirnov, 5, np.array([0.15, 0.33]))
rule.example(sp.smirnovi, 5, P)
rule.example(sp._ufuncs._kolmogp, np.array([0.6, 1.1]))
rule.example(sp._ufuncs._smirnovp, 5, np.array([0.15, 0.33]))
rule.example(sp.tklmbda, np.array([-0.4, 0.7]), np.array([[0.3], [-0.5], [1.4]]))
