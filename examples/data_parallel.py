"""Data-parallel training: each process has a part of the data, and computes its gradient.

The sum of these is the gradient of all data, so the steps are those of one process, as the losses
show. What `value_and_grad` returns is sent by its name; each process makes its own code, and keeps
it.

    python examples/data_parallel.py data_parallel.png
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from time import perf_counter

import numpy as np
from matplotlib.figure import Figure

from zygote_lite import tree_map, value_and_grad
from zygote_lite.optimizers import adam


def model(layers, x):
    for w, b in layers[:-1]:
        x = np.tanh(x @ w + b)
    return x @ layers[-1][0] + layers[-1][1]


def loss(layers, x, y):
    """Return the sum of the squares of the errors for a part of the data."""
    return np.sum((model(layers, x) - y) ** 2)


slope = value_and_grad(loss)


def waves(x):
    return np.sin(5 * np.hypot(x[:, :1], x[:, 1:]))


def layers_of(*sizes):
    rng = np.random.default_rng(1)
    return [(2 * rng.normal(size=(n, m)) / np.sqrt(n), np.zeros(m)) for n, m in pairwise(sizes)]


def train(run, xs, ys, steps):
    """Return the layers and the losses; `run` calls `slope` for each part, as `map` does."""
    layers, state, losses = layers_of(2, 64, 64, 1), None, []
    n = sum(map(len, xs))
    for _ in range(steps):
        values, slopes = zip(*run(slope, [layers] * len(xs), xs, ys), strict=True)
        mean = tree_map(lambda *terms: sum(terms) / n, *slopes)
        layers, state = adam(layers, mean, state, rate=0.005)
        losses.append(sum(values) / n)
    return layers, losses


def main(path="data_parallel.png", steps=300, processes=2):
    x = np.random.default_rng(0).uniform(-1, 1, size=(4000, 2))
    xs, ys = np.array_split(x, processes), np.array_split(waves(x), processes)
    figure = Figure(figsize=(6, 2.3), dpi=120, layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        for run, name in ((map, "one process"), (pool.map, f"{processes} processes")):
            begin = perf_counter()
            layers, losses = train(run, xs, ys, int(steps))
            print(f"{name}: loss {losses[-1]:.5f}, {perf_counter() - begin:.1f} s")
            left.semilogy(losses, "C0" if run is map else "C1--", label=name)
    left.set(title="loss", xlabel="step")
    left.legend(fontsize=8)
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 60)] * 2), axis=-1).reshape(-1, 2)
    for axes, heights in ((middle, waves(grid)), (right, model(layers, grid))):
        axes.imshow(heights.reshape(60, 60), vmin=-1, vmax=1, extent=(-1, 1, -1, 1))
        axes.set_title("wanted" if axes is middle else "learned")
    figure.savefig(path, format="png")


if __name__ == "__main__":
    main(*sys.argv[1:])
