"""Calls that the rules of `rules_scipy.signal.smoothing` are checked with."""

import numpy as np
from scipy import signal as ss

from rules_scipy.signal.smoothing import rule

SIGNAL = np.sin(np.arange(1.0, 9.0) ** 2)
IMAGE = np.sin(np.arange(1.0, 21.0) ** 2).reshape(4, 5)
for _ in range(300):  # the first calls of SciPy's functions keep some memory, and later ones none
    ss.savgol_filter(SIGNAL, 5, 2)
for mode in ("interp", "mirror", "nearest", "wrap", "constant"):
    rule.example(ss.savgol_filter, SIGNAL, 5, 2, mode=mode, cval=0.3)
    rule.example(ss.savgol_filter, IMAGE, 4, 2, 1, 0.3, 0, mode)
rule.example(ss.savgol_filter, SIGNAL[:5], 5, 1)
rule.example(ss.medfilt, SIGNAL + 3)
rule.example(ss.medfilt, IMAGE, (1, 5))
rule.example(ss.medfilt, 1.5, 1)
rule.example(ss.medfilt2d, IMAGE + 2.0, 3)
rule.example(ss.medfilt2d, IMAGE, (5, 3))
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 0, 1]])
for rank in (0, 2, 4):
    rule.example(ss.order_filter, IMAGE, CROSS, rank)
