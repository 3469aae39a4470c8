"""Moons on a cluster: workers keep parts of the points, and add up the gradients of their losses.

The mean over all points is the same as in one process, so the losses are the same, too.

    python examples/cluster_moons.py                          # two processes of this machine
    python examples/cluster_moons.py tcp://10.0.0.1:8786      # the cluster of this scheduler
"""

import sys

import dask.array as da
import numpy as np
from distributed import Client

from rules_nnlib import logit_cross_entropy
from zygote_lite import distributed, value_and_grad
from zygote_lite.demo.moons import accuracy, make_model, two_moons
from zygote_lite.optimizers import adam


def loss(model, points, target):
    """Return the mean over the points, as `logit_cross_entropy` does."""
    return logit_cross_entropy(model(points), target)


def train(slope, points, target, epochs):
    """Return the model and the losses; `slope` gives the loss and its gradient."""
    model, state, losses = make_model(np.random.default_rng(1)), None, []
    for _ in range(epochs):
        value, gradient = slope(model, points, target)
        model, state = adam(model, gradient, state, rate=0.02)
        losses.append(float(value))
    return model, losses


def by_cluster(client, points, target, epochs, rows):
    """Do the same on a cluster, in batches of so many rows, which stay on the workers."""
    slope = distributed.value_and_grad(loss, reduce="mean", client=client)
    parts = client.persist([da.from_array(x, chunks=(rows, 2)) for x in (points, target)])
    return train(slope, *parts, epochs)


def main(address=None, epochs=60):
    points, label = two_moons(2000, 0.15, np.random.default_rng(0))
    target = np.eye(2)[label]
    with Client(address) if address else Client(n_workers=2, threads_per_worker=1) as client:
        model, losses = by_cluster(client, points, target, epochs, rows=500)
    _, alone = train(value_and_grad(loss), points, target, epochs)
    print(f"loss {losses[-1]:.6f} on the cluster, {alone[-1]:.6f} in one process")
    print(f"right: {accuracy(model, points, label):.1%}")


if __name__ == "__main__":
    main(*sys.argv[1:])
