"""Calls that the rules of `rules_scipy.sparse.arithmetic` are checked with."""

import operator

import numpy as np
from scipy import sparse as sp

from rules_scipy.examples.sparse.products import dense
from rules_scipy.examples.sparse.values import BSR, COMPLEX, COO, CSC, CSR, DIA, MATRIX, REPEATED
from rules_scipy.sparse.arithmetic import SLOPES, rule

OTHER = sp.csr_array(np.array([[0.5, 0.2, 0.0, 0.0], [0.0, 1.5, 0.0, -1.0], [0.3, 0.0, 0.0, 2.0]]))
SMALL = CSR * 0.2
for f in (operator.add, operator.sub):
    rule.example(f, MATRIX, MATRIX * 0.5)
    rule.example(f, CSR, dense(3, 4))
    rule.example(f, dense(3, 4), REPEATED)
    rule.example(f, BSR, BSR * 0.5)
rule.example(operator.add, 0, CSR)
rule.example(operator.add, CSR, 0)
for a in (CSC, DIA):
    rule.example(type(a).multiply, a, dense(3, 1))
    rule.example(type(a).multiply, a, 2.5)
rule.example(sp.csr_array.multiply, CSR, OTHER)
rule.example(operator.mul, REPEATED, 2.5)
rule.example(operator.mul, 2.5, BSR)
rule.example(operator.truediv, DIA, 2.5)
rule.example(operator.neg, COO)
rule.example(operator.mul, CSR, dense(3, 4))
rule.example(operator.mul, dense(4), CSC)
rule.example(operator.mul, CSR, OTHER)
rule.example(operator.mul, COMPLEX, 0.5 - 1j)
rule.example(operator.truediv, COMPLEX, dense(3, 4))
rule.example(abs, CSR)
rule.example(np.absolute, COMPLEX)
for name in SLOPES:
    rule.example(getattr(sp.csr_array, name), abs(SMALL) if name == "sqrt" else SMALL)
rule.example(np.sin, CSR)
rule.example(sp.csr_array.power, abs(CSR), 1.5)
rule.example(operator.pow, abs(CSR), 2.5)
for name in ("conj", "conjugate", "real", "imag"):
    rule.example(getattr(sp.csr_array, name), COMPLEX)
rule.example(sp.csr_matrix.astype, MATRIX, complex)
rule.example(type(REPEATED).astype, REPEATED, complex)
