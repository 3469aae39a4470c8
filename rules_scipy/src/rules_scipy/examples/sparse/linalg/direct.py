"""Calls that the rules of `rules_scipy.sparse.linalg.direct` are checked with."""

import numpy as np
from scipy import sparse as sp
from scipy.sparse import linalg as spl

from rules_scipy.sparse.linalg.direct import rule

DENSE = np.array([[2.5, 0.0, 0.5], [0.75, 1.25, 0.0], [0.0, 1.0, 1.75]])
SQUARE = sp.csc_array(DENSE)
COMPLEX = SQUARE * (1 + 0.5j)
VECTOR = np.array([0.5, -1.5, 2.0])
COLUMNS = np.stack([VECTOR, VECTOR[::-1]], axis=1)
rule.example(spl.spsolve, SQUARE, VECTOR)
rule.example(spl.spsolve, SQUARE, COLUMNS)
rule.example(spl.spsolve, COMPLEX, VECTOR + 0.5j)
