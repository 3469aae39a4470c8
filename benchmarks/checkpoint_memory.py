"""The memory and the time of a gradient, with and without `checkpoint`, of a chain of layers.

python -m benchmarks.checkpoint_memory
"""

import time
import tracemalloc

import numpy as np

from zygote_lite import checkpoint, gradient

LAYERS, STEPS, SIZE = 20, 8, 100_000


def layer(x):
    for _ in range(STEPS):
        x = np.sin(x) * x
    return x


def chain_of(step):
    """Return a number that a chain of layers gives."""

    def f(x):
        for _ in range(LAYERS):
            x = step(x)
        return np.sum(x)

    return f


def measured(f, x):
    """Return the memory of a gradient at its peak, in arrays of the size of `x`, and its time."""
    for _ in range(4):  # the last is answered by transformed code, where there is some
        gradient(f, x[:10])
    begin = time.perf_counter()
    gradient(f, x)
    seconds = time.perf_counter() - begin
    tracemalloc.start()
    gradient(f, x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / x.nbytes, seconds


def main():
    x = np.full(SIZE, 0.9)
    for name, step in (("as it is", layer), ("with checkpoint", checkpoint(layer))):
        arrays, seconds = measured(chain_of(step), x)
        print(f"{name:16} {arrays:7.1f} arrays of {SIZE} numbers, {1e3 * seconds:7.1f} ms")


if __name__ == "__main__":
    main()
