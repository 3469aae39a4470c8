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
rule.example(np.linspace, 0.5, 2.0, 5)
rule.example(np.linspace, 0.5, 2.0, 5, endpoint=False, retstep=True)
rule.example(np.linspace, np.array([0.5, 0.2]), 2.0, 5, axis=1)
rule.example(np.logspace, 0.5, 1.0, 4)
rule.example(np.geomspace, 0.5, 2.0, 4)
rule.example(np.arange, 2.6)
rule.example(np.arange, 0.3, 2.6)
rule.example(np.arange, 0.3, 2.7, 0.5)
rule.example(np.arange, 2.7, None, 0.5)
rule.example(np.arange, 2.7, stop=None, step=1)
rule.example(np.arange, 0.3, stop=2.7, step=0.5)
rule.example(np.arange, 0.3, 2.7, step=0.5)
rule.example(np.vander, MATRIX[0])
rule.example(np.vander, MATRIX[0], 4, increasing=True)
rule.example(np.meshgrid, MATRIX[0], MATRIX[1, :2], np.array([0.3, 0.4]))
rule.example(np.meshgrid, MATRIX[0], MATRIX[1, :2], indexing="ij", sparse=True)
rule.example(np.generic.copy, np.float64(0.5))
rule.example(np.generic.astype, np.float64(0.5), np.complex128)
for f in (np.zeros_like, np.ones_like):
    rule.example(f, MATRIX)
