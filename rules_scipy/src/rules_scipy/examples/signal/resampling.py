"""Calls that the rules of `rules_scipy.signal.resampling` are checked with."""

import numpy as np
from scipy import signal as ss

from rules_scipy.signal.resampling import rule

SIGNAL = np.sin(np.arange(1.0, 8.0))
IMAGE = np.sin(np.arange(12.0)).reshape(3, 4)
H = np.array([0.7, -0.2, 0.4, 0.3])
for _ in range(300):  # the first calls of SciPy's functions keep some memory, and later ones none
    ss.resample_poly(SIGNAL, 3, 2)
for up, down in ((1, 1), (3, 2), (2, 5), (7, 1), (1, 3)):
    rule.example(ss.upfirdn, H, SIGNAL, up, down)
for mode in ("wrap", "edge", "symmetric", "reflect"):
    rule.example(ss.upfirdn, H, SIGNAL, 3, 2, mode=mode)
    rule.example(ss.upfirdn, SIGNAL, IMAGE[:, :2], 2, 3, 0, mode)
rule.example(ss.upfirdn, H, SIGNAL, 2, 3, cval=0.7)
rule.example(ss.upfirdn, H - 0.3j, IMAGE + 0.5j * IMAGE**2, 2, 3, 0)
rule.example(ss.resample_poly, SIGNAL, 3, 2)
rule.example(ss.resample_poly, SIGNAL, 2, 2)
rule.example(ss.resample_poly, SIGNAL, 4, 2, 0, ("kaiser", 3.0))
rule.example(ss.resample_poly, IMAGE + 0.4j * IMAGE**2, 2, 6, 1)
rule.example(ss.resample_poly, SIGNAL, 2, 3, 0, H, "wrap")
rule.example(ss.resample_poly, SIGNAL, 2, 3, 0, [0.2, 0.7, 0.3], cval=0.3)
for padtype in ("mean", "median", "maximum", "minimum"):
    rule.example(ss.resample_poly, IMAGE, 2, 3, 1, H[:3], padtype)
