"""Calls that the rules of `rules_scipy.linalg.nonsymmetric` are checked with."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.nonsymmetric import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
DEFINITE = MATRIX @ MATRIX.T + 0.5 * np.eye(3)
HERMITIAN = COMPLEX @ COMPLEX.conj().T + 0.5 * np.eye(3)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
VECTOR = np.array([0.5, -1.5, 2.0])
SPREAD = MATRIX + np.diag([0.0, 3.0, 7.0])
rule.example(sl.eig, SPREAD, right=False)
rule.example(sl.eig, SPREAD, None, right=False)
for a in (SPREAD, COMPLEX):
    rule.example(sl.eigvals, a)
    rule.example(sl.eigvals, a, DEFINITE)
rule.example(sl.schur, MATRIX + np.diag([0.0, 9.0, 18.0]))
rule.example(sl.schur, DEFINITE - 2 * np.eye(3), sort="lhp")
LARGER = np.sin(np.arange(1.0, 26.0) ** 2).reshape(5, 5) + np.diag(np.arange(5.0)) * 3
rule.example(sl.schur, LARGER + np.diag(np.arange(5.0)) * 9)
for calc_q in (False, True):
    rule.example(sl.hessenberg, LARGER, calc_q)
    rule.example(sl.hessenberg, MATRIX[:2, :2], calc_q)
