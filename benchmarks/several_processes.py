"""What one and two processes of dask.distributed take beside a loop, and what a message costs.

python -m benchmarks.several_processes

A message is a batch that is sent and whose gradient is added. What it costs is CPU time, of all
processes together: how much more many batches of next to no work take than few. A busy machine
changes that less than times by the clock. At best, two processes share all CPU time on two cores:
the ratio of that to the CPU time of the loop tells where they pay.

Times by the clock are printed beside, with the load of the machine. All are taken in turn, in one
run, and each counts by its least.

The libraries of matrix products get one thread in all processes, as dask gives its workers.
"""

import os
from itertools import pairwise
from time import perf_counter, process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np

import zygote_lite
from zygote_lite import distributed
from zygote_lite._interface.clusters import client_of

BATCHES, ROUNDS = 8, 5
WIDTH = 64
LOOP, ONE, TWO = "loop", "one process", "two processes"


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
    """Return the ways to a sum by their names, each with a function that gives its CPU time."""
    found = {LOOP: (in_a_loop, process_time)}
    for name, workers in ((ONE, 1), (TWO, 2)):
        client = client_of(None, True, workers)
        run = distributed.sum_of_gradients(loss, client=client, in_flight=64)
        found[name] = run, lambda client=client: process_time() + of_workers(client)
    return found


def of_workers(client):
    """Return the CPU time that the workers of a client have taken."""
    return sum(client.run(process_time).values())


def seconds(run, cpu, *args):
    """Return how long a call takes: by the clock, and CPU time."""
    taken, began = cpu(), perf_counter()
    run(*args)
    return perf_counter() - began, cpu() - taken


def least(runs, w, batches, rounds):
    """Return the least times of each, of interleaved rounds; all give the same gradient."""
    expected = in_a_loop(w, batches)[1]
    for run, _ in runs.values():
        for _ in range(3):  # from the third call on, transformed code answers
            np.testing.assert_allclose(run(w, batches)[1], expected, rtol=1e-9, atol=1e-12)
    times = [[seconds(*way, w, batches) for way in runs.values()] for _ in range(rounds)]
    return dict(zip(runs, np.min(times, axis=0), strict=True))


def pays_from(table):
    """Return from how much work in a batch on two processes pay; `None` where they never do.

    Arguments:
        table: by the seconds of work, how many times as fast as the loop they are.
    """
    works = sorted(table)
    for less, more in pairwise(works):
        if table[less] < 1 <= table[more]:
            part = (1 - table[less]) / (table[more] - table[less])
            return less * (more / less) ** part  # on a line over the logarithm of the work
    return works[0] if table[works[0]] >= 1 else None


def main(sizes=((10, 200), (20, 400), (20, 1500), (40, 1500)), rounds=ROUNDS):
    """Print and return the ratios by seconds of work in a batch, and the cost of a message."""
    runs, w = ways(), np.random.default_rng(1).normal(size=(WIDTH, WIDTH)) / 8
    at_best, messages = {}, {}
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    few, many = (least(runs, w, batches_of(1, 1, count), rounds) for count in (1, 17))
    for name in (ONE, TWO):
        clock, messages[name] = (many[name] - few[name]) / 16
        told = f"{1e3 * messages[name]:.1f} ms of CPU time, {1e3 * clock:.1f} by the clock"
        print(f"a message, {name}: {told}", flush=True)
    for layers, rows in sizes:
        found = least(runs, w, batches_of(layers, rows, BATCHES), rounds)
        work = found[LOOP][1] / BATCHES
        clock, cpu = found[LOOP] / found[TWO]
        at_best[work] = 2 * cpu
        told = f"{at_best[work]:.2f} times at best, by CPU time, and {clock:.2f} by the clock"
        print(f"batches of {1e3 * work:.1f} ms, two processes: {told}", flush=True)
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    least_work = pays_from(at_best)
    pays = f"pay from {1e3 * least_work:.0f} ms a batch on" if least_work else "do not pay so far"
    print(f"two processes {pays}")
    return at_best, messages


if __name__ == "__main__":
    main()
