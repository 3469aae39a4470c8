"""A recurrent network that learns to write the license of this project, letter by letter.

At each letter the network says which one comes next, and the gradient goes back through all
letters of a piece. Then it goes on by itself: after a tenth of the training, a quarter, and all.

    python examples/char_rnn.py char_rnn.png
"""

import sys
import textwrap
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from rules_nnlib import logit_cross_entropy, softmax
from zygote_lite import value_and_grad
from zygote_lite.optimizers import adam

TEXT = (Path(__file__).parents[1] / "LICENSE").read_text(encoding="utf-8")
LETTERS = sorted(set(TEXT))
CODE, LENGTH, PIECES, HIDDEN = np.eye(len(LETTERS)), 24, 32, 64


class Network:
    def __init__(self, rng):
        self.read = 0.3 * rng.normal(size=(len(LETTERS), HIDDEN))
        self.keep = rng.normal(size=(HIDDEN, HIDDEN)) / np.sqrt(HIDDEN)
        self.say = 0.3 * rng.normal(size=(HIDDEN, len(LETTERS)))

    def __call__(self, h, letter):
        return np.tanh(h @ self.keep + self.read[letter])


def loss(model, pieces):
    """Return the mean of what each letter of the pieces costs, in bits."""
    h, bits = np.zeros((PIECES, HIDDEN)), 0.0
    for i in range(LENGTH):
        h = model(h, pieces[:, i])
        bits += logit_cross_entropy(h @ model.say, CODE[pieces[:, i + 1]]) / np.log(2)
    return bits / LENGTH


def train(steps=400):
    """Return the network after each step, and the losses."""
    rng, text = np.random.default_rng(1), np.array([LETTERS.index(c) for c in TEXT])
    models, state, losses, slope = [Network(rng)], None, [], value_and_grad(loss)
    for _ in range(steps):
        begins = rng.integers(len(text) - LENGTH, size=(PIECES, 1))
        value, dmodel = slope(models[-1], text[begins + np.arange(LENGTH + 1)])
        model, state = adam(models[-1], dmodel, state, rate=0.01)
        models, losses = [*models, model], [*losses, value]
    return models, losses


def write(model, text="P", length=200):
    """Return a text that the network continues from its first letter."""
    rng, h = np.random.default_rng(0), np.zeros(HIDDEN)
    while len(text) < length:
        h = model(h, LETTERS.index(text[-1]))
        text += rng.choice(LETTERS, p=softmax(2 * h @ model.say))
    return text


def main(path="char_rnn.png", steps=400):
    models, losses = train(int(steps))
    figure = Figure(figsize=(6, 3.4), dpi=120, layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2, 3))
    left.plot(losses)
    left.set(title="bits a letter", xlabel="step")
    right.axis("off")
    for i, step in enumerate((len(losses) // 10, len(losses) // 4, -1)):
        text = textwrap.fill(write(models[step]), 36)
        print(text, end="\n\n")
        right.text(0, 1 - 0.34 * i, text, va="top", family="monospace", fontsize=8)
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
