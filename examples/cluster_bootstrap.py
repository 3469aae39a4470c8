"""A bootstrap on a cluster: fits of a Poisson regression to samples of its rows, with Hessians.

The spread of the weights over the samples is compared with the one that the Hessian promises.

    python examples/cluster_bootstrap.py                      # two processes of this machine
    python examples/cluster_bootstrap.py tcp://10.0.0.1:8786  # the cluster of this scheduler
"""

import sys

import numpy as np
from distributed import Client

from zygote_lite import grad, hessian

TRUE = np.array([0.5, -0.4, 0.3])


def loss(w, x, y):
    """Return the negative logarithm of the likelihood of the counts, but for a constant."""
    z = x @ w
    return np.sum(np.exp(z) - y * z)


slope, curvature = grad(loss), hessian(loss)


def counts(rows):
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(rows), rng.normal(size=(rows, 2))])
    return x, rng.poisson(np.exp(x @ TRUE)).astype(float)


def fitted(x, y, steps=8):
    """Return the weights by Newton's method, and the Hessian there."""
    w = np.zeros(x.shape[1])
    for _ in range(steps):
        w = w - np.linalg.solve(curvature(w, x, y), slope(w, x, y))
    return w, curvature(w, x, y)


def resampled(seed, data):
    """Return the fit to as many rows, drawn with replacement: its weights and its Hessian."""
    x, y = data
    rows = np.random.default_rng([seed, 1]).integers(len(y), size=len(y))
    return fitted(x[rows], y[rows])


def by_cluster(client, data, samples):
    """Return the weights and the Hessians of all samples; the data go to each worker once."""
    shared = client.scatter(data, broadcast=True)
    found = client.gather(client.map(resampled, range(samples), data=shared))
    return [np.stack(each) for each in zip(*found, strict=True)]


def main(address=None, samples=200):
    data = counts(500)
    with Client(address) if address else Client(n_workers=2, threads_per_worker=1) as client:
        weights, hessians = by_cluster(client, data, samples)
    w, h = fitted(*data)
    print("weights               ", w.round(4))
    print("spread over samples   ", weights.std(axis=0, ddof=1).round(4))
    print("spread by the Hessian ", np.sqrt(np.diag(np.linalg.inv(h))).round(4))
    spread = (hessians.std(axis=0, ddof=1) / h).diagonal()
    print("spread of its diagonal", spread.round(4), "of itself")


if __name__ == "__main__":
    main(*sys.argv[1:])
