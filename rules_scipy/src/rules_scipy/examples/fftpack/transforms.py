"""Calls that the rules of `rules_scipy.fftpack.transforms` are checked with."""

import numpy as np
from scipy import fftpack as fp

from rules_scipy.fftpack.transforms import rule

SIGNAL = np.sin(np.arange(1.0, 6.0))
IMAGE = np.sin(np.arange(12.0)).reshape(3, 4)
for f in (fp.fft, fp.ifft, fp.rfft, fp.irfft):
    for n in (None, 4, 8):
        rule.example(f, SIGNAL, n)
    rule.example(f, IMAGE, axis=0)
for f in (fp.fftn, fp.ifftn, fp.fft2, fp.ifft2):
    rule.example(f, IMAGE)
    rule.example(f, IMAGE + 0.5j, shape=(2, 5))
for f in (fp.dct, fp.idct, fp.dst, fp.idst):
    for type in (1, 2, 3, 4):
        rule.example(f, SIGNAL, type)
    rule.example(f, SIGNAL, norm="ortho")
for f in (fp.dctn, fp.idctn, fp.dstn, fp.idstn):
    rule.example(f, IMAGE)
    rule.example(f, IMAGE, norm="ortho", axes=(0,))
