"""Calls that the rules of `rules_base.numpy.calculus` are checked with."""

import numpy as np

from rules_base.numpy.calculus import rule

MATRIX = np.array([[0.5, -1.5, 2.0, 0.3], [1.25, 0.75, -0.25, 0.1]])
KNOTS = np.array([0.0, 1.0, 1.5, 4.0])
for axis in (0, 1):
    rule.example(np.diff, MATRIX, axis=axis)
    rule.example(np.trapezoid, MATRIX, dx=0.5, axis=axis)
rule.example(np.diff, MATRIX, 2)
rule.example(np.ediff1d, MATRIX)
rule.example(np.ediff1d, np.array([0.5, -1.5, 2.0]), 0.25)
rule.example(np.ediff1d, np.array([0.5, -1.5, 2.0]), [0.25, 1.5], None)
rule.example(np.ediff1d, np.array([[0.5, -1.5], [2.0, 0.0]]), None, np.array([0.25, 1.5]))
rule.example(np.ediff1d, np.array([0.5, -1.5, 2.0]), 0.25, 0.75)
rule.example(np.trapezoid, MATRIX, KNOTS)
rule.example(np.trapezoid, MATRIX, MATRIX**2, axis=0)
rule.example(np.gradient, KNOTS)
rule.example(np.gradient, KNOTS, 0.5, edge_order=2)
rule.example(np.gradient, np.concatenate([MATRIX, MATRIX * 2]), 0.5)
rule.example(np.gradient, np.concatenate([MATRIX, MATRIX * 2]), 0.5, 0.25)
rule.example(np.gradient, MATRIX, 0.5, axis=0)
rule.example(np.gradient, MATRIX * (1 - 2j), 0.5 + 0.3j)
rule.example(np.interp, np.array([-0.5, 0.3, 1.2, 3.0, 5.0]), KNOTS, MATRIX[0])
rule.example(np.interp, 1.2, KNOTS, MATRIX[0])
rule.example(np.interp, np.array([-0.5, 0.3, 3.1, 14.0]), KNOTS, MATRIX[0], period=3.2)
rule.example(np.interp, -7.1, KNOTS, MATRIX[0] * 1j, period=-6.0)
rule.example(np.interp, np.array([-0.5, 0.3, 5.0]), KNOTS, MATRIX[0], left=0.5, right=0.1)
rule.example(np.interp, 1.2, [0.0, 1.0, 1.5, 4.0], [0.5, -1.5, 2.0, 0.3])
rule.example(np.interp, [1.2, 3.0], KNOTS, (0.5, -1.5, 2.0, 0.3))
rule.example(np.trapezoid, MATRIX[0], [0.0, 1.0, 1.5, 4.0])
rule.example(np.interp, np.array([-0.5, 0.3, 5.0, 6.0]), KNOTS, MATRIX[0], 0.5, 0.1)
rule.example(np.interp, np.array([-0.5, 0.3, 5.0]), KNOTS, MATRIX[0], None, 0.1)
rule.example(np.interp, np.array([-0.5, 0.3, 5.0]), KNOTS, MATRIX[0], 0.5, right=0.1)
