"""Calls that the rules of `rules_scipy.sparse.linalg.exponentials` are checked with."""

from scipy.sparse import linalg as spl

from rules_scipy.examples.sparse.linalg.direct import COMPLEX, DENSE, SQUARE, VECTOR
from rules_scipy.sparse.linalg.exponentials import rule

for a in (SQUARE.tocsc(), DENSE, COMPLEX.tocsc()):
    rule.example(spl.expm, a)
rule.example(spl.expm_multiply, SQUARE, VECTOR)
rule.example(spl.expm_multiply, DENSE, VECTOR)
rule.example(spl.expm_multiply, COMPLEX, VECTOR, start=0.5, stop=2.0, num=3)
