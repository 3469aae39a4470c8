"""Calls that the rules of `rules_base.numpy.arrays.ranges` are checked with."""

import numpy as np

from rules_base.numpy.arrays.ranges import rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
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
rule.example(np.meshgrid, [0.5, 1.5], (0.25, 0.75, 1.0), indexing="ij")
