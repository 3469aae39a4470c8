"""Calls that the rules of `rules_base.python.builtins` are checked with."""

import numpy as np

from rules_base.python.builtins import rule

rule.example(round, 0.7)
rule.example(round, 0.777, 2)
rule.example(complex, 0.7)
rule.example(complex, 0.7, -1.2)
rule.example(float, 0.7)
rule.example(float, 3)
rule.example(float, "0.5")
rule.example(pow, 3, 4, 5)
for f in (sum, max, min):
    rule.example(f, [0.7, -1.2, 3.0])
    rule.example(f, (0.7, -1.2, 3.0))
    rule.example(f, np.array([0.7, -1.2, 3.0]))
for f in (max, min):
    rule.example(f, 0.7, -1.2)
    rule.example(f, 0.7, -1.2, 3.0)
rule.example(sum, [0.7, -1.2, 3.0], 0.5)
rule.example(sum, [np.array([0.7, -1.2]), 3.0])
rule.example(sum, np.array([[0.7, -1.2], [0.1, 0.2]]))
rule.example(sum, np.array([[0.7, -1.2], [0.1, 0.2]]), 0.3)
rule.example(complex.conjugate, 0.7 - 1.2j)
rule.example(float.conjugate, 0.7)
rule.example(int.conjugate, 7)
