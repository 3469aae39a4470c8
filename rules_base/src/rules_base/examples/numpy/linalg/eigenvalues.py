"""Calls that the rules of `rules_base.numpy.linalg.eigenvalues` are checked with."""

import numpy as np

from rules_base.numpy.linalg.eigenvalues import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
WITH_REAL = np.array([[1.0, 0.5, 0.25], [0.3, 2.0, -0.5], [0.2, -0.4, 4.0]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
for f in (np.linalg.eigh, np.linalg.eigvalsh):
    for a in (
        MATRIX,
        COMPLEX,
        np.stack([COMPLEX, COMPLEX.T - MATRIX]),
        MATRIX[:1, :1],
        COMPLEX[:1, :1],
    ):
        rule.example(f, a)
        rule.example(f, a, "U")
    rule.example(f, WITH_REAL.tolist())
for f in (np.linalg.eig, np.linalg.eigvals):
    for a in (MATRIX, WITH_REAL, COMPLEX, np.stack([COMPLEX, COMPLEX.T - MATRIX]), COMPLEX[:1, :1]):
        rule.example(f, a)
    rule.example(f, WITH_REAL.tolist())
