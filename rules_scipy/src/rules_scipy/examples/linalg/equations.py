"""Calls that the rules of `rules_scipy.linalg.equations` are checked with."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.equations import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
DEFINITE = MATRIX @ MATRIX.T + 0.5 * np.eye(3)
HERMITIAN = COMPLEX @ COMPLEX.conj().T + 0.5 * np.eye(3)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
VECTOR = np.array([0.5, -1.5, 2.0])
rule.example(sl.solve_sylvester, MATRIX, DEFINITE, TALL[:3])
rule.example(sl.solve_sylvester, COMPLEX, DEFINITE, TALL[:3])
rule.example(sl.solve_continuous_lyapunov, MATRIX, TALL[:3])
rule.example(sl.solve_continuous_lyapunov, COMPLEX, TALL[:3])
rule.example(sl.solve_discrete_lyapunov, MATRIX / 4, TALL[:3])
rule.example(sl.solve_discrete_lyapunov, COMPLEX / 4, TALL[:3], method="bilinear")


def symmetric(v):
    """Move a symmetric matrix symmetrically, as the equations ask."""
    return v + v.T if v.shape == (3, 3) else v + v.T if v.shape == (2, 2) else v


Q, R = DEFINITE, np.array([[1.5, 0.3], [0.3, 1.0]])
A = MATRIX + MATRIX.T - 2 * np.eye(3)
E, S = MATRIX + DEFINITE, TALL[:3, 1:] / 8
for f in (sl.solve_continuous_are, sl.solve_discrete_are):
    rule.example(f, A, TALL[:3, :2], Q, R, check_direction=symmetric)
    rule.example(f, A, TALL[:3, :2], Q, R, E, check_direction=symmetric)
    rule.example(f, A, TALL[:3, :2], Q, R, None, S, check_direction=symmetric)
    rule.example(f, A, TALL[:3, :2], Q, R, E, S, check_direction=symmetric)
