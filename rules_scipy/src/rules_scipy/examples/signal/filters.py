"""Calls that the rules of `rules_scipy.signal.filters` are checked with."""

import numpy as np
from scipy import signal as ss

from rules_scipy.signal.filters import rule

SIGNAL = np.sin(np.arange(1.0, 8.0))
IMAGE = np.sin(np.arange(12.0)).reshape(3, 4)
B, A = np.array([0.7, -0.2, 0.4]), np.array([2.0, 0.6, -0.3, 0.2])
STATE = np.array([0.3, -0.4, 0.2])
for _ in range(800):  # the first calls of SciPy's functions keep some memory, and later ones none
    ss.lfilter_zi(B, A)
SECTIONS = np.array([[0.7, -0.2, 0.4, 1.0, 0.3, -0.1], [1.2, 0.5, 0.1, 1.0, -0.4, 0.2]])
rule.example(ss.sosfilt_zi, SECTIONS * 1.3)
for b, a in ((B, A), (A, B), (B, np.array([1.0, -0.4])), (B + 0.3j, A - 0.2j * A**2)):
    count = max(len(a), len(b)) - 1
    rule.example(ss.lfilter, b, a, SIGNAL)
    rule.example(ss.lfilter, b, a, SIGNAL, -1, STATE[:count])
    rule.example(ss.lfilter_zi, b, a)
    rule.example(ss.lfiltic, b, a, SIGNAL[:2])
    rule.example(ss.lfiltic, b, a, SIGNAL[:4], [0.5, -0.2, 0.7, 0.1])
for a in ([1.0], np.array([2.0])):
    rule.example(ss.lfilter, B, a, SIGNAL)
    rule.example(ss.lfilter, B, a, IMAGE, 0, IMAGE[:2])
rule.example(ss.lfilter, B, A, IMAGE + 0.4j * IMAGE**2, 0)
rule.example(ss.lfilter, B, A, IMAGE[:2], 0, np.outer(STATE, SIGNAL[:4]))
rule.example(ss.lfilter, B, A, IMAGE[:, :2], 1, STATE[None])
rule.example(ss.lfilter, 0.7, 2.0, SIGNAL)

STATES = np.array([[0.3, -0.4], [0.2, 0.5]])
FIRST_IS_ONE = {"check_direction": lambda v: v * (np.arange(6) != 3) if v.shape[-1] == 6 else v}
rule.example(ss.sosfilt, SECTIONS, SIGNAL, **FIRST_IS_ONE)
rule.example(ss.sosfilt, SECTIONS, IMAGE + 0.3j, 0, **FIRST_IS_ONE)
rule.example(ss.sosfilt, SECTIONS, SIGNAL, -1, STATES, **FIRST_IS_ONE)
rule.example(ss.sosfilt, SECTIONS, IMAGE, 0, np.multiply.outer(STATES, SIGNAL[:4]), **FIRST_IS_ONE)
rule.example(ss.sosfilt, SECTIONS[0], SIGNAL, **FIRST_IS_ONE)
rule.example(ss.sosfilt, SECTIONS[1], SIGNAL, -1, STATES[:1], **FIRST_IS_ONE)
