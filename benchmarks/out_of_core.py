"""Logistic regression of 10,000,000 rows of 50 numbers, in chunks from disk, in 1 GB of memory.

Run it as a script: `python -m benchmarks.out_of_core FOLDER`, with `--rows` for fewer. It writes
4 GB into the folder. Then it limits the memory of its own process by the system: with `RLIMIT_DATA`
more is a `MemoryError`. It fits the weights by L-BFGS of SciPy, whose gradient is a sum over chunks
in two threads. At the end it compares the gradient at the first point with the formula, and the
weights with those that the data were drawn from.
"""

import argparse
import resource
from pathlib import Path
from time import perf_counter

import dask
import dask.array as da
import numpy as np
from scipy.optimize import minimize

from zygote_lite.distributed import value_and_grad

COLUMNS, ROWS_OF_A_CHUNK = 50, 100_000
WEIGHTS = np.sin(np.arange(COLUMNS) + 1.0) / 3
BIAS = 0.4


def loss(params, x, y):
    """Return the sum of the losses of some rows, whose signs are `y`."""
    w, b = params
    return np.sum(np.logaddexp(0.0, -y * (x @ w + b)))


def by_hand(params, x, y):
    """Return the value and the gradient by their formulas."""
    z = -y * (x @ params[0] + params[1])
    p = -y / (1 + np.exp(-z))
    return np.sum(np.logaddexp(0.0, z)), x.T @ p, np.sum(p)


def write(folder, rows, of_a_chunk):
    """Write the data, and return the numbers of the rows of its chunks."""
    sizes = [min(of_a_chunk, rows - first) for first in range(0, rows, of_a_chunk)]
    for i, n in enumerate(sizes):
        rng = np.random.default_rng([7, i])
        x = rng.normal(size=(n, COLUMNS))
        y = np.where(rng.random(n) < 1 / (1 + np.exp(-(x @ WEIGHTS + BIAS))), 1.0, -1.0)
        np.save(folder / f"x{i}.npy", x)
        np.save(folder / f"y{i}.npy", y)
    return sizes


def read(folder, sizes):
    """Return the data as arrays of dask, which read a chunk when it is needed."""

    def array(name, *more):
        load = dask.delayed(np.load, pure=False)
        parts = [
            da.from_delayed(load(str(folder / f"{name}{i}.npy")), (n, *more), float)
            for i, n in enumerate(sizes)
        ]
        return da.concatenate(parts)

    return array("x", COLUMNS), array("y")


def main(folder, rows=10_000_000, of_a_chunk=ROWS_OF_A_CHUNK, limit=None, steps=30):
    """Write, fit, check, and return what was found."""
    began = perf_counter()
    sizes = write(folder, rows, of_a_chunk)
    written = perf_counter() - began
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    slope = value_and_grad(loss, processes=False, workers=2, in_flight=4)
    x, y = read(folder, sizes)
    start = np.full(COLUMNS, 0.05), -0.1
    calls = []

    def objective(p):
        began = perf_counter()
        value, (dw, db) = slope((p[:-1], p[-1]), x, y)
        calls.append(perf_counter() - began)
        return value / rows, np.append(dw, db) / rows

    _, first = objective(np.append(*start))
    due = [
        by_hand(start, *(np.load(folder / f"{name}{i}.npy") for name in "xy"))
        for i in range(len(sizes))
    ]
    want = np.append(sum(d[1] for d in due), sum(d[2] for d in due)) / rows
    found = minimize(
        objective, np.append(*start), jac=True, method="L-BFGS-B", options={"maxiter": steps}
    )
    return {
        "chunks": len(sizes),
        "seconds to write": written,
        "seconds of a gradient": float(np.median(calls)),
        "gradients": len(calls),
        "largest error of the first gradient": float(np.max(np.abs(first - want))),
        "largest error of a weight": float(np.max(np.abs(found.x - np.append(WEIGHTS, BIAS)))),
        "steepness at the end": float(np.max(np.abs(found.jac))),
        "peak memory in MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=10_000_000)
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    for name, what in main(given.folder, given.rows, limit=10**9).items():
        print(f"{name}: {what:.4g}")
