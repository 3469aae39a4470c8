"""Calls that the rules of `rules_scipy.linalg.lapack` are checked with."""

import numpy as np
from scipy.linalg import lapack

from rules_scipy.linalg.lapack import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
VECTOR = np.array([0.5, -1.5, 2.0])


def real_diagonal(v):
    """Move the diagonal of a Cholesky factor along real numbers."""
    return v - 1j * np.diag(np.diagonal(v).imag) if np.iscomplexobj(v) else v


for letter, a in (("d", MATRIX), ("z", COMPLEX), ("s", MATRIX.astype(np.float32))):
    routine = {name: getattr(lapack, letter + name) for name in (
        "potrf", "potrs", "potri", "getrf", "getrs", "getri", "trtrs", "trtri", "gesv", "posv"
    )}  # fmt: skip
    definite = a @ a.conj().T + a.dtype.type(0.5) * np.eye(3, dtype=a.dtype)
    right = a[::-1, :2]
    lu, pivots, _ = routine["getrf"](a)
    rule.example(routine["getrf"], a)
    rule.example(routine["getri"], lu, pivots)
    rule.example(routine["gesv"], a, right)
    for lower in (0, 1):
        factor = routine["potrf"](definite, lower)[0]
        for clean in (0, 1):
            rule.example(routine["potrf"], definite, lower, clean)
        rule.example(routine["potrs"], factor, right, lower)
        rule.example(routine["potri"], factor, lower, check_direction=real_diagonal)
        rule.example(routine["posv"], definite, right, lower)
        rule.example(routine["trtri"], a, lower, lower)
    for trans in (0, 1, 2):
        rule.example(routine["getrs"], lu, pivots, right, trans)
        rule.example(routine["trtrs"], a, right, trans % 2, trans, trans == 1)
rule.example(lapack.dpotrs, lapack.dpotrf(MATRIX @ MATRIX.T)[0], VECTOR)
rule.example(lapack.dgetrf, TALL)
rule.example(lapack.dgetrf, TALL.T)
for lower in (0, 1):
    rule.example(lapack.dsyevr, MATRIX, lower=lower)
    rule.example(lapack.dsyevr, MATRIX, 0, lower=lower)
    rule.example(lapack.dsyevr, MATRIX, 1, "I", lower, il=1, iu=2)
    rule.example(lapack.zheevr, COMPLEX, 0, lower=lower)
