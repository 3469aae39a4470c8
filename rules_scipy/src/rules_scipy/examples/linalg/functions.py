"""Calls that the rules of `rules_scipy.linalg.functions` are checked with."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.functions import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
DEFINITE = MATRIX @ MATRIX.T + 0.5 * np.eye(3)
HERMITIAN = COMPLEX @ COMPLEX.conj().T + 0.5 * np.eye(3)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
VECTOR = np.array([0.5, -1.5, 2.0])
for f in (sl.expm, sl.cosm, sl.sinm, sl.coshm, sl.sinhm, sl.tanhm):
    rule.example(f, MATRIX / 2)
    rule.example(f, COMPLEX / 3)
rule.example(sl.tanm, MATRIX / 4)
rule.example(sl.expm, np.stack([MATRIX, DEFINITE]) / 2)
for f in (sl.sqrtm, sl.logm):
    rule.example(f, DEFINITE)
    rule.example(f, COMPLEX + 3 * np.eye(3))
    rule.example(f, -DEFINITE)
rule.example(sl.signm, MATRIX - np.diag([0.0, 3.0, 5.0]))
rule.example(sl.fractional_matrix_power, DEFINITE, 0.3)
rule.example(sl.fractional_matrix_power, DEFINITE, -2.0)
rule.example(sl.fractional_matrix_power, -DEFINITE, 0.7)
rule.example(sl.expm_frechet, MATRIX / 2, DEFINITE / 3)
rule.example(sl.expm_frechet, MATRIX / 2, DEFINITE / 3, compute_expm=False)
