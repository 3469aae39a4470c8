"""Calls that the rules of `rules_scipy.sparse.linalg.iterative` are checked with."""

from scipy.sparse import linalg as spl

from rules_scipy.examples.sparse.linalg.direct import DENSE, SQUARE, VECTOR
from rules_scipy.sparse.linalg.iterative import GENERAL, rule

for solver in GENERAL:
    rule.example(solver, SQUARE, VECTOR, rtol=1e-12)
rule.example(spl.gmres, DENSE, VECTOR, rtol=1e-12)
