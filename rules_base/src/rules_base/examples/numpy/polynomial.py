"""Calls that the rules of `rules_base.numpy.polynomial` are checked with."""

import numpy as np

from rules_base.numpy.polynomial import FROM_ROOTS, rule

polyval = np.polynomial.polynomial.polyval
rule.example(polyval, 1.2, np.array([2.0, 0.5, 3.0]))
rule.example(polyval, np.array([0.0, 1.2]), [2.0, 0.5, 3.0])
rule.example(polyval, np.array([0.0, 1.2]), np.array([[2.0, 0.5], [3.0, 1.0], [0.5, 0.2]]))
rule.example(np.polynomial.polyutils.trimseq, [0.5, 1.5])
for from_roots in FROM_ROOTS:
    rule.example(from_roots, np.array([0.5, -1.5, 0.7]))
    rule.example(from_roots, np.array([0.0, 1.0, -1.0]))
    rule.example(from_roots, [0.5 + 0.3j, -0.4])
