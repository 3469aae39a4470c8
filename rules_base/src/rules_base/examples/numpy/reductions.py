"""Calls that the rules of `rules_base.numpy.reductions` are checked with."""

import numpy as np

from rules_base.numpy.reductions import rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
for f in (np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin):
    rule.example(f, MATRIX)
    rule.example(f, MATRIX, 0)
    rule.example(f, MATRIX, axis=-1, keepdims=True)
    rule.example(f, MATRIX, axis=(0, 1))
    rule.example(f, 0.7)
for f in (np.sum, np.mean, np.prod):
    rule.example(f, MATRIX + 0.5j, axis=1)
for f in (np.sum, np.mean):
    rule.example(f, MATRIX, axis=1, where=MATRIX > 0)
    rule.example(f, MATRIX, where=np.array([True, False, True]))
for f in (np.sum, np.prod, np.max, np.min):
    rule.example(f, MATRIX, axis=1, initial=0.3, where=MATRIX > -1.0)
    rule.example(f, MATRIX, 0, initial=1.0)
    rule.example(f, MATRIX, initial=1.0, where=np.array([True, False, True]), keepdims=True)
rule.example(np.prod, np.array([0.5, 0.0, 2.0]))
rule.example(np.prod, MATRIX, axis=())
rule.example(np.prod, np.array([[0.5, 0.0, 0.0], [1.0, 2.0, 3.0]]), axis=1)
rule.example(np.prod, np.arange(1.0, 25.0).reshape(2, 3, 4) / 9, axis=(0, 2))
for f in (np.ndarray.sum, np.ndarray.mean, np.ndarray.prod, np.ndarray.max, np.ndarray.min):
    rule.example(f, MATRIX, axis=1)
for f in (np.generic.sum, np.generic.mean, np.generic.prod, np.generic.max, np.generic.min):
    rule.example(f, np.float64(0.5))
for f in (np.any, np.all, np.count_nonzero):
    rule.example(f, MATRIX, axis=1)
for f in (np.argmax, np.argmin):
    rule.example(f, MATRIX)
    rule.example(f, MATRIX, axis=1)
