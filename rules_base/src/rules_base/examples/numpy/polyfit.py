"""Calls that the rules of `rules_base.numpy.polyfit` are checked with."""

import numpy as np

from rules_base.numpy.polyfit import rule

POINTS = np.array([-1.5, -0.5, 0.25, 1.0, 2.0, 2.5])
VALUES = np.sin(3 * POINTS)
WEIGHTS = np.array([0.5, 1.0, 1.5, 2.0, 0.25, 0.75])
for deg in (0, 1, 3, 5):
    rule.example(np.polyfit, POINTS, VALUES, deg)
rule.example(np.polyfit, POINTS, np.stack([VALUES, np.cos(POINTS)], 1), 2)
rule.example(np.polyfit, POINTS, VALUES + 1j * POINTS**2, 2)
rule.example(np.polyfit, POINTS, VALUES, 2, w=WEIGHTS)
rule.example(np.polyfit, POINTS, VALUES, 2, None, False, WEIGHTS)
rule.example(np.polyfit, POINTS.tolist(), VALUES.tolist(), 1)
