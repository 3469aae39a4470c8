"""A sweep of hyperparameters on a cluster: each worker trains networks with other settings.

A training is a function of its settings alone, so the cluster finds what one process finds.

    python examples/cluster_sweep.py                          # two processes of this machine
    python examples/cluster_sweep.py tcp://10.0.0.1:8786      # the cluster of this scheduler
"""

import sys
from itertools import product

import numpy as np
from distributed import Client

from zygote_lite import value_and_grad
from zygote_lite.optimizers import adam

RATES, DECAYS, WIDTHS = (0.003, 0.03), (0.0, 0.1), (4, 32)


def predicted(model, x):
    return np.tanh(x[:, None] * model["w"] + model["b"]) @ model["v"]


def loss(model, x, y):
    return np.mean((predicted(model, x) - y) ** 2)


slope = value_and_grad(loss)


def points(count, seed):
    """Return points of a wave, with noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, count)
    return x, np.sin(3 * x) + 0.2 * rng.normal(size=count)


def trained(settings, steps):
    """Train a network, and return its loss for points that it has not seen."""
    rate, decay, width = settings
    rng = np.random.default_rng(3)
    model = {name: rng.normal(size=width) for name in "wb"} | {"v": np.zeros(width)}
    (x, y), state = points(60, seed=0), None
    for _ in range(steps):
        _, gradient = slope(model, x, y)
        model, state = adam(model, gradient, state, rate=rate, weight_decay=decay)
    return float(loss(model, *points(500, seed=1)))


def by_cluster(client, grid, steps):
    """Return the losses of all settings, in their order."""
    return client.gather(client.map(trained, grid, steps=steps))


def main(address=None, steps=1000):
    grid = list(product(RATES, DECAYS, WIDTHS))
    with Client(address) if address else Client(n_workers=2, threads_per_worker=1) as client:
        losses = by_cluster(client, grid, steps)
    for found, (rate, decay, width) in sorted(zip(losses, grid, strict=True)):
        print(f"{found:.4f}  rate {rate}, weight decay {decay}, {width} units")


if __name__ == "__main__":
    main(*sys.argv[1:])
