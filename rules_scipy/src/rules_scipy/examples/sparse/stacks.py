"""Calls that the rules of `rules_scipy.sparse.stacks` are checked with."""

from scipy import sparse as sp

from rules_scipy.examples.sparse.values import COO, CSC, CSR, DIA, MATRIX
from rules_scipy.sparse.stacks import rule

rule.example(sp.hstack, [CSR, DIA])
rule.example(sp.vstack, (CSR, COO))
rule.example(sp.bmat, [[MATRIX, None], [None, MATRIX]])
rule.example(sp.block_array, [[CSR, None], [COO, CSC]])
rule.example(sp.hstack, [CSR, CSR.toarray()[:, :1] + 0.5])
rule.example(sp.block_diag, [CSR, CSC])
rule.example(sp.kron, CSR, COO)
rule.example(sp.kron, DIA, CSR.toarray()[:, :1] + 0.5)
