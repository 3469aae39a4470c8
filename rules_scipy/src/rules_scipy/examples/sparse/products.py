"""Calls that the rules of `rules_scipy.sparse.products` are checked with."""

import operator

import numpy as np

from rules_scipy.examples.sparse.values import ARRAYS, COMPLEX, CSC, CSR, MATRIX, REPEATED, ROW
from rules_scipy.sparse.products import rule


def dense(*shape):
    """Return an array of some shape."""
    return np.cos(np.arange(float(np.prod(shape))) ** 2).reshape(shape)


for a in ARRAYS:
    rule.example(operator.matmul, a, dense(a.shape[-1]))
    rule.example(operator.matmul, dense(2, a.shape[0]), a)
for a in (ROW, COMPLEX):
    rule.example(operator.matmul, a, dense(4, 2))
    rule.example(operator.matmul, dense(a.shape[0]), a)
rule.example(operator.matmul, COMPLEX, dense(4) + 0.5j)
rule.example(operator.matmul, CSR, dense(CSR.shape[1], 2).tolist())
rule.example(operator.matmul, dense(CSR.shape[0]).tolist(), CSR)
rule.example(type(CSR).dot, CSR, dense(CSR.shape[1]).tolist())
rule.example(operator.matmul, CSR, CSC.T)
rule.example(operator.matmul, REPEATED, COMPLEX.T.tocsr())
rule.example(operator.mul, MATRIX, dense(4))
rule.example(operator.mul, dense(2, 3), MATRIX)
rule.example(operator.mul, MATRIX, MATRIX.T.tocsr())
for a in (CSR, REPEATED):
    rule.example(type(a).dot, a, dense(4))
    rule.example(type(a).dot, a, CSC.T)
rule.example(type(ROW).dot, ROW, dense(4))
