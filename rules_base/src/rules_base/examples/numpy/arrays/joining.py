"""Calls that the rules of `rules_base.numpy.arrays.joining` are checked with."""

import numpy as np

from rules_base.numpy.arrays.joining import rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
rule.example(np.concatenate, [MATRIX, MATRIX[:1]])
rule.example(np.concatenate, (MATRIX, MATRIX[:, :1]), axis=-1)
rule.example(np.concatenate, (MATRIX, MATRIX[0]), axis=None)
rule.example(np.stack, [MATRIX, MATRIX + 1.0], axis=-1)
rule.example(np.stack, (0.5, 1.5))
for f in (np.concatenate, np.stack):
    rule.example(f, [MATRIX, MATRIX[:, ::-1]], axis=1, dtype=complex)
rule.example(np.concatenate, np.stack([MATRIX, MATRIX + 1.0]), axis=1)
rule.example(np.concatenate, [MATRIX[0], [0.5, 0.25]])
rule.example(np.stack, np.stack([MATRIX, MATRIX + 1.0]), axis=1)
rule.example(np.stack, [MATRIX[0], [0.5, 0.25, 1.0]], axis=1)
for f in (np.vstack, np.hstack, np.dstack, np.column_stack):
    rule.example(f, [MATRIX, MATRIX + 1.0])
    rule.example(f, (MATRIX[0], MATRIX[1]))
    for x in (MATRIX, MATRIX[0], np.stack([MATRIX, MATRIX + 1.0])):
        rule.example(f, x)
rule.example(np.vstack, [MATRIX, MATRIX[0]])
rule.example(np.column_stack, [MATRIX, MATRIX[:, 0]])
rule.example(np.hstack, [0.5, MATRIX[0]])
rule.example(np.append, MATRIX, MATRIX[:1], axis=0)
rule.example(np.append, MATRIX, 0.5)
rule.example(np.append, MATRIX[0], [0.5, 0.25])
rule.example(np.block, [[MATRIX, MATRIX[:, :1]], [np.ones((1, 4))]])
rule.example(np.block, [MATRIX[0], 0.5])
for f in (np.split, np.array_split):
    rule.example(f, MATRIX, 3, axis=1)
    rule.example(f, MATRIX, [1], axis=0)
rule.example(np.array_split, MATRIX[0], 2)
rule.example(np.vsplit, MATRIX, 2)
rule.example(np.hsplit, MATRIX, [1])
rule.example(np.hsplit, MATRIX[0], [1])
rule.example(np.dsplit, np.stack([MATRIX, MATRIX], -1), 2)
if hasattr(np, "unstack"):
    rule.example(np.unstack, MATRIX, axis=1)
