"""Calls that the rules of `rules_base.numpy.arrays.rearranging` are checked with."""

import numpy as np

from rules_base.numpy.arrays.rearranging import rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
CUBE = np.arange(24.0).reshape(2, 3, 4) / 7
rule.example(np.roll, CUBE, 2)
rule.example(np.roll, CUBE, (1, -2), axis=(0, 2))
for f in (np.flip, np.fliplr, np.flipud, np.rot90):
    rule.example(f, MATRIX)
rule.example(np.flip, CUBE, axis=(0, 2))
rule.example(np.rot90, CUBE, 3, axes=(2, 1))
rule.example(np.moveaxis, CUBE, (0, 1), (-1, 0))
rule.example(np.moveaxis, CUBE, 0, -1)
rule.example(np.rollaxis, CUBE, 2)
rule.example(np.rollaxis, CUBE, 0, 2)
rule.example(np.rollaxis, CUBE, -1, 1)
rule.example(np.tile, MATRIX, 3)
rule.example(np.tile, MATRIX, (2, 1, 3))
rule.example(np.tile, 0.5, (2, 3))
for f in (np.repeat, np.ndarray.repeat):
    rule.example(f, MATRIX, 3)
    rule.example(f, MATRIX, 2, axis=-1)
    rule.example(f, MATRIX, [2, 0, 3], axis=1)
    rule.example(f, MATRIX, np.array([0, 2]), axis=0)
rule.example(np.repeat, 0.5, 3)
rule.example(np.resize, MATRIX, (4, 2))
for f in (np.tril, np.triu, np.diag, np.diagonal, np.trace, np.ndarray.diagonal, np.ndarray.trace):
    rule.example(f, MATRIX)
    rule.example(f, MATRIX, 1)
for f in (np.tril, np.triu, np.diag, np.diagflat):
    rule.example(f, MATRIX[0])
    rule.example(f, MATRIX[0], -1)
for f in (np.diagonal, np.trace):
    rule.example(f, CUBE, -1, 2, 0)
for f in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    rule.example(f, 0.5)
    rule.example(f, MATRIX)
    rule.example(f, MATRIX[0], 0.5)
rule.example(np.broadcast_arrays, MATRIX, 0.5, MATRIX[0])
rule.example(np.unwrap, np.array([0.5, 3.0, 8.0, -2.0]))
rule.example(np.real_if_close, np.array([0.5 + 1j, 2.0]))
rule.example(np.real_if_close, np.array([0.5 + 0j, 2.0]))
rule.example(np.generic.repeat, np.float64(0.5), 3)
