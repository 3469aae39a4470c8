"""Calls that the rules of `rules_scipy.linalg.blas` are checked with."""

import numpy as np
from scipy.linalg import blas

from rules_scipy.linalg.blas import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
VECTOR = np.array([0.5, -1.5, 2.0])
SINGLE = MATRIX.astype(np.float32)

for gemm, gemv, trsm, a in (
    (blas.dgemm, blas.dgemv, blas.dtrsm, MATRIX),
    (blas.zgemm, blas.zgemv, blas.ztrsm, COMPLEX),
):
    for trans in (0, 1, 2):
        rule.example(gemm, 0.7, a, a[::-1], trans_a=trans, trans_b=2 - trans)
        rule.example(gemv, 0.7, a, VECTOR, trans=trans)
        for side in (0, 1):
            rule.example(trsm, 0.7, a, a[::-1], side, trans % 2, trans, trans == 1)
    rule.example(gemm, 0.7, a, TALL.T, 0.3, np.cos(TALL.T))
    rule.example(gemv, 0.7, a, VECTOR, 0.3, VECTOR[::-1])
rule.example(blas.dgemm, 0.7, TALL, MATRIX)
rule.example(blas.dgemm, 0.7, MATRIX, VECTOR)
rule.example(blas.sgemm, np.float32(0.7), SINGLE, SINGLE)
rule.example(blas.sgemv, np.float32(0.7), SINGLE, SINGLE[0])
rule.example(blas.strsm, np.float32(0.7), SINGLE, SINGLE)
rule.example(blas.cgemm, np.complex64(0.7), SINGLE + 1j * SINGLE, SINGLE + 1j * SINGLE)
rule.example(blas.dtrsm, 0.7, MATRIX, VECTOR)
