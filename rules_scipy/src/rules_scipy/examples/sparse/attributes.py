"""Calls that the rules of `rules_scipy.sparse.attributes` are checked with."""

from rules_scipy.examples.sparse.values import ARRAYS, CSR
from rules_scipy.sparse.attributes import rule

for a in ARRAYS[2:6]:
    rule.example(getattr, a, "data")
    rule.example(type(a).nnz, a)
rule.example(getattr, CSR, "indptr")
