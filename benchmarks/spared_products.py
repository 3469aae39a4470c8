"""What the tape spares where not every argument is differentiated: the products of the others.

Run it as a script, on one thread (`OMP_NUM_THREADS=1`). Each line is a network whose first layer is
given data, or another product of which one operand is data. It gives the time of the gradient on
the tape (milliseconds, the best of several runs), once by the parts of each pullback that are
needed and once by all, as rules without parts give them, and what the second takes as a multiple of
the first. Where the gradient is written by hand, the first is also given as a multiple of that.
"""

import time
from contextlib import contextmanager

import numpy as np

from rulescore import rrule
from zygote_lite import value_and_grad
from zygote_lite.testing import recorded_only

RUNS = 20
PULLBACK = type(rrule(np.matmul, np.eye(2), np.eye(2))[1])


def network(w1, w2, w3, X, target):
    """Compute the error of a network of three layers."""
    h = np.maximum(X @ w1, 0.0)
    h = np.maximum(h @ w2, 0.0)
    return np.mean((h @ w3 - target) ** 2)


def network_by_hand(w1, w2, w3, X, target):
    """Return the same, and the gradients by the weights."""
    h1 = np.maximum(X @ w1, 0.0)
    h2 = np.maximum(h1 @ w2, 0.0)
    error = h2 @ w3 - target
    d = error * (2 / error.size)
    d2 = (d @ w3.T) * (h2 > 0)
    d1 = (d2 @ w2.T) * (h1 > 0)
    return np.mean(error**2), (X.T @ d1, h1.T @ d2, h2.T @ d)


def make_network(rng, batch, inputs, hidden):
    """Return weights, data and targets."""
    shapes = (inputs, hidden), (hidden, hidden), (hidden, 10), (batch, inputs), (batch, 10)
    return [rng.normal(size=shape) / np.sqrt(shape[0]) for shape in shapes]


def bilinear(w, a, b):
    """Compute a sum of products with two arrays of data."""
    return np.sum(np.einsum("ni,ij,nj->n", a, w, b, optimize=True) ** 2)


def powers(x, exponents):
    """Compute powers whose exponents are data."""
    return np.sum(x**exponents)


def cases(rng):
    """Yield the name, the function, its arguments, the differentiated ones, and it by hand."""
    for inputs, hidden in ((784, 128), (3072, 64), (64, 64)):
        arguments = make_network(rng, 128, inputs, hidden)
        name = f"network {inputs}-{hidden}-{hidden}-10"
        yield name, network, arguments, (0, 1, 2), network_by_hand
    square, rows = rng.normal(size=(100, 100)), rng.normal(size=(2, 1000, 100))
    yield "einsum ni,ij,nj->n", bilinear, [square, *rows], (0,), None
    yield "x**y, 100,000 entries", powers, [*rng.uniform(1, 2, size=(2, 100_000))], (0,), None


@contextmanager
def everything_computed():
    """Have every pullback compute all of its cotangents."""
    only = PULLBACK.only
    PULLBACK.only = lambda back, needed: back
    try:
        yield
    finally:
        PULLBACK.only = only


def milliseconds(f, *arguments):
    """Return how long a call takes, the best of several."""
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        f(*arguments)
        best = min(best, time.process_time() - start)
    return 1e3 * best


def main():
    """Print the table."""
    print(f"{'':<28}{'parts':>9}{'all':>9}{'all/parts':>11}{'parts/hand':>12}")
    for name, f, arguments, argnums, by_hand in cases(np.random.default_rng(0)):
        differentiate = value_and_grad(f, argnums=argnums)
        with recorded_only():
            parts = milliseconds(differentiate, *arguments)
            with everything_computed():
                every = milliseconds(differentiate, *arguments)
        hand = f"{parts / milliseconds(by_hand, *arguments):>12.2f}" if by_hand else ""
        print(f"{name:<28}{parts:>9.2f}{every:>9.2f}{every / parts:>11.2f}{hand}")


if __name__ == "__main__":
    main()
