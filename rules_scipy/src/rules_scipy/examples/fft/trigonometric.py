"""Calls that the rules of `rules_scipy.fft.trigonometric` are checked with."""

import numpy as np
from scipy import fft as sf

from rules_scipy.fft.trigonometric import rule

SIGNAL = np.sin(np.arange(1.0, 6.0))
IMAGE = np.sin(np.arange(12.0)).reshape(3, 4)
for f in (sf.dct, sf.idct, sf.dst, sf.idst):
    for type in (1, 2, 3, 4):
        for norm in (None, "ortho", "forward"):
            rule.example(f, SIGNAL, type, norm=norm)
        for n in (4, 7):
            rule.example(f, SIGNAL, type, n)
        rule.example(f, IMAGE, type, axis=0, orthogonalize=True)
        rule.example(f, IMAGE, type, axis=0, norm="ortho", orthogonalize=False)
    rule.example(f, SIGNAL + 0.5j)
for f in (sf.dctn, sf.idctn, sf.dstn, sf.idstn):
    rule.example(f, IMAGE)
    rule.example(f, IMAGE, 3, s=(2, 5), norm="ortho")
    rule.example(f, IMAGE, axes=(0,), orthogonalize=True)
# of complex numbers, where SciPy ignores this choice
for f in (sf.dct, sf.idct, sf.dst, sf.idst):
    rule.example(f, SIGNAL * (1 + 0.5j), 3, norm=None, orthogonalize=True)
    rule.example(f, SIGNAL * (1 + 0.5j), 2, norm="ortho", orthogonalize=False)
for f in (sf.dctn, sf.dstn):
    rule.example(f, IMAGE * (1 + 0.5j), 2, orthogonalize=True)
