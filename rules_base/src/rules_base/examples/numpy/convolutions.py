"""Calls that the rules of `rules_base.numpy.convolutions` are checked with."""

import numpy as np

from rules_base.numpy.convolutions import rule

VECTOR = np.array([0.5, -1.5, 2.0])
OTHER = np.array([1.25, 0.5, -0.75])
PHASE = np.array([0.25 - 1j, 2.0 + 0.5j, -1.0 + 0.75j])
for f in (np.convolve, np.correlate):
    rule.example(f, VECTOR, OTHER)
    rule.example(f, PHASE, VECTOR)
    rule.example(f, VECTOR, PHASE)
    rule.example(f, PHASE, PHASE[::-1] + 0.5)
    rule.example(f, [0.5, -1.5, 2.0], OTHER)
    for mode in ("full", "same", "valid"):
        rule.example(f, PHASE, VECTOR[:2], mode=mode)
        rule.example(f, VECTOR[:2], PHASE, mode=mode)
        rule.example(f, np.append(PHASE, 0.5), np.append(OTHER, OTHER), mode=mode)
