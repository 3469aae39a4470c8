"""Calls that the rules of `rules_scipy.linalg.structured` are checked with."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.structured import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
DEFINITE = MATRIX @ MATRIX.T + 0.5 * np.eye(3)
HERMITIAN = COMPLEX @ COMPLEX.conj().T + 0.5 * np.eye(3)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
VECTOR = np.array([0.5, -1.5, 2.0])
rule.example(sl.toeplitz, VECTOR)
rule.example(sl.toeplitz, VECTOR + 0.5j)
rule.example(sl.toeplitz, VECTOR, np.arange(1.0, 5.0))
rule.example(sl.circulant, VECTOR)
rule.example(sl.hankel, VECTOR)
rule.example(sl.hankel, VECTOR, np.arange(1.0, 5.0))
rule.example(sl.companion, VECTOR)
rule.example(sl.block_diag, MATRIX, VECTOR, 2.0, TALL)
rule.example(sl.solve_toeplitz, VECTOR, VECTOR[::-1])
rule.example(sl.solve_toeplitz, (VECTOR, VECTOR + 0.3), TALL.T)
rule.example(sl.solve_toeplitz, (VECTOR + 0.5j, VECTOR + 0.3j), TALL.T)
rule.example(sl.matmul_toeplitz, (VECTOR, np.arange(4.0)), TALL)
rule.example(sl.matmul_toeplitz, VECTOR, VECTOR[::-1])
rule.example(sl.solve_circulant, VECTOR, VECTOR[::-1])
rule.example(sl.solve_circulant, VECTOR + 0.5j, TALL.T)
