"""Calls that the rules of `rules_base.numpy.histograms` are checked with."""

import numpy as np

from rules_base.numpy.histograms import rule

MATRIX = np.array([[0.5, -1.5, 2.0], [1.25, 0.75, -0.25]])
rule.example(np.bincount, np.array([0, 2, 2]))
rule.example(np.bincount, np.array([0, 2, 2]), MATRIX[0], minlength=5)
rule.example(np.histogram_bin_edges, MATRIX, 3)
rule.example(np.histogram_bin_edges, MATRIX, bins=3)
rule.example(np.histogram_bin_edges, MATRIX, 3, (0.0, 2.0))
rule.example(np.histogram_bin_edges, MATRIX, np.array([0.0, 0.6, 2.0]), None)
rule.example(np.histogram, MATRIX)
rule.example(np.histogram, [0.5, 0.25, 1.0], 2)
rule.example(np.histogram, MATRIX, 3, density=True)
rule.example(np.histogram, MATRIX, bins=[0.0, 0.6, 2.0])
rule.example(np.histogram, MATRIX, np.array([0.0, 0.6, 2.1]), None, True)
rule.example(np.histogram, MATRIX, 4, (-1.0, 2.1), density=True, weights=abs(MATRIX))
rule.example(np.histogram, MATRIX, 3, None, False, abs(MATRIX))
rule.example(np.histogram, MATRIX, 3, None, True, abs(MATRIX))
rule.example(np.histogram, MATRIX[0], [0.0, 0.6, 2.1], None, True, [0.5, 0.25, 2.0])
rule.example(np.histogram2d, MATRIX[0], MATRIX[1], 4)
rule.example(np.histogram2d, MATRIX[0], MATRIX[1], bins=[2, 4])
