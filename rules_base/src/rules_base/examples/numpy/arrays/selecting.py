"""Calls that the rules of `rules_base.numpy.arrays.selecting` are checked with."""

import numpy as np

from rules_base.numpy.arrays.selecting import rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
rule.example(np.where, MATRIX > 0.6, MATRIX, 0.5)
rule.example(np.where, MATRIX > 0.6, MATRIX[:1], np.array([[1.5], [2.5]]))
rule.example(np.where, MATRIX > 0.6)
for f in (np.clip, np.ndarray.clip):
    rule.example(f, MATRIX, -1.0, 1.0)
    rule.example(f, MATRIX, np.array([-1.0, -0.5, 0.5]), None)
    rule.example(f, MATRIX, None, 0.6)
    if f is not np.clip or np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        rule.example(f, MATRIX, min=-0.3, max=0.6)
WHICH = np.array([0, 2, 1])
rule.example(np.choose, WHICH, [MATRIX[0], MATRIX[1], 0.5])
rule.example(np.ndarray.choose, WHICH, [MATRIX[0], MATRIX[1], 0.5])
rule.example(np.choose, [0, 2, 1], [MATRIX[0], MATRIX[1], 0.5])
rule.example(np.choose, 1, (MATRIX[0], MATRIX[1]))
rule.example(np.choose, WHICH + 2, MATRIX, mode="wrap")
rule.example(np.ndarray.choose, WHICH, MATRIX, mode="wrap")
rule.example(np.choose, WHICH - 1, (MATRIX[0], 0.5), mode="clip")
rule.example(np.select, [MATRIX > 1, MATRIX > 0], [MATRIX, MATRIX[:1]], 0.5)
rule.example(np.select, [MATRIX > 1, MATRIX > 0], [MATRIX, 2.0])
rule.example(np.compress, [True, False, True], MATRIX, axis=1)
rule.example(np.compress, [True, False, True, True], MATRIX)
rule.example(np.ndarray.compress, MATRIX, [True, False, True], 1)
rule.example(np.extract, MATRIX > 0.6, MATRIX)
rule.example(np.generic.clip, np.float64(0.5), 0.0, 1.0)
rule.example(np.ndarray.clip, MATRIX, 0.6)
rule.example(np.generic.clip, np.float64(0.5), 0.0)

rule.example(np.generic.clip, np.float64(0.5), min=0.0, max=1.0)
rule.example(np.where, [True, False], [0.5, 1.5], (2.0, 3.0))
