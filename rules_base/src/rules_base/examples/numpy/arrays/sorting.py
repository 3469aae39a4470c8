"""Calls that the rules of `rules_base.numpy.arrays.sorting` are checked with."""

import numpy as np

from rules_base.numpy.arrays.sorting import SLOPES, rule

MATRIX = np.array([[0.5, -1.5, 2.0, 0.1], [1.25, 0.75, -0.25, 0.3]])
CUBE = np.sin(np.arange(24.0)).reshape(2, 3, 4)
GAPS = np.array([[0.5, np.nan, 2.0, 0.1], [1.25, 0.75, -0.25, 0.3]])
for axis in (0, 1, None):
    rule.example(np.sort, MATRIX, axis=axis)
    rule.example(np.partition, MATRIX, 1, axis=axis)
    rule.example(np.median, MATRIX, axis=axis)
    rule.example(np.ptp, MATRIX, axis=axis)
    rule.example(np.nanmedian, GAPS, axis=axis)
    rule.example(np.nanquantile, GAPS, 0.3, axis=axis)
    rule.example(np.nanpercentile, GAPS, 30.0, axis=axis)
rule.example(np.median, CUBE, axis=(0, 2), keepdims=True)
rule.example(np.ptp, CUBE, axis=(0, 2), keepdims=True)
rule.example(np.unique, MATRIX)
rule.example(np.unique, MATRIX, equal_nan=False)
rule.example(np.unique, MATRIX[::-1], axis=0)
rule.example(np.unique, MATRIX, return_index=True, return_counts=True)
for f in (np.unique_values, np.unique_all, np.unique_counts, np.unique_inverse):
    rule.example(f, MATRIX)
for f, unit in ((np.quantile, 1.0), (np.percentile, 100.0)):
    rule.example(f, CUBE, 0.3 * unit)
    rule.example(f, CUBE, np.array([0.2, 0.7]) * unit, axis=1)
    rule.example(f, CUBE, [0.2 * unit, 0.7 * unit], axis=(0, 2), keepdims=True)
for method in SLOPES:
    rule.example(np.quantile, CUBE, 0.33, axis=(1, 2), method=method)
for method in ("inverted_cdf", "averaged_inverted_cdf", "lower", "midpoint", "nearest"):
    rule.example(np.quantile, CUBE, 0.33, method=method)
for f in (np.union1d, np.setdiff1d, np.setxor1d):
    rule.example(f, MATRIX, np.array([0.7, -0.1]))
rule.example(np.sort_complex, MATRIX[0] + 1j * MATRIX[1])
for trim in ("fb", "b"):
    rule.example(np.trim_zeros, np.array([0, 1, 2, 0]), trim)
rule.example(np.trim_zeros, np.array([1, 2, 0]), "f")
rule.example(np.argsort, MATRIX)
