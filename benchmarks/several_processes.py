"""What one and two processes of dask.distributed take beside a loop, and what a message costs.

python -m benchmarks.several_processes

All are timed in turn, in one run, and each counts by its least time: wall time, so the machine
should have nothing else to do. A message is a batch that is sent and whose gradient is added: its
cost is how much longer many batches of next to no work take than few.

The libraries of matrix products get one thread in all processes, as dask gives its workers.
"""

import os
from time import perf_counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np

import zygote_lite
from zygote_lite import distributed

BATCHES, ROUNDS = 16, 5
WIDTH = 64


def loss(w, batch):
    """Return a number after as many layers as the batch says: each costs the same."""
    layers, x = batch
    for _ in range(layers):
        x = np.tanh(x @ w)
    return np.sum(x)


def in_a_loop(w, batches):
    """Return the sum of the losses and of their gradients, in this process."""
    slope = zygote_lite.value_and_grad(loss)
    values, gradients = zip(*(slope(w, batch) for batch in batches), strict=True)
    return sum(values), sum(gradients)


def batches_of(layers, rows, count):
    """Return batches of so many layers and rows."""
    rng = np.random.default_rng(0)
    return [(layers, rng.normal(size=(rows, WIDTH)) / WIDTH) for _ in range(count)]


def ways():
    """Return the ways to a sum, by their names."""
    by_one = distributed.sum_of_gradients(loss, workers=1, in_flight=64)
    by_two = distributed.sum_of_gradients(loss, workers=2, in_flight=64)
    return {"loop": in_a_loop, "one process": by_one, "two processes": by_two}


def seconds(run, *args):
    """Return how long a call takes."""
    began = perf_counter()
    run(*args)
    return perf_counter() - began


def least(runs, w, batches, rounds):
    """Return the least time of each, of interleaved rounds; all give the same gradient."""
    expected = in_a_loop(w, batches)[1]
    for run in runs.values():
        for _ in range(3):  # from the third call on, transformed code answers
            np.testing.assert_allclose(run(w, batches)[1], expected, rtol=1e-9, atol=1e-12)
    times = [[seconds(run, w, batches) for run in runs.values()] for _ in range(rounds)]
    return dict(zip(runs, np.min(times, axis=0), strict=True))


def main(sizes=((4, 50), (20, 400), (40, 1500)), rounds=ROUNDS):
    """Print and return the times by milliseconds of work in a batch, and the cost of a message."""
    runs, w = ways(), np.random.default_rng(1).normal(size=(WIDTH, WIDTH)) / 8
    table, messages = {}, {}
    few, many = (least(runs, w, batches_of(1, 1, count), rounds) for count in (1, 33))
    for name in runs:
        messages[name] = (many[name] - few[name]) / 32
        print(f"{name}: {1e3 * messages[name]:.2f} ms a batch without work")
    for layers, rows in sizes:
        found = least(runs, w, batches_of(layers, rows, BATCHES), rounds)
        work = found["loop"] / BATCHES
        table[work] = {name: found["loop"] / t for name, t in found.items()}
        ratios = ", ".join(f"{name} {ratio:.2f}" for name, ratio in table[work].items())
        print(f"batches of {1e3 * work:.1f} ms, as fast as the loop: {ratios}")
    return table, messages


if __name__ == "__main__":
    main()
