"""The best place for a depot, and how it moves with each of the towns that it serves.

The depot lies where the sum of the distances to all towns, each times its weight, is smallest.
SciPy finds it by a search. The gradient does not pass through the search: the slope of the sum is
zero at the depot, wherever the towns are, and that tells how it moves.

    python examples/best_place.py best_place.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

from zygote_lite import grad, hessian, jacobian

TOWNS = np.array([[0.3, 0.5], [1.1, 3.2], [2.4, 1.1], [3.6, 3.7], [4.4, 0.7], [5.2, 2.6]])
WEIGHTS = np.array([1.0, 2.0, 1.0, 1.5, 0.7, 1.2])


def cost(place, towns, weights):
    """Return the sum of the weighted distances from a place to all towns."""
    return np.sum(weights * np.sqrt(np.sum((towns - place) ** 2, axis=1)))


def best(towns, weights):
    """Return the best place."""
    start = np.array([2.5, 2.0])
    options = {"jac": grad(cost), "hess": hessian(cost), "tol": 1e-9}
    return minimize(cost, start, (towns, weights), "trust-exact", **options).x


def sensitivity():
    """Return how the best place moves with each town, and with each weight."""
    return jacobian(best, argnums=0)(TOWNS, WEIGHTS), jacobian(best, argnums=1)(TOWNS, WEIGHTS)


def main(path="best_place.png"):
    place = best(TOWNS, WEIGHTS)
    by_towns, by_weights = sensitivity()
    for town, moves in zip(TOWNS, by_towns.swapaxes(0, 1), strict=True):
        size = np.linalg.norm(moves, 2)
        print(f"the town at {town} moves the depot by up to {size:.2f} of its own way")
    turn = np.linspace(0, 2 * np.pi, 60)
    circle = 0.4 * np.stack([np.cos(turn), np.sin(turn)])
    figure = Figure(figsize=(6, 3), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.5, 1))
    for town, weight, moves, move in zip(
        TOWNS, WEIGHTS, by_towns.swapaxes(0, 1), by_weights.T, strict=True
    ):
        (line,) = left.plot(*(town[:, None] + circle), lw=1)
        left.plot(*town, "o", color=line.get_color(), ms=6 * weight)
        right.plot(*(place[:, None] + moves @ circle), color=line.get_color())
        left.annotate("", place + move, place, arrowprops={"arrowstyle": "->", "lw": 1.5,
                                                           "color": line.get_color()})  # fmt: skip
    left.plot(*place, "k+", ms=14)
    left.set(title="towns, and what pulls the depot", aspect="equal")
    right.plot(*place, "k+", ms=14)
    right.set(title="how it moves with a town", aspect="equal")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
