"""Calls that the rules of `rules_base.numpy.covariance` are checked with."""

import numpy as np

from rules_base.numpy.covariance import rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
for f in (np.cov, np.corrcoef):
    rule.example(f, MATRIX + 0.3 * MATRIX[::-1, ::-1] ** 2)
    rule.example(f, MATRIX.T + 0.3 * MATRIX.T[::-1] ** 2, rowvar=False)
    rule.example(f, MATRIX + 0.3 * MATRIX[::-1, ::-1] ** 2, None)
    rule.example(f, MATRIX[0], MATRIX[1] ** 2)
    rule.example(f, MATRIX.T + 0.3 * MATRIX.T[::-1] ** 2, MATRIX.T**3, rowvar=False)
    rule.example(f, MATRIX + 0.3 * MATRIX[::-1, ::-1] ** 2, dtype=np.float64)
rule.example(np.cov, MATRIX[0])
rule.example(np.cov, [0.5, -1.5, 2.0, 0.1])
rule.example(np.cov, [0.5, -1.5, 2.0], (0.25, 1.5, 1.0))
rule.example(np.corrcoef, [[0.5, -1.5, 2.0], [0.25, 1.5, 1.0]])
rule.example(np.cov, MATRIX, abs(MATRIX[0]), bias=True)
rule.example(np.cov, MATRIX * 1j + MATRIX[::-1], ddof=0)
rule.example(np.cov, MATRIX, fweights=[3, 1, 2], ddof=0)
rule.example(np.cov, MATRIX, MATRIX[0] ** 2, True, False, 1, [3, 1, 2])
rule.example(np.cov, MATRIX, aweights=np.array([0.5, 1.25, 2.0]))
rule.example(np.cov, MATRIX, fweights=[3, 1, 2], aweights=[0.5, 1.25, 2.0])
rule.example(np.cov, MATRIX, None, True, False, None, None, np.array([0.5, 1.25, 2.0]))
rule.example(np.cov, MATRIX.T, MATRIX.T**2, False, True, None, [3, 1, 2], [0.5, 1.25, 2.0])
rule.example(
    np.cov, MATRIX * 1j + MATRIX[::-1], None, True, False, 2, [3, 1, 2], np.array([0.5, 1.25, 2.0])
)
