"""Calls that the rules of `rules_scipy.signal.zero_phase` are checked with."""

import numpy as np
from scipy import signal as ss

from rules_scipy.signal.zero_phase import rule

SIGNAL = np.sin(np.arange(1.0, 16.0) ** 2)
IMAGE = np.sin(np.arange(16.0) ** 2).reshape(8, 2)
B, A = np.array([0.7, -0.2]), np.array([2.0, 0.6, -0.3])
for padtype in ("odd", "even", "constant", None):
    rule.example(ss.filtfilt, B, A, SIGNAL, padtype=padtype)
    rule.example(ss.filtfilt, B + 0.2j, A, IMAGE, 0, padtype, 3)
rule.example(ss.filtfilt, B, [1.0], SIGNAL)

SECTIONS = np.array([[0.7, -0.2, 0.4, 1.0, 0.3, -0.1], [1.2, 0.5, 0.1, 1.0, -0.4, 0.2]])
FIRST_IS_ONE = {"check_direction": lambda v: v * (np.arange(6) != 3) if v.shape[-1] == 6 else v}
rule.example(ss.sosfiltfilt, SECTIONS[:1], SIGNAL, **FIRST_IS_ONE)
rule.example(ss.sosfiltfilt, SECTIONS[0], SIGNAL, **FIRST_IS_ONE)
rule.example(ss.sosfiltfilt, SECTIONS, IMAGE + 0.3j * IMAGE**2, 0, "even", 3, **FIRST_IS_ONE)

FILTER = np.array([0.05, 0.15, 0.1, 0.75, 0.1, 0.15, 0.05])
rule.example(ss.minimum_phase, FILTER)
rule.example(ss.minimum_phase, FILTER, "homomorphic", 65, half=False)
