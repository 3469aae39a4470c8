"""Calls that the rules of `rules_scipy.sparse.construction` are checked with."""

from scipy import sparse as sp

from rules_scipy.examples.sparse.values import BSR, COO, CSC, CSR, DENSE, DIA, TWICE
from rules_scipy.sparse.construction import rule

FULL = DENSE + 0.3


def of_data(v):
    """Return a direction of the data alone, without one of the indices."""
    return (v[0], None) if isinstance(v, tuple) and len(v) == 2 else (v[0], None, None)


for kind in (sp.csr_array, sp.csc_matrix, sp.coo_array):
    rule.example(kind, TWICE, shape=(3, 4), check_direction=of_data)
    rule.example(kind, FULL)
rule.example(sp.csr_array, CSR)
rule.example(sp.coo_array, CSR)
rule.example(sp.bsr_array, TWICE, shape=(4, 4), blocksize=(2, 2), check_direction=of_data)
rule.example(sp.bsr_array, (BSR.data, BSR.indices, BSR.indptr), BSR.shape, check_direction=of_data)
rule.example(sp.csr_array, (CSR.data, CSR.indices, CSR.indptr), (3, 4), check_direction=of_data)
rule.example(sp.csc_array, (CSC.data, CSC.indices, CSC.indptr), (3, 4), check_direction=of_data)
rule.example(sp.dia_array, (DIA.data, DIA.offsets), shape=(3, 4), check_direction=of_data)
rule.example(sp.dia_array, COO)
rule.example(sp.coo_array, FULL.tolist())
rule.example(sp.csr_array, FULL, dtype=complex)
