"""Calls that the rules of `rules_base.numpy.evalpoly` are checked with."""

import numpy as np

from rules_base.numpy.evalpoly import evalpoly, rule

rule.example(evalpoly, 1.2, [2.0, 0.0, 3.0, 4.0])
rule.example(evalpoly, 0.0, [2.0, 0.5, 3.0])
rule.example(evalpoly, 1.2, (2.0,))
rule.example(evalpoly, np.array([0.0, 1.2, -0.5]), (2.0, 0.5, 3.0))
rule.example(evalpoly, np.array([0.0, 1.2, -0.5]), np.array([2.0, 0.5, 3.0]))
rule.example(evalpoly, 0.5 + 0.3j, np.array([2.0, 0.5j, 3.0]))
rule.example(np.polyval, np.array([2.0, 0.5, 3.0]), 1.2)
rule.example(np.polyval, [2.0, 0.5, 3.0], np.array([0.0, 1.2]))
P, Q = np.array([2.0, 0.5, 3.0, 1.5]), np.array([0.5, -1.5])
for f in (np.polyadd, np.polysub, np.polymul):
    rule.example(f, P, Q)
    rule.example(f, Q, P)
for f in (np.polyder, np.polyint):
    rule.example(f, P)
    rule.example(f, P, 2)
rule.example(np.polyint, P, 2, [0.5, 1.5])
rule.example(np.polyder, Q, 2)
rule.example(np.polymul, P + 1j, Q * 1j)
