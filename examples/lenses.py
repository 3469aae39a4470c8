"""Rays through two lenses, whose surfaces are bent until the rays meet.

A ray is refracted by Snell's law at each of four spherical surfaces. The curvatures are found by
the gradient of the size of the spot on a screen, for rays that come parallel to the axis.

    python examples/lenses.py lenses.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

from zygote_lite import value_and_grad

PLACES = np.array([0.0, 0.6, 1.4, 2.0])  # of the surfaces, on the axis
GLASS = (1.5, 1.0, 1.6, 1.0)  # the index of refraction behind each
SCREEN = 8.0
HEIGHTS = np.linspace(-1.0, 1.0, 21)
START = np.array([0.10, -0.10, 0.10, -0.10])


def trace(curvatures, heights):
    """Return the places of rays at each surface and on the screen, (6, rays, 2)."""
    n = len(heights)
    path = np.zeros((6, n, 2))
    x, y = np.full(n, -1.0), heights
    u, v = np.ones(n), np.zeros(n)  # the direction
    path[0, :, 0], path[0, :, 1] = x, y
    index = 1.0
    for i in range(4):
        c, behind = curvatures[i], GLASS[i]
        # where the ray meets c (dx² + y²) - 2 dx = 0, with dx from the vertex of the surface
        dx = x - PLACES[i]
        b = u - c * (u * dx + v * y)
        rest = c * (dx**2 + y**2) - 2 * dx
        t = rest / (b + np.sqrt(b**2 - c * rest))
        x, y = x + t * u, y + t * v
        # Snell's law for the normal of the sphere, which points to the right
        p, q = 1 - c * (x - PLACES[i]), -c * y
        ratio, cosine = index / behind, u * p + v * q
        along = np.sqrt(1 - ratio**2 * (1 - cosine**2)) - ratio * cosine
        u, v, index = ratio * u + along * p, ratio * v + along * q, behind
        path[i + 1, :, 0], path[i + 1, :, 1] = x, y
    path[5, :, 0], path[5, :, 1] = SCREEN, y + (SCREEN - x) * v / u
    return path


def spot(curvatures):
    """Return the mean square of the distances from the axis on the screen."""
    return np.mean(trace(curvatures, HEIGHTS)[5, :, 1] ** 2)


def fit():
    bounds = [(-0.2, 0.2)] * 4
    return minimize(value_and_grad(spot), START, jac=True, bounds=bounds, tol=1e-14).x


def main(path="lenses.png"):
    found = fit()
    figure = Figure(figsize=(6, 3.4), dpi=120, layout="constrained")
    h = np.linspace(-1.2, 1.2, 60)
    cases = zip(figure.subplots(2, 1), (START, found), ("before", "after"), strict=True)
    for axes, c, title in cases:
        axes.plot(trace(c, HEIGHTS)[:, :, 0], trace(c, HEIGHTS)[:, :, 1], "C1", lw=0.6)
        for place, bend in zip(PLACES, c, strict=True):
            axes.plot(place + bend * h**2 / (1 + np.sqrt(1 - (bend * h) ** 2)), h, "C0")
        axes.set(title=f"{title}: a spot of {np.sqrt(spot(c)):.4f}", ylim=(-1.4, 1.4))
        print(f"{title}: curvatures {c.round(3)}, spot {np.sqrt(spot(c)):.4f}")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
