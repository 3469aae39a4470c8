"""Calls that the rules of `rules_scipy.linalg.factorizations` are checked with."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.factorizations import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
DEFINITE = MATRIX @ MATRIX.T + 0.5 * np.eye(3)
HERMITIAN = COMPLEX @ COMPLEX.conj().T + 0.5 * np.eye(3)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
VECTOR = np.array([0.5, -1.5, 2.0])


INDEFINITE = np.array([[0.2, 1.0, -1.5], [1.0, 2.5, 0.3], [-1.5, 0.3, -3.0]])  # rows change places
IN_PAIRS = np.array([[0.1, 3.0, 0.4j, 1.0], [3.0, 0.2, 0.5, -0.3],
                     [-0.4j, 0.5, -2.0, 0.7j], [1.0, -0.3, -0.7j, 0.0]])  # fmt: skip


def fixed_pivots(v):
    """Move the factors, and not the pivots."""
    return (v[0], None if v[1] is None else 0 * v[1]) if isinstance(v, tuple) else v


for lower in (False, True):
    for a in (DEFINITE, HERMITIAN):
        rule.example(sl.cholesky, a, lower)
        rule.example(sl.cho_factor, a, lower=lower)
    rule.example(sl.cho_solve, (sl.cholesky(DEFINITE, lower), lower), VECTOR)
    rule.example(sl.cho_solve, (sl.cholesky(HERMITIAN, lower), lower), TALL.T)
    for a in (DEFINITE, INDEFINITE, IN_PAIRS):
        rule.example(sl.ldl, a, lower)
for a in (MATRIX, COMPLEX, MATRIX[::-1], TALL, TALL.T):
    rule.example(sl.lu_factor, a)
    rule.example(sl.lu, a)
for a in (MATRIX, COMPLEX, MATRIX[::-1]):
    for trans in (0, 1, 2):
        rule.example(sl.lu_solve, sl.lu_factor(a), VECTOR, trans, check_direction=fixed_pivots)
rule.example(sl.lu_solve, sl.lu_factor(MATRIX), TALL.T, check_direction=fixed_pivots)
rule.example(sl.lu, TALL, permute_l=True)
rule.example(sl.lu, np.stack([TALL, TALL[::-1]]), permute_l=True)
rule.example(sl.lu, np.stack([TALL, TALL[::-1]]))
rule.example(sl.qr, TALL, pivoting=True, mode="r")
rule.example(sl.rq, TALL.T, mode="r")
rule.example(sl.lu, MATRIX, p_indices=True)
for a in (MATRIX, COMPLEX, TALL, TALL.T):
    rule.example(sl.qr, a, mode="economic")
    rule.example(sl.qr, a, mode="r")
rule.example(sl.qr, MATRIX)
rule.example(sl.qr, MATRIX, pivoting=True)
rule.example(sl.qr, TALL, mode="economic", pivoting=True)
for a in (MATRIX, COMPLEX, TALL.T):
    rule.example(sl.rq, a, mode="economic")
rule.example(sl.rq, MATRIX, mode="r")
rule.example(sl.polar, MATRIX)
rule.example(sl.polar, TALL)
rule.example(sl.polar, COMPLEX)
rule.example(sl.polar, TALL.T, "left")
