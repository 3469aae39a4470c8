"""Calls that the rules of `rules_scipy.fft.fourier` are checked with."""

import numpy as np
from scipy import fft as sf

from rules_scipy.fft.fourier import rule

SIGNAL = np.sin(np.arange(1.0, 7.0))
IMAGE = np.sin(np.arange(24.0)).reshape(2, 3, 4)
REAL = (sf.rfft, sf.ihfft)
for f in (sf.fft, sf.ifft, sf.irfft, sf.hfft, *REAL):
    for x in (SIGNAL,) if f in REAL else (SIGNAL, SIGNAL + 0.5j * SIGNAL**2):
        for n in (None, 4, 5, 9):
            rule.example(f, x, n)
        for norm in ("backward", "ortho", "forward"):
            rule.example(f, x, norm=norm)
    rule.example(f, IMAGE, axis=1)
    rule.example(f, [0.5, -1.5, 2.0])
REAL = (sf.rfft2, sf.rfftn, sf.ihfft2, sf.ihfftn)
ANY = (sf.fft2, sf.ifft2, sf.fftn, sf.ifftn, sf.irfft2, sf.irfftn, sf.hfft2, sf.hfftn)
for f in ANY + REAL:
    for x in (IMAGE,) if f in REAL else (IMAGE, IMAGE + 0.5j * IMAGE**2):
        rule.example(f, x)
        rule.example(f, x, s=(3, 6), axes=(0, 1), norm="ortho")
        rule.example(f, x, axes=(0, 2), norm="forward")
for f in (sf.fftshift, sf.ifftshift):
    if any(r.function is f for r in rule.rules):
        rule.example(f, SIGNAL[:5])
        rule.example(f, IMAGE, axes=(0, 2))
for f in (sf.fftfreq, sf.rfftfreq):
    if any(r.function is f for r in rule.rules):
        rule.example(f, 5, 0.25)
