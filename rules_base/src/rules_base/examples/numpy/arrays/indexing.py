"""Calls that the rules of `rules_base.numpy.arrays.indexing` are checked with."""

import operator

import numpy as np

from rules_base.numpy.arrays.indexing import rule, scatter

rule.example(scatter, np.array([0.5, -1.5]), np.zeros(4), np.array([2, 2]))

CUBE = np.arange(24.0).reshape(2, 3, 4) / 7
for index in (
    1,
    (0, 2),
    (slice(None), 1),
    slice(None, None, -1),
    (Ellipsis, slice(1, 3)),
    (None, 0),
    [0, 1, 1],
    np.array([[0, 1], [1, 1]]),
    (slice(None), [0, 2, 2], [1, 3, 3]),
    (0, slice(None), np.array([3, 3, 0])),
    CUBE > 1.5,
    (),
):
    rule.example(operator.getitem, CUBE, index)
rule.example(operator.getitem, CUBE[0, :, ::2].flat, 2)
rule.example(np.array, CUBE[0, :, ::2].flat)
for index in ((..., None), (), True, None):
    rule.example(operator.getitem, np.float64(0.5), index)
for f in (np.take, np.ndarray.take):
    rule.example(f, CUBE, [0, 5, 5])
    rule.example(f, CUBE, np.array([[0, 2], [2, 1]]), axis=1)
    rule.example(f, CUBE, 2, axis=-1)
    rule.example(f, CUBE, [-1, 7], axis=1, mode="wrap")
rule.example(np.take, CUBE[0, 0], [True, True, True])
rule.example(np.take, CUBE, [], axis=1)
rule.example(np.take_along_axis, CUBE, np.argsort(-CUBE, 1), axis=1)
rule.example(np.take_along_axis, CUBE, np.array([[[0, 0, 2, 1]]]), axis=1)
rule.example(np.take_along_axis, CUBE, np.array([0, 5, 5]), axis=None)
rule.example(np.lib.stride_tricks.sliding_window_view, CUBE, 2, axis=1)
rule.example(np.lib.stride_tricks.sliding_window_view, CUBE[0], (2, 3))
rule.example(np.delete, CUBE, [0, 2], axis=1)
rule.example(np.delete, CUBE, 3)
rule.example(np.insert, CUBE[0], 1, 0.5, axis=1)
rule.example(np.insert, CUBE[0], [0, 2], np.array([0.5, 1.5]))
rule.example(np.insert, CUBE[0, 0], 2, [0.5, 1.5])
rule.example(np.ndarray.item, CUBE[:1, 0, 0])
rule.example(np.ndarray.item, CUBE, 7)
rule.example(np.ndarray.item, CUBE, 1, 0, 2)
rule.example(np.ndarray.item, CUBE, (1, 0, 2))
rule.example(np.generic.item, np.float64(0.5))
rule.example(np.generic.tolist, np.float64(0.5))
rule.example(np.ndarray.tolist, CUBE[0])
