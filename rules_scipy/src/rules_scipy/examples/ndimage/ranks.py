"""Calls that the rules of `rules_scipy.ndimage.ranks` are checked with."""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.ndimage.ranks import rule

IMAGE = np.sin(np.arange(12.0) ** 2 + 1).reshape(3, 4)
FOOTPRINT = np.array([[1, 0, 1], [0, 1, 1]], bool)
HEIGHTS = 0.1 * np.cos(np.arange(6.0)).reshape(2, 3)
LINES = (nd.minimum_filter1d, nd.maximum_filter1d)
RANKS = (nd.minimum_filter, nd.maximum_filter, nd.median_filter)
GREY = (nd.grey_erosion, nd.grey_dilation)
for number, mode in enumerate(("reflect", "constant", "nearest", "mirror", "wrap")):
    rule.example(LINES[number % 2], IMAGE, 4, 0, mode=mode, cval=0.3, origin=1)
    rule.example(RANKS[number % 3], IMAGE, size=3, mode=mode)
    f = RANKS[(number + 1) % 3]
    rule.example(f, IMAGE, footprint=FOOTPRINT, mode=mode, cval=0.3, origin=(-1, 1))
    if number % 2:
        rule.example(nd.rank_filter, IMAGE, 1, size=3, mode=mode)
    else:
        rule.example(nd.percentile_filter, IMAGE, 30, footprint=FOOTPRINT, mode=mode)
    rule.example(GREY[number % 2], IMAGE, size=(2, 3), mode=mode, origin=(-1, 0))
    f = GREY[(number + 1) % 2]
    rule.example(f, IMAGE, footprint=FOOTPRINT, structure=HEIGHTS, mode=mode, cval=0.3)
rule.example(nd.median_filter, IMAGE.reshape(3, 2, 2), size=(3, 2), axes=(0, 2))
rule.example(nd.median_filter, IMAGE[0], 3)
