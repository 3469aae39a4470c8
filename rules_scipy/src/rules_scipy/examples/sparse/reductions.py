"""Calls that the rules of `rules_scipy.sparse.reductions` are checked with."""

import numpy as np
from scipy.sparse import linalg as spl

from rules_scipy.examples.sparse.values import BSR, COMPLEX, COO, CSR, DIA, MATRIX, ROW
from rules_scipy.sparse.reductions import rule

for a in (BSR, COO, DIA, MATRIX, ROW):
    rule.example(type(a).sum, a)
    rule.example(type(a).mean, a)
for a in (CSR, DIA):
    for axis in (0, -1):
        rule.example(type(a).sum, a, axis=axis)
        rule.example(type(a).mean, a, axis=axis)
    rule.example(type(a).trace, a, offset=1)
for ord in (None, 1, np.inf, "fro"):
    rule.example(spl.norm, COMPLEX, ord)
    rule.example(spl.norm, COMPLEX, ord, axis=(1, 0))
for ord in (None, 1):
    rule.example(spl.norm, DIA, ord, axis=1)
