"""Calls that the rules of `rules_scipy.linalg.factored` are checked with."""

import numpy as np

from rules_scipy.linalg.factored import (
    determinant,
    factored,
    factored_transpose,
    rule,
    solve_with,
)

MATRIX = np.array([[2.5, -1.5, 0.5], [0.75, 1.25, -0.25], [-0.5, 1.0, 1.75]])
COMPLEX = MATRIX + 1j * np.cos(2 * MATRIX)
SYSTEMS = [(a, "gen") for a in (MATRIX, COMPLEX)]
SYSTEMS += [(a + a.T, "sym") for a in (MATRIX, COMPLEX)]
SYSTEMS += [
    (a @ a.conj().T + np.eye(3), kind) for a in (MATRIX, COMPLEX) for kind in ("pos", "her")
]
VECTOR = np.array([0.5, -1.5, 2.0])
for a, kind in SYSTEMS:
    for trans in (0, 1, 2):
        rule.example(solve_with, factored(a, VECTOR, kind, trans > 0, True), a, VECTOR, trans)
for a in (MATRIX, COMPLEX):
    rule.example(determinant, factored_transpose(a, True), a)
    rule.example(solve_with, factored_transpose(a, True), a, np.eye(3)[1:].T, 2)
