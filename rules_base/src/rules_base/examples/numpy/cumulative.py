"""Calls that the rules of `rules_base.numpy.cumulative` are checked with."""

import numpy as np

from rules_base.numpy.cumulative import rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
ZEROS = np.array([[0.5, 0.0, 2.0, 0.0, 3.0], [0.0, 0.75, -0.25, 1.0, 0.0]])
GAPS = np.array([[0.5, np.nan, 2.0], [1.25, 0.75, 0.0]])
for f in (np.cumsum, np.cumprod, np.ndarray.cumsum, np.ndarray.cumprod):
    rule.example(f, MATRIX)
    rule.example(f, MATRIX, 0)
    rule.example(f, MATRIX, axis=-1)
rule.example(np.cumprod, MATRIX + 0.5j, axis=1)
for axis in (0, 1, None):
    rule.example(np.cumprod, ZEROS, axis=axis)
    rule.example(np.nancumsum, GAPS, axis=axis)
    rule.example(np.nancumprod, GAPS, axis=axis)
if hasattr(np, "cumulative_sum"):
    for f in (np.cumulative_sum, np.cumulative_prod):
        rule.example(f, MATRIX[0])
        rule.example(f, MATRIX, axis=1, include_initial=True)
for f in (np.generic.cumsum, np.generic.cumprod):
    rule.example(f, np.float64(0.5))
for f in (np.cumsum, np.cumprod):
    rule.example(f, 0.5)
    rule.example(f, 0.5, axis=0)
