"""Calls that the rules of `rules_scipy.ndimage.fourier` are checked with."""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.ndimage.fourier import rule

SPECTRUM = np.sin(np.arange(12.0) ** 2).reshape(3, 4)
COMPLEX = SPECTRUM + 1j * np.cos(SPECTRUM)
for f in (nd.fourier_gaussian, nd.fourier_uniform, nd.fourier_shift):
    for x in (SPECTRUM, COMPLEX):
        rule.example(f, x, 0.7)
        rule.example(f, x, [0.4, 1.3], n=6)
        rule.example(f, x, np.array([0.4, 1.3]), n=5, axis=0)
for x in (SPECTRUM, COMPLEX):
    rule.example(nd.fourier_ellipsoid, x, 2.3)
    rule.example(nd.fourier_ellipsoid, x, [1.7, 0.6], n=6)
    rule.example(nd.fourier_ellipsoid, x, np.array([0.8, 1.9]), n=5, axis=0)
    rule.example(nd.fourier_ellipsoid, np.ravel(x), 2.3)
    rule.example(nd.fourier_ellipsoid, np.reshape(x, (3, 2, 2)), [0.7, 1.3, 2.1])
rule.example(nd.fourier_uniform, SPECTRUM, [-0.4, 1.3])
