"""Calls that the rules of `rules_base.numpy.ufunc_methods` are checked with."""

import numpy as np

from rules_base.numpy.ufunc_methods import CHAINS, OUTER, PIECES, RUNNING, rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
REDUCED = (np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin)
REDUCED += (np.logaddexp, np.logaddexp2, np.hypot)
for f in REDUCED:
    rule.example(f.reduce, MATRIX)
    rule.example(f.reduce, MATRIX, axis=1, keepdims=True)
rule.example(np.add.reduce, MATRIX, axis=None)
for f in REDUCED[:6]:
    rule.example(f.reduce, MATRIX, 1, None, None, True, 0.3, MATRIX > -1.0)
    rule.example(f.reduce, MATRIX, axis=None, initial=1.0, where=np.array([True, False, True]))
    rule.example(f.accumulate, MATRIX)
    rule.example(f.accumulate, MATRIX, 1)
rule.example(np.add.reduceat, MATRIX, [0, 2], axis=1)
rule.example(np.add.reduceat, np.concatenate([MATRIX, MATRIX]), [2, 0, 1])
for f in CHAINS:
    rule.example(f.reduce, abs(MATRIX) + 0.3, 1)
    rule.example(f.reduce, abs(MATRIX[1]) + 0.3, axis=None)
    rule.example(f.reduce, abs(MATRIX) + 0.3, keepdims=True)
for f in (*CHAINS, *RUNNING):
    rule.example(f.accumulate, abs(MATRIX) + 0.3, 1)
for f in PIECES:
    rule.example(f.reduceat, MATRIX, [0, 2, 1], axis=1)
for f in OUTER:
    rule.example(f.outer, abs(MATRIX), np.array([0.7, 3.1]))
for method in (np.ufunc.reduce, np.ufunc.accumulate):
    rule.example(method, np.multiply, MATRIX, axis=1)
rule.example(np.ufunc.reduce, np.maximum, [MATRIX[0], (0.1, 0.2, 0.3), MATRIX[1]])
rule.example(np.ufunc.outer, np.add, [0.5, 1.5], (0.25, MATRIX[1, 0]))
rule.example(np.ufunc.reduceat, np.add, MATRIX, [0, 2], 1)
rule.example(np.ufunc.outer, np.hypot, MATRIX, np.array([0.7, 3.1]))
