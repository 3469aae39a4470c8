"""Where to put metal, so that a plate stays cool: the shape of a conductor.

A plate is heated everywhere, and cooled at the middle of its left edge. There is metal for 40 % of
it. Each cell conducts by the share of metal in it, the temperatures solve a linear system, and the
gradient of their mean by all shares comes through the solution.

    python examples/heat_shape.py heat_shape.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.special import expit

from zygote_lite import value_and_grad
from zygote_lite.optimizers import adam

N, SHARE = 10, 0.4
CELLS = np.arange(N * N).reshape(N, N)
PAIRS = [(CELLS[:, :-1].ravel(), CELLS[:, 1:].ravel()), (CELLS[:-1].ravel(), CELLS[1:].ravel())]
COOLED = CELLS[N // 2 - 1 : N // 2 + 1, 0]


def temperatures(metal):
    """Return the temperatures of all cells, for shares of metal between 0 and 1."""
    conductance = 0.01 + metal**3  # a mixture conducts badly, so that shapes get sharp
    A = np.zeros((N * N, N * N))
    for one, other in PAIRS:
        a, b = conductance[one], conductance[other]
        k = 2 * a * b / (a + b)
        A[one, other] = -k
        A[other, one] = -k
        np.add.at(A, (one, one), k)
        np.add.at(A, (other, other), k)
    A[COOLED, COOLED] += 10.0
    return np.linalg.solve(A, np.full(N * N, 0.01))


def metal_of(free):
    return expit(free)


def loss(free):
    metal = metal_of(free)
    return np.mean(temperatures(metal)) + 1000 * (np.mean(metal) - SHARE) ** 2


def design(steps=100):
    """Return the free parameters, and the losses."""
    free, state, losses = np.full(N * N, -0.4), None, []
    slope = value_and_grad(loss)
    for _ in range(steps):
        value, dfree = slope(free)
        free, state = adam(free, dfree, state, rate=0.15)
        losses.append(float(value))
    return free, losses


def main(path="heat_shape.png", steps=100):
    free, losses = design(int(steps))
    metal = metal_of(free)
    print(f"mean temperature: {losses[0]:.3f} evenly, {temperatures(metal).mean():.3f} by design")
    print(f"metal: {metal.mean():.3f} of the plate")
    figure = Figure(figsize=(6, 2.2), dpi=120, layout="constrained")
    first, second, third = figure.subplots(1, 3)
    first.imshow(metal.reshape(N, N), cmap="Greys", vmin=0, vmax=1)
    first.set(title="metal", xticks=[], yticks=[])
    drawn = second.imshow(temperatures(metal).reshape(N, N), cmap="inferno")
    second.set(title="temperature", xticks=[], yticks=[])
    figure.colorbar(drawn, ax=second)
    third.semilogy(losses)
    third.set(title="loss", xlabel="step")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
