"""Calls that the rules of `rules_scipy.special.noncentral` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.noncentral import rule

X, NC = np.array([[1.4], [3.5]]), np.array([0.7, 2.5])
P = np.array([[0.2], [0.7]])
rule.example(sp.chndtr, X, 3, NC)
rule.example(sp.chndtrix, P, 3, NC)
rule.example(sp.chndtrinc, X + 4.0, 3, np.array([0.3, 0.6]))
rule.example(sp.ncfdtr, 3, 5, NC, X)
rule.example(sp.ncfdtri, 3, 5, NC, P)
rule.example(sp.ncfdtrinc, 3, 5, np.array([0.3, 0.6]), X + 4.0, check_tolerance=5e-3)
rule.example(sp.nctdtr, 3, NC, X)
rule.example(sp.nctdtrit, 3, NC, P)
rule.example(sp.nctdtrinc, 3, np.array([0.3, 0.6]), X + 2.0)
