"""Calls that the rules of `rules_scipy.linalg.basic` are checked with."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.basic import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
DEFINITE = MATRIX @ MATRIX.T + 0.5 * np.eye(3)
HERMITIAN = COMPLEX @ COMPLEX.conj().T + 0.5 * np.eye(3)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
VECTOR = np.array([0.5, -1.5, 2.0])
for a in (MATRIX, COMPLEX, MATRIX.tolist()):
    rule.example(sl.inv, a)
    rule.example(sl.det, a)
rule.example(sl.det, np.stack([MATRIX, DEFINITE]))
rule.example(sl.det, np.outer(VECTOR, VECTOR))
for a in (MATRIX, COMPLEX):
    for b in (VECTOR, TALL.T, TALL.T + 0.5j):
        rule.example(sl.solve, a, b)
    rule.example(sl.solve, a, VECTOR, assume_a="gen")
for a in (DEFINITE, DEFINITE - 2 * np.eye(3), HERMITIAN, COMPLEX + COMPLEX.T):
    rule.example(sl.solve, a, VECTOR)  # in a direction in which it does not stay symmetric
rule.example(sl.solve, MATRIX, VECTOR, transposed=True)
for kind in ("general", "diagonal", "upper triangular", "lower triangular"):
    for a in (MATRIX, COMPLEX):
        rule.example(sl.inv, a, assume_a=kind)
for lower in (False, True):
    rule.example(sl.inv, DEFINITE, assume_a="pos", lower=lower)
    rule.example(sl.inv, HERMITIAN, assume_a="her", lower=lower)
    rule.example(sl.inv, COMPLEX, assume_a="sym", lower=lower)
    for kind in ("pos", "sym"):
        rule.example(sl.solve, DEFINITE, VECTOR, assume_a=kind, lower=lower)
    rule.example(sl.solve, HERMITIAN, VECTOR + 0.5j, assume_a="her", lower=lower)
    rule.example(sl.solve, COMPLEX + COMPLEX.T, VECTOR, assume_a="sym", lower=lower)
    for trans in (0, 1, 2):
        for a in (MATRIX, COMPLEX):
            rule.example(sl.solve_triangular, a, VECTOR, trans, lower)
    rule.example(sl.solve_triangular, MATRIX, TALL.T, lower=lower, unit_diagonal=True)
rule.example(sl.solve, MATRIX.tolist(), VECTOR.tolist())
for a in (MATRIX, TALL, TALL.T, TALL + 1j * np.cos(TALL)):
    rule.example(sl.pinv, a)
rule.example(sl.pinv, TALL, return_rank=True)
for lower in (False, True):
    rule.example(sl.pinvh, DEFINITE, lower=lower)
    rule.example(sl.pinvh, HERMITIAN, lower=lower)
rule.example(sl.lstsq, TALL, np.arange(4.0))
rule.example(sl.lstsq, TALL, np.cos(np.arange(8.0)).reshape(4, 2))
rule.example(sl.lstsq, TALL.T, VECTOR)
rule.example(sl.norm, VECTOR)
for ord in (None, 1, 3, np.inf, -np.inf, 2.5):
    rule.example(sl.norm, VECTOR, ord)
for ord in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
    rule.example(sl.norm, TALL, ord)
rule.example(sl.norm, TALL, axis=0)
rule.example(sl.norm, COMPLEX, 1, axis=1, keepdims=True)
