"""Calls that the rules of `rules_scipy.fft.logarithmic` are checked with."""

import numpy as np
from scipy import fft as sf

from rules_scipy.fft.logarithmic import rule

SIGNAL = np.sin(np.arange(1.0, 9.0))
for f in (sf.fht, sf.ifht):
    for n in (7, 8):
        rule.example(f, SIGNAL[:n], 0.3, 0.5)
        rule.example(f, SIGNAL[:n], 0.3, 0.5, offset=0.2, bias=0.4)
    rule.example(f, np.stack([SIGNAL, SIGNAL[::-1]]), 0.3, 1.5)
