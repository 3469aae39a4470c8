"""Calls that the rules of `rules_scipy.ndimage.derivatives` are checked with."""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.ndimage.derivatives import rule

IMAGE = np.sin(np.arange(12.0) ** 2).reshape(3, 4)


def difference(x, axis, output, mode, cval):
    """Return the difference of an image along one axis."""
    return nd.correlate1d(x, [-1.0, 0.0, 1.0], axis, output, mode, cval)


for mode in ("reflect", "constant", "nearest", "mirror", "wrap"):
    rule.example(nd.sobel, IMAGE, 0, mode=mode, cval=0.3)
    rule.example(nd.prewitt, IMAGE, mode=("wrap", mode))
    rule.example(nd.laplace, IMAGE, mode=mode)
rule.example(nd.laplace, IMAGE + 1j * np.cos(IMAGE), axes=(1,))
rule.example(nd.generic_laplace, IMAGE, difference)
rule.example(nd.generic_gradient_magnitude, IMAGE, difference)
