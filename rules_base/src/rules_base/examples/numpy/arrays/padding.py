"""Calls that the rules of `rules_base.numpy.arrays.padding` are checked with."""

import numpy as np

from rules_base.numpy.arrays.padding import MODES, rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
rule.example(np.pad, MATRIX, ((1, 2), (0, 3)))
rule.example(np.pad, MATRIX, 2, "constant", constant_values=1.5)
for mode in MODES[:-1]:
    rule.example(np.pad, MATRIX, ((1, 1), (0, 2)), mode)
rule.example(np.pad, MATRIX, 1, mode="reflect", reflect_type="even")
rule.example(np.pad, MATRIX, (2, 3), "linear_ramp", end_values=((0.5, 1.5), (2.0, 3.0)))
for mode in ("maximum", "minimum", "mean"):
    rule.example(np.pad, MATRIX, 2, mode, stat_length=((1, 2), (2, 5)))
rule.example(np.pad, MATRIX[0] + 1j, 2, "mean", stat_length=2)
