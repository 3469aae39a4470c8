"""Calls that the rules of `rules_scipy.ndimage.coordinates` are checked with."""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.ndimage.coordinates import rule

IMAGE = np.sin(np.arange(12.0) ** 2).reshape(3, 4)
COMPLEX = IMAGE + 1j * np.cos(IMAGE)
PLACES = np.array([[0.3, 1.7, -1.4, 2.6, 9.2], [2.2, 0.1, 3.4, 1.6, -7.7]])
MATRIX = np.array([[0.93, 0.21], [-0.17, 1.04]])
ORDERS = {"reflect": 0, "constant": 5, "nearest": 3, "mirror": 2, "wrap": 4}
ORDERS |= {"grid-constant": 3, "grid-mirror": 1, "grid-wrap": 3}


def bent(at, k=0.11):
    """Return from where an entry of an image is taken."""
    return at[0] + k * at[1], 0.93 * at[1] - k * at[0] ** 2


for number, (mode, order) in enumerate(ORDERS.items()):
    given = {"order": order, "mode": mode, "cval": 0.3}
    rule.example(nd.map_coordinates, IMAGE, PLACES, **given)
    if number % 2:
        rule.example(nd.shift, IMAGE, (0.3, -1.2), **given)
        rule.example(nd.rotate, IMAGE, 31.0, **given)
    else:
        rule.example(nd.zoom, IMAGE, 2, **given)
        rule.example(nd.affine_transform, IMAGE, MATRIX, [0.313, -0.171], **given)
rule.example(nd.map_coordinates, COMPLEX, PLACES, prefilter=False)
rule.example(nd.map_coordinates, COMPLEX, PLACES, mode="grid-constant", cval=0.2 + 0.1j)
rule.example(nd.shift, COMPLEX, 0.37)
rule.example(nd.affine_transform, IMAGE, np.array([0.93, 1.12]), 0.171, (4, 3))
rule.example(nd.affine_transform, IMAGE, np.hstack([MATRIX, [[0.313], [-0.171]]]))
rule.example(nd.rotate, IMAGE.reshape(3, 2, 2), 23.0, axes=(2, 0), reshape=False)
rule.example(nd.geometric_transform, IMAGE, bent, mode="mirror")
rule.example(nd.geometric_transform, IMAGE, bent, extra_keywords={"k": 0.07})
rule.example(nd.geometric_transform, IMAGE, bent, extra_arguments=(0.07,), order=2)
