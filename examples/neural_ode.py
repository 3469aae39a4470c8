"""A neural ODE: a network that learns the law of a spiral from its path.

The network gives the velocity at each place. It is integrated by the midpoint method, and what
comes out is compared with the path. The gradient goes back through all steps.

    python examples/neural_ode.py neural_ode.png
"""

import sys

import numpy as np
from matplotlib.figure import Figure

from zygote_lite import value_and_grad
from zygote_lite.optimizers import adam

STEPS, H = 25, 0.12


class Velocity:
    def __init__(self, rng, hidden=24):
        self.w = 0.7 * rng.normal(size=(2, hidden))
        self.b = 0.1 * rng.normal(size=hidden)
        self.v = 0.3 * rng.normal(size=(hidden, 2))

    def __call__(self, y):
        return np.tanh(y @ self.w + self.b) @ self.v


def spiral(y):
    """Return the velocity that is to be learned."""
    return np.stack([-0.3 * y[:, 0] - 2.0 * y[:, 1], 2.0 * y[:, 0] - 0.3 * y[:, 1]], axis=1)


def path_of(velocity, y, steps=STEPS):
    """Return the places after each step, (steps, paths, 2)."""
    path = np.zeros((steps, len(y), 2))
    for i in range(steps):
        middle = y + H / 2 * velocity(y)
        y = y + H * velocity(middle)
        path[i] = y
    return path


def loss(model, start, observed):
    return np.mean((path_of(model, start) - observed) ** 2)


def train(epochs=250):
    """Return the model and the losses."""
    rng = np.random.default_rng(0)
    start = np.array([[2.0, 0.0], [0.0, 1.2], [-1.5, -0.5]])
    observed = path_of(spiral, start)
    model, state, losses = Velocity(rng), None, []
    slope = value_and_grad(loss)
    for _ in range(epochs):
        value, dmodel = slope(model, start, observed)
        model, state = adam(model, dmodel, state, rate=0.02)
        losses.append(float(value))
    return model, losses


def main(path="neural_ode.png", epochs=250):
    model, losses = train(int(epochs))
    print(f"loss: {losses[0]:.3f} at first, {losses[-1]:.5f} in the end")
    figure = Figure(figsize=(6, 2.8), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2)
    for start in (np.array([[2.0, 0.0]]), np.array([[1.0, 1.5]])):
        left.plot(*path_of(spiral, start)[:, 0].T, "k--", label="law")
        left.plot(*path_of(model, start)[:, 0].T, "C0", label="network")
    left.set(title="a known path, a new one", aspect="equal")
    left.legend(["law", "network"])
    right.semilogy(losses)
    right.set(title="loss", xlabel="epoch")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
