"""An image that was bent is aligned with the one before, by gradients through two splines.

A displacement is given at 5 x 5 places, and between them by a spline. The bent image is looked up
at the displaced coordinates: `map_coordinates` has a gradient by the coordinates. What is
minimized is the difference of both images, and a little of how unevenly they are displaced.

    python examples/image_alignment.py image_alignment.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy import ndimage
from scipy.optimize import minimize

from zygote_lite import value_and_grad

SIZE, KNOTS = 40, 5
GRID = np.indices((SIZE, SIZE), float)
PLACES = GRID * (KNOTS - 1) / (SIZE - 1)  # of each pixel between the knots
SMOOTH = 2e-4


def picture():
    """Return an image: rings, and a bar across them."""
    y, x = (GRID - SIZE / 2) / SIZE
    rings = np.cos(25 * np.hypot(x - 0.05, y + 0.03)) * np.exp(-8 * (x**2 + y**2))
    return ndimage.gaussian_filter(rings + 0.8 * (np.abs(x + 0.4 * y) < 0.06), 0.8)


def displacement(knots):
    """Return by how much each pixel is displaced, along both axes."""
    return np.stack([ndimage.map_coordinates(k, PLACES, mode="nearest") for k in knots])


def moved(image, knots):
    """Return an image that is looked up at displaced coordinates."""
    return ndimage.map_coordinates(image, GRID + displacement(knots), mode="nearest")


def loss(flat, bent, fixed):
    """Return how far the bent image, moved back, is from the fixed one."""
    knots = flat.reshape(2, KNOTS, KNOTS)
    uneven = np.sum(np.diff(knots, axis=1) ** 2) + np.sum(np.diff(knots, axis=2) ** 2)
    return np.mean((moved(bent, knots) - fixed) ** 2) + SMOOTH * uneven / KNOTS**2


def bend(fixed, seed=0):
    """Return the image bent, with noise."""
    random = np.random.default_rng(seed)
    knots = ndimage.gaussian_filter(random.normal(scale=6.0, size=(2, KNOTS, KNOTS)), (0, 0.8, 0.8))
    return moved(fixed, knots) + random.normal(scale=0.02, size=fixed.shape)


def align(bent, fixed, steps=60):
    """Return the displacement at the knots that aligns both images, and the final loss."""
    start, options = np.zeros(2 * KNOTS**2), {"maxiter": steps}
    found = minimize(value_and_grad(loss), start, (bent, fixed), "L-BFGS-B", True, options=options)
    return found.x.reshape(2, KNOTS, KNOTS), found.fun


def main(path="image_alignment.png", steps=60):
    fixed = picture()
    bent = bend(fixed)
    knots, _ = align(bent, fixed, steps)
    aligned = moved(bent, knots)
    before, after = np.std(bent - fixed), np.std(aligned - fixed)
    print(f"difference of both images: {before:.3f} before, {after:.3f} after")
    images = {"fixed": fixed, "bent": bent, "aligned": aligned,
              "before": bent - fixed, "after": aligned - fixed}  # fmt: skip
    figure = Figure(figsize=(6, 1.6), dpi=120, layout="constrained")
    for axes, (title, image) in zip(figure.subplots(1, 5), images.items(), strict=True):
        axes.imshow(image, cmap="gray", vmin=-0.8, vmax=1.3)
        axes.set(title=title, xticks=[], yticks=[])
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
