"""Calls that the rules of `rules_scipy.special.noncentral` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.noncentral import rule

X, NC = np.array([[1.4], [3.5]]), np.array([0.7, 2.5])
P = np.array([[0.2], [0.7]])
rule.example(sp.chndtr, X, 3.0, NC)
rule.example(sp.chndtrix, P, 3.0, NC)
rule.example(sp.chndtrinc, X + 4.0, 3.0, np.array([0.3, 0.6]))
rule.example(sp.ncfdtr, 3.0, 5.0, NC, X)
rule.example(sp.ncfdtri, 3.0, 5.0, NC, P)
rule.example(sp.ncfdtrinc, 3.0, 5.0, np.array([0.3, 0.6]), X + 4.0, check_tolerance=5e-3)
rule.example(sp.nctdtr, 3.0, NC, X)
rule.example(sp.nctdtrit, 3.0, NC, P)
rule.example(sp.nctdtrinc, 3.0, np.array([0.3, 0.6]), X + 2.0)
rule.example(sp.chndtridf, X + 2.0, P, NC)
rule.example(sp.ncfdtridfn, 0.6, 5.0, np.array([2.0, 2.5]), 1.9, check_tolerance=5e-3)
rule.example(sp.ncfdtridfd, 3.0, 0.7, np.array([0.5, 0.7]), 3.4, check_tolerance=5e-3)
rule.example(sp.nctdtridf, 0.6, np.array([0.7, 0.8]), 1.2, check_tolerance=5e-3)
