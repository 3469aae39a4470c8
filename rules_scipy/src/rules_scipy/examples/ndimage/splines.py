"""Calls that the rules of `rules_scipy.ndimage.splines` are checked with."""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.ndimage.splines import rule, sampled, spread

IMAGE = np.sin(np.arange(12.0) ** 2).reshape(3, 4)
PLACES = np.array([[0.3, 1.7, -0.4, 2.6], [2.2, 0.1, 3.4, 1.6]])
for number, mode in enumerate(("reflect", "constant", "nearest", "mirror", "wrap")):
    for order in (2 + number % 2, 4 + number % 2):
        rule.example(nd.spline_filter1d, IMAGE, order, 0, mode=mode)
    rule.example(nd.spline_filter, IMAGE, mode=mode)
    rule.example(sampled, IMAGE, PLACES, 3, mode, 0.3, (0, 1))
    rule.example(spread, PLACES[0], PLACES, (3, 4), 3, mode, (1, 0))
rule.example(nd.spline_filter, IMAGE + 1j * np.cos(IMAGE), output=complex, mode="grid-wrap")
