"""Calls that the rules of `rules_base.numpy.sequences` are checked with."""

import numpy as np

from rules_base.numpy.sequences import BINARY, OPERATORS, POSITIVE, UNARY, rule

ROWS = [[0.5, -1.5], (2.0, 0.25)]
for f in (np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.ptp):
    rule.example(f, ROWS)
    rule.example(f, [0.5, -1.5, 2.0], axis=0)
for f in (np.amax, np.amin, np.nansum, np.nanmean, np.nanmax, np.nanmin, np.nanvar, np.nanstd):
    rule.example(f, ROWS)
for f in (np.trapezoid, np.gradient, np.unique, np.unique_values, np.nanprod):
    rule.example(f, [0.5, -1.5, 2.0, 0.1])
for f in (np.unique_all, np.unique_counts, np.unique_inverse):
    rule.example(f, [0.5, -1.5, 2.0, 0.1])
rule.example(np.partition, [0.5, -1.5, 2.0, 0.1], 1)
rule.example(np.clip, [0.5, -1.5, 2.0, 0.1], 0.0, 1.0)
for f in (np.rot90, np.fliplr, np.flipud, np.diagflat):
    rule.example(f, ROWS)
rule.example(np.resize, ROWS, (3, 2))
rule.example(np.delete, ROWS, 1)
rule.example(np.insert, ROWS, 1, 0.25)
rule.example(np.append, ROWS, 0.25)
for f in (np.cumsum, np.cumprod, np.diff, np.sort, np.median, np.ediff1d):
    rule.example(f, ROWS)
rule.example(np.quantile, [0.5, -1.5, 2.0, 0.1], 0.3)
for f in (np.nanquantile, np.nanpercentile):
    rule.example(f, ROWS, 0.3, axis=1)
rule.example(np.nanmedian, ROWS, axis=0)
rule.example(np.percentile, [0.5, -1.5, 2.0, 0.1], 30.0)
for f in (np.ravel, np.transpose, np.squeeze, np.flip, np.diag, np.tril, np.triu, np.trace):
    rule.example(f, ROWS)
rule.example(np.diagonal, ROWS)
rule.example(np.reshape, ROWS, (4,))
rule.example(np.expand_dims, ROWS, 0)
rule.example(np.broadcast_to, ROWS, (2, 2, 2))
rule.example(np.roll, ROWS, 1)
rule.example(np.tile, ROWS, 2)
rule.example(np.repeat, ROWS, 2)
rule.example(np.pad, ROWS, 1)
rule.example(np.moveaxis, ROWS, 0, 1)
rule.example(np.swapaxes, ROWS, 0, 1)
rule.example(np.take, ROWS, [0, 2, 2])
for f in UNARY:
    rule.example(f, [0.5, (1.5 if f in POSITIVE else -0.3)])
for f in (*BINARY, *OPERATORS):
    rule.example(f, [0.6, 1.6], np.array([2.0, 0.7]))
    rule.example(f, np.array([2.0, 0.75]), (0.6, 1.6))
for f in BINARY:
    rule.example(f, [0.5, 1.5], [2.0, 0.7])
