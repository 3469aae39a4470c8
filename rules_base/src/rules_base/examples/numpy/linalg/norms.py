"""Calls that the rules of `rules_base.numpy.linalg.norms` are checked with."""

import numpy as np

from rules_base.numpy.linalg.norms import rule

VECTOR = np.array([0.5, -1.5, 2.0])
MATRIX = np.array([[2.6, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
STACK = np.sin(np.arange(1.0, 25.0) ** 2).reshape(2, 4, 3)
for ord in (None, 0, 0.5, 1, 2, 3, 3.5, -1, -2, np.inf, -np.inf):
    rule.example(np.linalg.norm, VECTOR, ord=ord)
    rule.example(np.linalg.norm, COMPLEX[0], ord=ord)
    rule.example(np.linalg.norm, STACK, ord=ord, axis=1)
    if ord is not None:
        rule.example(np.linalg.vector_norm, COMPLEX, ord=ord)
        rule.example(np.linalg.vector_norm, STACK, axis=(0, 2), ord=ord, keepdims=True)
for ord in (None, "fro", "nuc", 1, 2, -1, -2, np.inf, -np.inf):
    rule.example(np.linalg.norm, MATRIX, ord)
    rule.example(np.linalg.norm, COMPLEX, ord)
    rule.example(np.linalg.norm, STACK, ord=ord, axis=(0, 2), keepdims=True)
    rule.example(np.linalg.norm, STACK, ord=ord, axis=(-1, 0))
    rule.example(np.linalg.cond, MATRIX, ord)
    rule.example(np.linalg.cond, COMPLEX * np.ones((2, 1, 1)), ord)
    if ord is not None:
        rule.example(np.linalg.matrix_norm, STACK + 0.5j, ord=ord)
        rule.example(np.linalg.matrix_norm, STACK, keepdims=True, ord=ord)
for ord in (0.5, 1.0, 2.0, 3.5, -2.0, np.inf):
    rule.example(np.linalg.norm, COMPLEX[0], ord)
    rule.example(np.linalg.norm, STACK, ord, 1, True)
rule.example(np.linalg.norm, STACK)
rule.example(np.linalg.norm, STACK, keepdims=True)
rule.example(np.linalg.norm, -1.5)
rule.example(np.linalg.norm, [0.5, -1.5])
rule.example(np.linalg.norm, (0.5, -1.5))
rule.example(np.linalg.cond, STACK[0])
rule.example(np.linalg.cond, STACK[0], -2)
