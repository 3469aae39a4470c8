"""Calls that the rules of `rules_base.numpy.linalg.chains` are checked with."""

import numpy as np

from rules_base.numpy.linalg.chains import rule

MATRIX = np.array([[0.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 0.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
for n in (0, 1, 2, 3, 4, 5, 7, 10, -1, -2, -5):
    rule.example(np.linalg.matrix_power, MATRIX, n)
    rule.example(np.linalg.matrix_power, np.stack([COMPLEX, COMPLEX.T]), n)
rule.example(np.linalg.matrix_power, MATRIX.tolist(), 3)
rule.example(np.linalg.multi_dot, [TALL, MATRIX])
rule.example(np.linalg.multi_dot, [MATRIX[0], TALL.T, TALL[:, 0]])
rule.example(np.linalg.multi_dot, (MATRIX, COMPLEX, TALL.T))
rule.example(np.linalg.multi_dot, [TALL[1], TALL.T, TALL, COMPLEX, MATRIX[:, :1], MATRIX[:1]][1:])
rule.example(np.linalg.multi_dot, [TALL[:, 0], TALL, COMPLEX, MATRIX, MATRIX[1]])
rule.example(np.linalg.multi_dot, np.stack([COMPLEX, MATRIX, MATRIX.T, COMPLEX.T]))
