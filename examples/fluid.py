"""Smoke that is stirred into a ring, by the gradient through a solver that writes in place.

What is found is the velocity at the start. Each step lets the flow carry itself and the smoke,
and takes out what would make the fluid denser: the gradient of a pressure, found by sweeps.

    python examples/fluid.py fluid.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import minimize

from rulescore import non_differentiable
from zygote_lite import value_and_grad

N, STEPS, SWEEPS = 24, 12, 12
ROWS, COLUMNS = np.mgrid[:N, :N].astype(float)
SMOKE = np.where(abs(ROWS - 11.5) < 5, 1.0, 0.0)
RING = np.exp(-((np.hypot(ROWS - 11.5, COLUMNS - 11.5) - 7) ** 2) / 5)
cells = non_differentiable(lambda places: places.astype(int))


def carried(field, u, v):
    """Return a field after the flow (columns and rows a step) has carried it."""
    y, x = np.clip(ROWS - v, 0, N - 1.001), np.clip(COLUMNS - u, 0, N - 1.001)
    i, j = cells(y), cells(x)
    upper = (j + 1 - x) * field[i, j] + (x - j) * field[i, j + 1]
    lower = (j + 1 - x) * field[i + 1, j] + (x - j) * field[i + 1, j + 1]
    return (i + 1 - y) * upper + (y - i) * lower


def keep_volume(u, v):
    """Take the gradient of a pressure from the velocity, in place."""
    p, away = np.zeros((N, N)), np.zeros((N, N))
    away[1:-1, 1:-1] = (u[1:-1, 2:] - u[1:-1, :-2] + v[2:, 1:-1] - v[:-2, 1:-1]) / 2
    for _ in range(SWEEPS):
        p[1:-1, 1:-1] = p[1:-1, 2:] + p[1:-1, :-2] + p[2:, 1:-1] + p[:-2, 1:-1] - away[1:-1, 1:-1]
        p[1:-1, 1:-1] /= 4
    u[1:-1, 1:-1] -= (p[1:-1, 2:] - p[1:-1, :-2]) / 2
    v[1:-1, 1:-1] -= (p[2:, 1:-1] - p[:-2, 1:-1]) / 2


def flow(velocity, steps=STEPS):
    """Return the smoke after some steps; the velocity is (2, N, N)."""
    u, v, smoke = velocity[0].copy(), velocity[1].copy(), SMOKE
    keep_volume(u, v)
    for _ in range(steps):
        u, v, smoke = carried(u, u, v), carried(v, u, v), carried(smoke, u, v)
        keep_volume(u, v)
    return smoke


def misfit(flat):
    return np.sum((flow(flat.reshape(2, N, N)) - RING) ** 2)


def stir(iterations=40):
    """Return the velocity at the start that gives the ring."""
    slope, options = value_and_grad(misfit), {"maxiter": iterations}
    found = minimize(slope, np.zeros(2 * N * N), method="L-BFGS-B", jac=True, options=options)
    return found.x.reshape(2, N, N)


def main(path="fluid.png", iterations=40):
    velocity = stir(int(iterations))
    figure = Figure(figsize=(6, 1.6), dpi=120, layout="constrained")
    for axes, steps in zip(figure.subplots(1, 5), (0, 4, 8, 12, None), strict=True):
        axes.imshow(RING if steps is None else flow(velocity, steps), cmap="Blues")
        axes.set(title="wanted" if steps is None else f"step {steps}", xticks=[], yticks=[])
    some = np.s_[..., ::2, ::2]
    figure.axes[0].quiver(COLUMNS[some], ROWS[some], *velocity[some], angles="xy", color="C3")
    print(f"misfit {misfit(0 * velocity.ravel()):.1f}, then {misfit(velocity.ravel()):.1f}")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
