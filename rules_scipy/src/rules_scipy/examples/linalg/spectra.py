"""Calls that the rules of `rules_scipy.linalg.spectra` are checked with."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.spectra import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
DEFINITE = MATRIX @ MATRIX.T + 0.5 * np.eye(3)
HERMITIAN = COMPLEX @ COMPLEX.conj().T + 0.5 * np.eye(3)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
VECTOR = np.array([0.5, -1.5, 2.0])
for lower in (False, True):
    rule.example(sl.eigh, DEFINITE, lower=lower, driver="ev")
    rule.example(sl.eigvalsh, HERMITIAN, lower=lower)
    rule.example(sl.eigh, MATRIX + MATRIX.T, DEFINITE, lower=lower)
    rule.example(sl.eigvalsh, MATRIX + MATRIX.T, DEFINITE, lower=lower)
    for kind in (2, 3):
        rule.example(sl.eigh, MATRIX + MATRIX.T, DEFINITE, lower=lower, type=kind)
        rule.example(sl.eigvalsh, HERMITIAN, DEFINITE, lower=lower, type=kind)
    rule.example(sl.eig_banded, np.array([[0.5, 0.7, 0.9], [2.0, 3.0, 4.5]]), lower)
    rule.example(sl.eigvals_banded, np.array([[0.5, 0.7, 0.9], [2.0, 3.0, 4.5]]), lower)
rule.example(sl.eigh, HERMITIAN, eigvals_only=True)
rule.example(sl.eigh, DEFINITE, subset_by_index=[1, 2])
rule.example(sl.eigvalsh, DEFINITE, subset_by_index=[0, 1])
rule.example(sl.eigh, MATRIX + MATRIX.T, DEFINITE, type=3, subset_by_index=[0, 1])
rule.example(sl.eigh_tridiagonal, VECTOR, VECTOR[:2])
rule.example(sl.eigvalsh_tridiagonal, VECTOR, VECTOR[:2])
rule.example(sl.eigh_tridiagonal, VECTOR, VECTOR[:2], eigvals_only=True)
rule.example(sl.eigh_tridiagonal, VECTOR, VECTOR[:2], select="i", select_range=(1, 2))
rule.example(sl.eigvalsh_tridiagonal, VECTOR, VECTOR[:2], select="v", select_range=(0.0, 9.0))
rule.example(sl.eig_banded, np.array([[0.5, 0.7, 0.9], [2.0, 3.0, 4.5]]), select="i",
             select_range=(1, 1))  # fmt: skip
rule.example(sl.eigvals_banded, np.array([[0.5, 0.7, 0.9], [2.0, 3.0, 4.5]]), select="i",
             select_range=(0, 1))  # fmt: skip
