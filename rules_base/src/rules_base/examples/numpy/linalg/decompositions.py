"""Calls that the rules of `rules_base.numpy.linalg.decompositions` are checked with."""

import numpy as np

from rules_base.numpy.linalg.decompositions import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
DEFINITE = MATRIX @ MATRIX.T + 0.5 * np.eye(3)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
for upper in (False, True):
    rule.example(np.linalg.cholesky, DEFINITE, upper=upper)
    rule.example(np.linalg.cholesky, COMPLEX @ COMPLEX.conj().T, upper=upper)
    rule.example(np.linalg.cholesky, np.stack([DEFINITE, 2 * np.eye(3)]), upper=upper)
rule.example(np.linalg.cholesky, DEFINITE.tolist())
for a in (MATRIX, TALL, TALL.T, np.stack([TALL, TALL[::-1]])):
    for b in (a, a + 1j * np.cos(3 * a)):
        rule.example(np.linalg.qr, b)
        rule.example(np.linalg.qr, b, "r")
        rule.example(np.linalg.svdvals, b)
        rule.example(np.linalg.svd, b, compute_uv=False)
    rule.example(np.linalg.svd, a, full_matrices=False)
rule.example(np.linalg.qr, MATRIX, "complete")
rule.example(np.linalg.qr, TALL.T + 0.5j, "complete")
rule.example(np.linalg.svd, MATRIX)
rule.example(np.linalg.svd, DEFINITE - 2 * np.eye(3), hermitian=True)
rule.example(np.linalg.svd, COMPLEX + COMPLEX.conj().T, compute_uv=False, hermitian=True)
rule.example(np.linalg.svd, MATRIX.tolist())
