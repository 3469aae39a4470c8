"""Calls that the rules of `rules_base.numpy.statistics` are checked with."""

import numpy as np

from rules_base.numpy.statistics import rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
GAPS = np.array([[0.5, np.nan, 2.0], [1.25, 0.75, -0.25]])
for f in (np.var, np.std):
    rule.example(f, MATRIX)
    rule.example(f, MATRIX, axis=1, ddof=1, keepdims=True)
    rule.example(f, MATRIX + 1j * MATRIX[::-1], axis=0)
    rule.example(f, MATRIX[None], axis=(0, 2))
rule.example(np.ndarray.var, MATRIX, axis=1)
rule.example(np.ndarray.std, MATRIX, axis=1)
for f in (np.nansum, np.nanmean, np.nanprod, np.nanmax, np.nanmin, np.nanvar, np.nanstd):
    rule.example(f, GAPS)
    rule.example(f, GAPS, axis=1)
    rule.example(f, GAPS, axis=1, keepdims=True)
rule.example(np.nanvar, GAPS, ddof=1)
rule.example(np.average, MATRIX, axis=0)
rule.example(np.average, [0.5, 1.5])
rule.example(np.average, MATRIX, 1, np.array([0.5, 0.2, 1.0]))
rule.example(np.average, MATRIX, None, abs(MATRIX))
rule.example(np.average, MATRIX, 0, [0.5, 0.2])
rule.example(np.average, [0.5, 1.5], None, (0.5, 0.2))
rule.example(np.average, np.stack([MATRIX, MATRIX**2]), (2, 0), abs(MATRIX.T[:, :2]))
rule.example(np.average, MATRIX[None], (2, 1), abs(MATRIX.T))
for f in (np.var, np.std):
    rule.example(f, MATRIX, axis=1, where=np.array([True, False, True]))
    rule.example(f, MATRIX, ddof=1, where=MATRIX > -1.0)
    rule.example(f, MATRIX, axis=0, keepdims=True, where=np.array([[True], [True]]))
for f in (np.generic.var, np.generic.std):
    rule.example(f, np.float64(0.5))
for f in (np.nanvar, np.nanstd):
    rule.example(f, 0.5)
for f in (np.nanvar, np.nanstd):
    rule.example(f, GAPS, axis=1, where=GAPS != 0.75, correction=0)
    rule.example(f, GAPS, ddof=1, where=np.array([[True], [True]]), keepdims=True)
for f in (np.var, np.std, np.nanvar, np.nanstd):
    rule.example(f, MATRIX, axis=1, mean=np.array([[0.3], [0.5]]))
    rule.example(f, MATRIX, mean=0.5, where=np.array([True, False, True]))
rule.example(np.average, MATRIX, 1, returned=True)
rule.example(np.average, MATRIX, 1, np.array([0.5, 0.2, 1.0]), returned=True)
rule.example(np.average, MATRIX, None, abs(MATRIX), True)
rule.example(np.average, MATRIX[None], (2, 1), abs(MATRIX.T), returned=True, keepdims=True)
for f in (np.nansum, np.nanprod, np.nanmax, np.nanmin):
    rule.example(f, GAPS, axis=1, initial=0.3, where=GAPS > -1.0)
    rule.example(f, GAPS, initial=1.0, where=np.array([True, True, False]), keepdims=True)
rule.example(np.nanmean, GAPS, axis=0, where=np.array([[True], [True]]))
rule.example(np.nanmean, GAPS, where=np.array([True, True, False]))
