"""Calls that the rules of `rules_scipy.special.gamma` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.gamma import rule

REAL = np.array([0.3, 2.7, -1.4])
COMPLEX = np.array([0.3 + 0.4j, -1.2 - 0.7j])
A, B = np.array([[0.4], [3.2]]), np.array([0.7, 2.5])
for f in (sp.gamma, sp.gammaln, sp.rgamma, sp.psi):
    rule.example(f, REAL)
for f in (sp.gamma, sp.loggamma, sp.rgamma, sp.psi):
    rule.example(f, COMPLEX)
rule.example(sp.rgamma, np.array([-1.0, -2.0, 0.0]))
rule.example(sp.polygamma, 2, B)
rule.example(sp.multigammaln, A + 2.0, 3)
for f in (sp.beta, sp.betaln, sp.poch, sp.gammainc, sp.gammaincc):
    rule.example(f, A, B)
for f in (sp.gammaincinv, sp.gammainccinv):
    rule.example(f, A, np.array([0.2, 0.8]))
for f in (sp.betainc, sp.betaincc, sp.betaincinv, sp.betainccinv):
    rule.example(f, A, B, np.array([0.2, 0.8]))
