"""Calls that the rules of `rules_base.numpy.arrays.creation` are checked with."""

import numpy as np

from rules_base.numpy.arrays.creation import rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
for f in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray):
    rule.example(f, [0.5, 1.5])
    rule.example(f, ([0.5, 1.5], (2.0, 3.0)))
    rule.example(f, [MATRIX[0], MATRIX[1]])
    rule.example(f, MATRIX)
    rule.example(f, 0.5)
    rule.example(f, 2.5, dtype=int)
rule.example(np.array, [0.5, 1.5], dtype=complex, ndmin=3)
rule.example(np.array, [0.5, 1.5], dtype=int)
rule.example(np.array, MATRIX, ndmin=3)
rule.example(np.asarray, MATRIX, copy=True)
rule.example(np.asarray_chkfinite, MATRIX)
rule.example(np.asarray_chkfinite, [0.5, 1.5])
rule.example(np.copy, MATRIX)
rule.example(np.ndarray.copy, MATRIX)
rule.example(np.ndarray.astype, MATRIX, complex)
rule.example(np.ndarray.astype, MATRIX, int)
if hasattr(np, "astype"):
    rule.example(np.astype, MATRIX, complex)
for kind in (np.float64, np.complex128, np.longdouble, np.clongdouble):
    rule.example(kind, 0.5)
for kind in (np.float16, np.float32, np.complex64):
    rule.example(kind, kind(0.5))
rule.example(np.full, (2, 3), 0.5)
rule.example(np.full, (2, 3), np.array([[0.5], [1.5]]))
rule.example(np.full, (3, 2), [0.5, 1.5])
rule.example(np.full_like, MATRIX, 0.5)
rule.example(np.generic.copy, np.float64(0.5))
rule.example(np.generic.astype, np.float64(0.5), np.complex128)
for f in (np.zeros_like, np.ones_like):
    rule.example(f, MATRIX)
