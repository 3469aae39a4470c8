"""Calls that the rules of `rules_scipy.ndimage.convolutions` are checked with."""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.ndimage.convolutions import rule
from rules_scipy.shared.pixels.boundaries import extended_axis, folded_axis

IMAGE = np.sin(np.arange(12.0)).reshape(3, 4)
WEIGHTS = np.cos(np.arange(6.0)).reshape(2, 3)
MODES = ("reflect", "constant", "nearest", "mirror", "wrap")
MODES += ("grid-constant", "grid-mirror", "grid-wrap")
for mode in MODES[::2]:
    rule.example(nd.correlate1d, IMAGE, WEIGHTS[0], mode=mode, cval=0.3, origin=-1)
    rule.example(nd.convolve, IMAGE, WEIGHTS, mode=mode, cval=0.3, origin=(-1, 0))
for mode in MODES[1::2]:
    rule.example(nd.convolve1d, IMAGE, [0.5, 1.0, -0.3, 0.2], 0, mode=mode, cval=0.3)
    rule.example(nd.correlate, IMAGE, WEIGHTS, mode=mode, cval=0.3, origin=(0, 1))
COMPLEX = IMAGE + 0.5j * np.cos(IMAGE)
for x in (IMAGE, COMPLEX):
    for w in (WEIGHTS, WEIGHTS + 0.3j * np.sin(WEIGHTS)):
        rule.example(nd.correlate, x, w, mode="mirror")
        rule.example(nd.convolve, x, w, mode="wrap")
        rule.example(nd.correlate1d, x, w[1], mode="constant")
        rule.example(nd.convolve1d, x, w[1], 0)
rule.example(nd.convolve, IMAGE.reshape(3, 2, 2), WEIGHTS, axes=(0, 2))
rule.example(nd.correlate, IMAGE.astype(np.float32), WEIGHTS, output=np.float64)
rule.example(folded_axis, IMAGE, 1, 1, 1, "mirror")
rule.example(extended_axis, IMAGE, 1, 2, 3, "wrap", 0)
