"""Calls that the rules of `rules_scipy.linalg.bands` are checked with."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.bands import rule

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
DEFINITE = MATRIX @ MATRIX.T + 0.5 * np.eye(3)
HERMITIAN = COMPLEX @ COMPLEX.conj().T + 0.5 * np.eye(3)
TALL = np.sin(np.arange(1.0, 13.0) ** 2).reshape(4, 3)
VECTOR = np.array([0.5, -1.5, 2.0])
BANDS = np.array(
    [[0.0, 0.5, -0.3, 0.2], [3.0, 2.5, 4.0, 3.5], [0.4, 0.6, -0.5, 0.0], [0.2, 0.1, 0, 0]]
)
rule.example(sl.solve_banded, (2, 1), BANDS, np.arange(4.0))
rule.example(sl.solve_banded, (2, 1), BANDS + 0.2j, TALL)
for lower in (False, True):
    ab = BANDS[1:3] if lower else BANDS[:2]
    rule.example(sl.solveh_banded, ab, np.arange(4.0), lower=lower)
    rule.example(sl.cholesky_banded, ab, lower=lower)
    rule.example(sl.cho_solve_banded, (sl.cholesky_banded(ab, lower=lower), lower), TALL)
