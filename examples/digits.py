"""Handwritten digits, read by a small network.

The data are 1,000 digits by E. Alpaydin and C. Kaynak (`examples/data/README.md` has source and
license), of which 300 are kept for the test. The picture shows some that are misread, and the
gradient of the score of each digit by the pixels: red where ink speaks for it, else blue.

    python examples/digits.py digits.png
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from rules_nnlib import logit_cross_entropy, relu
from zygote_lite import grad, value_and_grad
from zygote_lite.optimizers import adam

DATA = Path(__file__).parent / "data" / "digits.npz"


class Network:
    def __init__(self, rng, hidden=32):
        self.inside = rng.normal(size=(64, hidden)) / 8, np.zeros(hidden)
        self.out = rng.normal(size=(hidden, 10)) / np.sqrt(hidden), np.zeros(10)

    def __call__(self, x):
        (w, b), (v, c) = self.inside, self.out
        return relu(x @ w + b) @ v + c


def digits():
    """Return images as rows and labels: those to learn from, and those of the test."""
    with np.load(DATA) as data:
        x, label = data["images"].reshape(-1, 64) / 16, data["labels"].astype(int)
    return (x[:700], label[:700]), (x[700:], label[700:])


def loss(model, x, wanted):
    return logit_cross_entropy(model(x), wanted)


def train(x, label, epochs=40, batch=70):
    """Return the network and the losses."""
    rng = np.random.default_rng(0)
    model, state, losses, wanted = Network(rng), None, [], np.eye(10)[label]
    slope = value_and_grad(loss)
    for _ in range(epochs):
        for rows in rng.permutation(len(x)).reshape(-1, batch):
            value, dmodel = slope(model, x[rows], wanted[rows])
            losses.append(value)
            model, state = adam(model, dmodel, state, rate=0.01, weight_decay=0.3)
    return model, losses


def main(path="digits.png", epochs=40):
    (x, label), (unknown, truth) = digits()
    model, losses = train(x, label, int(epochs))
    read = np.argmax(model(unknown), axis=1)
    wrong = np.flatnonzero(read != truth)
    print(f"loss {losses[-1]:.4f}; {len(wrong)} of {len(truth)} digits of the test are misread")
    figure = Figure(figsize=(6, 3), dpi=120, layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(2, 3))
    left.subplots().semilogy(losses)
    left.axes[0].set(title="loss", xlabel="step")
    axes = right.subplots(4, 5, subplot_kw={"xticks": [], "yticks": []})
    for axis, i in zip(axes[:2].flat, wrong, strict=False):
        axis.imshow(unknown[i].reshape(8, 8), cmap="gray_r")
        axis.set_title(f"{truth[i]}, not {read[i]}", fontsize=8)
    for digit, axis in enumerate(axes[2:].flat):
        slopes = grad(lambda pixels, d=digit: np.sum(model(pixels)[:, d]))(x[label == digit])
        mean = slopes.mean(axis=0).reshape(8, 8)
        axis.imshow(mean, cmap="RdBu_r", vmin=-abs(mean).max(), vmax=abs(mean).max())
        axis.set_title(f"for a {digit}", fontsize=8)
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
