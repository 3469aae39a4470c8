"""Calls that the rules of `rules_base.numpy.matmul` are checked with."""

import operator

import numpy as np

from rules_base.numpy.matmul import rule

VECTOR = np.array([0.5, -1.5, 2.0])
OTHER = np.array([1.25, 0.5, -0.75])
MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
STACK = np.arange(24.0).reshape(2, 4, 3) / 10 - 1.1
for f in (np.matmul, operator.matmul, np.dot, np.ndarray.dot):
    rule.example(f, VECTOR, OTHER)
    rule.example(f, VECTOR, MATRIX.T)
    rule.example(f, MATRIX, VECTOR)
    rule.example(f, MATRIX, MATRIX.T)
    rule.example(f, MATRIX + 0.5j, MATRIX.T - 0.25j)
    rule.example(f, STACK, VECTOR)
    rule.example(f, STACK, MATRIX.T)
    rule.example(f, VECTOR, STACK.swapaxes(-1, -2))
    rule.example(f, MATRIX, STACK.swapaxes(-1, -2))
    rule.example(f, STACK, STACK.swapaxes(-1, -2))
for f in (np.matmul, operator.matmul):
    rule.example(f, STACK[:, None], STACK.swapaxes(-1, -2)[0:1])
rule.example(np.dot, 0.5, MATRIX)
rule.example(np.dot, MATRIX, 0.5)
rule.example(np.dot, 0.5, -0.75)
