"""Calls that the rules of `rules_scipy.linalg.singular` are checked with."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.singular import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
DEFINITE = MATRIX @ MATRIX.T + 0.5 * np.eye(3)
HERMITIAN = COMPLEX @ COMPLEX.conj().T + 0.5 * np.eye(3)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
VECTOR = np.array([0.5, -1.5, 2.0])
for a in (MATRIX, TALL, TALL.T, COMPLEX):
    rule.example(sl.svdvals, a)
    rule.example(sl.svd, a, compute_uv=False)
for a in (MATRIX, TALL, TALL.T):
    rule.example(sl.svd, a, full_matrices=False)
rule.example(sl.svd, MATRIX)
