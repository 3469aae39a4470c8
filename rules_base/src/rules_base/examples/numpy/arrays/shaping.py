"""Calls that the rules of `rules_base.numpy.arrays.shaping` are checked with."""

import numpy as np

from rules_base.numpy.arrays.shaping import rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
CUBE = np.arange(24.0).reshape(2, 3, 4) / 7
rule.example(np.reshape, CUBE, (6, 4))
rule.example(np.reshape, CUBE, -1, order="F")
rule.example(np.reshape, 0.5, (1, 1))
rule.example(np.ndarray.reshape, CUBE, 4, -1)
rule.example(np.ndarray.reshape, CUBE, (4, 6), order="F")
for f in (np.ravel, np.ndarray.ravel, np.ndarray.flatten):
    rule.example(f, CUBE)
    rule.example(f, MATRIX, order="F")
rule.example(np.transpose, CUBE)
rule.example(np.transpose, CUBE, (1, -1, 0))
rule.example(np.ndarray.transpose, CUBE)
rule.example(np.ndarray.transpose, CUBE, (1, 2, 0))
rule.example(np.ndarray.transpose, CUBE, 1, 2, 0)
rule.example(np.matrix_transpose, CUBE)
for f in (np.swapaxes, np.ndarray.swapaxes):
    rule.example(f, CUBE, 0, -1)
rule.example(np.broadcast_to, np.array([[0.5], [0.2]]), (3, 2, 4))
rule.example(np.broadcast_to, 0.5, (3, 2))
for f in (np.squeeze, np.ndarray.squeeze):
    rule.example(f, CUBE[:1])
    rule.example(f, CUBE[:, :1, :1], axis=1)
rule.example(np.expand_dims, CUBE, (0, -1))
for f in (np.generic.ravel, np.generic.flatten, np.generic.transpose, np.generic.squeeze):
    rule.example(f, np.float64(0.5))
rule.example(np.generic.reshape, np.float64(0.5), 1, 1)
