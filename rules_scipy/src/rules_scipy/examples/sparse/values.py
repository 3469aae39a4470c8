"""Calls that the rules of `rules_scipy.sparse.values` are checked with."""

import numpy as np
from scipy import sparse as sp

from rules_scipy.sparse.values import filled, marked, rule, spread, stored, taken, widened

DENSE = np.array([[1.5, 0.0, -2.0, 0.0], [0.0, 0.5, 0.0, 0.0], [3.0, 0.0, 1.0, -0.5]])
TWICE = (np.array([0.5, -1.5, 2.0, 0.7]), (np.array([0, 2, 0, 1]), np.array([1, 3, 1, 0])))
CSR, CSC, COO = (getattr(sp, f"{name}_array")(DENSE) for name in ("csr", "csc", "coo"))
DIA = sp.dia_array(([[1.5, 0.5, -1.0]], [0]), shape=(3, 4))
BSR = sp.bsr_array(DENSE.repeat(2, 0), blocksize=(2, 2))
REPEATED = sp.coo_array(TWICE, shape=(3, 4))
ROW = sp.csr_array(DENSE[0])
MATRIX = sp.csr_matrix(DENSE)
COMPLEX = CSR * (1 + 0.5j)
ARRAYS = [CSR, CSC, COO, DIA, BSR, REPEATED, ROW, MATRIX]
INDEX = np.array([0, 2, -1, 2, 1])

for a in ARRAYS:
    rule.example(stored, a)
    rule.example(filled, a, np.cos(np.arange(a.data.size)))
rule.example(stored, COMPLEX)
rule.example(taken, np.array([1.0, -2.0, 0.5]), INDEX)
rule.example(spread, np.arange(1.0, 6.0), INDEX, size=4)
rule.example(marked, CSR.copy(), CSC)
rule.example(widened, CSR.copy(), more=False)
