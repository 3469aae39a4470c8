"""Calls that the rules of `rules_scipy.sparse.rearranging` are checked with."""

import operator

import numpy as np
from scipy import sparse as sp

from rules_scipy.examples.sparse.values import BSR, COO, CSC, CSR, DIA, MATRIX
from rules_scipy.sparse.rearranging import rule

for a in (CSR, CSC, COO, DIA, BSR):
    for name in ("copy", "tocoo", "tocsc", "tocsr", "todia", "diagonal", "transpose", "toarray"):
        if (a.format, name) not in (
            ("csr", "todia"),
            ("csc", "todia"),
            ("coo", "todia"),
            ("bsr", "todia"),
        ):
            rule.example(getattr(type(a), name), a)
for a in (CSR, COO, DIA):
    rule.example(sp.tril, a)
    rule.example(sp.triu, a, k=1)
rule.example(sp.bsr_array.tobsr, BSR)
rule.example(sp.dia_array.todia, DIA)
rule.example(sp.csr_array.tobsr, CSR, (3, 2))
rule.example(sp.csr_array.asformat, CSR, "csr")  # SciPy keeps the names of other methods
rule.example(sp.csr_array.T, CSR)
rule.example(sp.csc_array.reshape, CSC, (2, 6))
rule.example(sp.coo_array.reshape, COO, 2, 6)
rule.example(sp.csr_array.todense, CSR)
rule.example(sp.csr_array.sorted_indices, CSR)
rule.example(sp.csr_array.diagonal, CSR, k=-1)
rule.example(sp.csr_matrix.getrow, MATRIX, 2)
rule.example(sp.csr_matrix.getcol, MATRIX, -1)
rule.example(sp.csr_matrix.getH, MATRIX)
rule.example(operator.getitem, CSR, (slice(None, None, 2), slice(1, None)))
rule.example(operator.getitem, CSC, (2, 0))
rule.example(operator.getitem, CSR, [2, 0, 2])
rule.example(operator.getitem, CSR, 1)
rule.example(operator.getitem, MATRIX, 1)
rule.example(operator.getitem, CSR, (np.array([0, 2]), np.array([2, 3])))
if hasattr(sp, "permute_dims"):
    for a in (CSR, DIA):
        rule.example(sp.permute_dims, a, (1, 0))
    rule.example(sp.permute_dims, COO, (1, 0), True)
