"""What reading and writing `x[i]` in a loop costs: time and memory for each element.

Run it as a script, with the lengths to try if not 1,000, 10,000 and 100,000. Each number is of one
element of the loop, so a column that stays level is a gradient that costs O(n). A second table
shows what mutation costs a function that has none, and one that has one write.
"""

import sys
import time
import tracemalloc
from functools import partial

import numpy as np

from zygote_lite import gradient

LENGTHS = (1_000, 10_000, 100_000)


def read(x):
    """Read each element."""
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * x[i]
    return total


def write(x):
    """Write each element of a new array."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * 0.5
    return np.sum(y)


def recur(x):
    """Read what the turn before has written."""
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1] * 0.9 + x[i]
    return y[-1]


def accumulate(x):
    """Write over the argument, in place."""
    for i in range(1, len(x)):
        x[i] += x[i - 1] * 0.9
    return x[-1]


def iterate(x):
    """Iterate over the array, without an index."""
    total = 0.0
    for t in x:
        total = total + t * t
    return total


def number(x):
    """Do the arithmetic of `read` with one number: what the loop costs without an array."""
    t, total = x[0], 0.0
    for _ in range(len(x)):
        total = total + t * t
    return total


LOOPS = (number, iterate, read, write, recur, accumulate)


def without_mutation(x):
    """Return a number, by a chain of operations on whole arrays."""
    y = x
    for _ in range(10):
        y = np.sin(y) * x
    return np.sum(y)


def with_one_write(x):
    """Do the same, and write one element of a new array."""
    y = x
    for _ in range(10):
        y = np.sin(y) * x
    y[0] = 0.0
    return np.sum(y)


def with_a_write_each_turn(x):
    """Do the same, and write one element in each turn."""
    y = x
    for i in range(10):
        y = np.sin(y) * x
        y[i] = 0.0
    return np.sum(y)


def seconds(call, x, runs):
    """Return the CPU time of one call, the best of several, each with an array of its own."""
    best = float("inf")
    for _ in range(runs):
        given = x.copy()
        start = time.process_time()
        call(given)
        best = min(best, time.process_time() - start)
    return best


def peak(call, x):
    """Return the most bytes that one call holds at a time."""
    given = x.copy()
    tracemalloc.start()
    try:
        call(given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def main(lengths):
    """Print both tables."""
    print(f"{'each element':<14}{'n':>9}{'plain':>11}{'gradient':>12}{'ratio':>8}{'memory':>11}")
    for f in LOOPS:
        differentiate = partial(gradient, f)
        differentiate(np.linspace(0.1, 0.2, 10))
        for n in lengths:
            x, runs = np.linspace(0.1, 0.2, n), 3 if n < 50_000 else 1
            plain, ours = seconds(f, x, runs), seconds(differentiate, x, runs)
            # traced, allocation is many times slower; from 10,000 on the share is the same
            held = f"{peak(differentiate, x) / n:>9.0f} B" if n <= 10_000 else f"{'':>11}"
            print(
                f"{f.__name__:<14}{n:>9,}{plain / n * 1e6:>8.3f} us{ours / n * 1e6:>9.2f} us"
                f"{ours / plain:>8.0f}{held}"
            )
    print(f"\n{'ten turns, whole arrays':<26}{'n':>11}{'plain':>11}{'gradient':>12}{'ratio':>8}")
    for n in (1_000, 1_000_000):
        for f in (without_mutation, with_one_write, with_a_write_each_turn):
            differentiate = partial(gradient, f)
            x, runs = np.linspace(0.1, 0.2, n), 200 if n < 50_000 else 5
            differentiate(x[:20].copy())
            plain, ours = seconds(f, x, runs), seconds(differentiate, x, runs)
            print(
                f"{f.__name__:<26}{n:>11,}{plain * 1e3:>8.3f} ms{ours * 1e3:>9.3f} ms"
                f"{ours / plain:>8.1f}"
            )


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]] or LENGTHS)
