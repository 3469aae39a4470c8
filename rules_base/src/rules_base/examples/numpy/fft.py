"""Calls that the rules of `rules_base.numpy.fft` are checked with."""

import numpy as np

from rules_base.numpy.fft import rule

SIGNAL = np.sin(np.arange(1.0, 7.0))
SPECTRUM = SIGNAL + 1j * np.cos(np.arange(6.0))
IMAGE = np.sin(np.arange(40.0)).reshape(2, 4, 5)
IMAGES = IMAGE + 1j * np.cos(np.arange(40.0)).reshape(2, 4, 5)
ANY = (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft)
REAL = (np.fft.rfft, np.fft.ihfft)
for f in ANY + REAL:
    for x in (SIGNAL, SPECTRUM) if f in ANY else (SIGNAL,):
        for n in (None, 4, 5, 9, 12):
            rule.example(f, x, n)
        rule.example(f, x[:5])
        for norm in ("backward", "ortho", "forward"):
            rule.example(f, x, norm=norm)
    x = IMAGES if f in ANY else IMAGE
    rule.example(f, x, axis=1)
    rule.example(f, x, n=3, axis=0)
    rule.example(f, [0.5, -1.5, 2.0])
ANY = (np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn, np.fft.irfft2, np.fft.irfftn)
REAL = (np.fft.rfft2, np.fft.rfftn)
for f in ANY + REAL:
    for x in (IMAGE, IMAGES) if f in ANY else (IMAGE,):
        rule.example(f, x)
        rule.example(f, x, s=(3, 6), axes=(0, 1))
        rule.example(f, x, s=(-1, 7), axes=(2, 1), norm="ortho")
        rule.example(f, x, axes=(0, 2), norm="forward")
for f in (np.fft.fftn, np.fft.ifftn):
    rule.example(f, IMAGES, s=(3, 6), axes=(1, 1))
for f in (np.fft.fftshift, np.fft.ifftshift):
    rule.example(f, SPECTRUM[:5])
    rule.example(f, IMAGE)
    rule.example(f, IMAGES, axes=(0, 2))
    rule.example(f, IMAGE, 1)
for f in (np.fft.fftfreq, np.fft.rfftfreq):
    rule.example(f, 5, 0.25)
    rule.example(f, 6, np.float64(0.5))
