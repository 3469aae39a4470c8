"""A small network of plain classes tells two moons apart.

The gradient has the structure of the network. `zygote-lite moons` trains the same network.

    python examples/moons.py moons.png
"""

import sys
from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

from rules_nnlib import logit_cross_entropy, relu, softmax
from zygote_lite import value_and_grad
from zygote_lite.optimizers import adam


class Dense:
    def __init__(self, rng, inputs, outputs):
        self.w = rng.normal(size=(inputs, outputs)) * np.sqrt(2 / inputs)
        self.b = np.zeros(outputs)

    def __call__(self, x):
        return relu(x @ self.w + self.b)


class Network:
    def __init__(self, rng, sizes=(2, 16, 16, 2)):
        self.layers = [Dense(rng, *pair) for pair in pairwise(sizes)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def two_moons(rng, n, noise=0.1):
    """Return points on two half circles, (n, 2), and their class 0 or 1, (n,)."""
    angle, label = np.pi * rng.random(n), np.arange(n) % 2
    x = np.where(label == 0, np.cos(angle), 1 - np.cos(angle))
    y = np.where(label == 0, np.sin(angle), 0.5 - np.sin(angle))
    return np.stack([x, y], axis=1) + noise * rng.normal(size=(n, 2)), label


def loss(model, x, target):
    return logit_cross_entropy(model(x), target)


def train(model, x, label, epochs):
    """Return the trained model and the losses."""
    slope, target, state, losses = value_and_grad(loss), np.eye(2)[label], None, []
    for _ in range(epochs):
        value, dmodel = slope(model, x, target)
        model, state = adam(model, dmodel, state, rate=0.02)
        losses.append(float(value))
    return model, losses


def main(path="moons.png", epochs=200):
    rng = np.random.default_rng(0)
    (points, label), (unknown, truth) = two_moons(rng, 400), two_moons(rng, 1000)
    model, losses = train(Network(rng), points, label, int(epochs))
    print(f"accuracy on 1000 held-out points: {np.mean(model(unknown).argmax(1) == truth):.3f}")
    figure = Figure(figsize=(6, 2.75), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2)
    grid = np.meshgrid(np.linspace(-1.6, 2.5, 200), np.linspace(-1.0, 1.5, 200))
    share = softmax(model(np.stack(grid, axis=-1)))[..., 1]
    left.contourf(*grid, share, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.7)
    left.contour(*grid, share, levels=[0.5], colors="black", linewidths=1)
    for k, color in enumerate(["firebrick", "navy"]):
        left.scatter(*points[label == k].T, s=9, color=color)
    left.set(title="two moons, and their border", xticks=[], yticks=[])
    right.semilogy(losses)
    right.set(title="loss", xlabel="epoch")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
