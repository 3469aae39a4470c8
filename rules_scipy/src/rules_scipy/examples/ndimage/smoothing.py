"""Calls that the rules of `rules_scipy.ndimage.smoothing` are checked with."""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.ndimage.smoothing import rule

IMAGE = np.sin(np.arange(12.0) ** 2).reshape(3, 4)
COMPLEX = IMAGE + 1j * np.cos(IMAGE)
for mode in ("reflect", "nearest", "wrap"):
    rule.example(nd.uniform_filter1d, IMAGE, 4, 0, mode=mode, origin=1)
    rule.example(nd.gaussian_filter, IMAGE, (0.5, 0.8), order=(0, 2), mode=mode, cval=0.3)
for mode in ("constant", "mirror"):
    rule.example(nd.uniform_filter, IMAGE, size=(2, 5), mode=mode, origin=(0, -1), cval=0.3)
    rule.example(nd.gaussian_filter1d, IMAGE, 0.6, order=1, mode=mode, cval=0.3)
rule.example(nd.uniform_filter, COMPLEX)
rule.example(nd.gaussian_filter, COMPLEX, 0.7, order=3, radius=2)
rule.example(nd.gaussian_filter, IMAGE.reshape(3, 2, 2), [0.7, 0.4], axes=(2, 0))
rule.example(nd.gaussian_laplace, IMAGE, 0.7, mode=("wrap", "mirror"))
rule.example(nd.gaussian_laplace, IMAGE, 0.7, axes=(1,), truncate=3.0)
rule.example(nd.gaussian_gradient_magnitude, IMAGE, [0.7, 0.5], mode="constant", cval=0.3)
