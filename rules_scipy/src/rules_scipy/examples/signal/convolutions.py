"""Calls that the rules of `rules_scipy.signal.convolutions` are checked with."""

import numpy as np
from scipy import signal as ss

from rules_scipy.signal.convolutions import rule

SIGNAL, KERNEL = np.sin(np.arange(1.0, 6.0)), np.cos(np.arange(4.0))
IMAGE, SPOT = np.sin(np.arange(12.0)).reshape(3, 4), np.cos(np.arange(4.0) ** 2).reshape(2, 2)
COMPLEX, COMPLEX_SPOT = SIGNAL + 0.5j * SIGNAL**2, SPOT - 0.3j * SPOT**2
for f in (ss.convolve, ss.correlate):
    for mode, method in (("full", "direct"), ("same", "fft"), ("valid", "auto")):
        rule.example(f, SIGNAL, KERNEL, mode, method)
        rule.example(f, KERNEL, COMPLEX, mode, method)
    rule.example(f, IMAGE, COMPLEX_SPOT, "same", "direct")
    rule.example(f, COMPLEX_SPOT, IMAGE, "valid", "direct")
    rule.example(f, SIGNAL, [0.5, -1.0, 2.0])
    rule.example(f, 0.5, 1.5)
for f in (ss.fftconvolve, ss.oaconvolve):
    rule.example(f, SIGNAL, KERNEL)
    rule.example(f, KERNEL, COMPLEX, "same")
    rule.example(f, IMAGE, SPOT[:1], "valid", axes=1)
    for mode in ("full", "same", "valid"):
        rule.example(f, IMAGE, IMAGE[:, 1:3], mode, axes=-1)
    rule.example(f, SPOT[:, :1], COMPLEX_SPOT, "same")
    rule.example(f, np.tile(SIGNAL, 8), KERNEL[:2], "full")
    rule.example(f, np.array([]), KERNEL)
for f in (ss.convolve2d, ss.correlate2d):
    for mode in ("full", "same"):
        for boundary in ("fill", "wrap", "symm"):
            rule.example(f, IMAGE, COMPLEX_SPOT, mode, boundary, 0.7)
    rule.example(f, np.arange(6).reshape(2, 3), SPOT, fillvalue=0.7)
    rule.example(f, IMAGE, COMPLEX_SPOT, fillvalue=0.7 + 0.2j)
    rule.example(f, IMAGE[:0], SPOT, fillvalue=0.7)
    rule.example(f, SPOT, IMAGE, "same", "symm")
    rule.example(f, SPOT, IMAGE, "same")
    rule.example(f, IMAGE, COMPLEX_SPOT, "valid")
    rule.example(f, COMPLEX_SPOT, IMAGE, "valid", "wrap")
