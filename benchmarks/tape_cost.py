"""What recorded code costs: time and memory of an operation, and walks through large objects.

    python -m benchmarks.tape_cost

For each loop it prints the microseconds of an operation, value and gradient together, the multiple
of the time that the function takes alone, and the bytes that the tape holds for an operation. Below
it, of functions whose operands are large objects, the time of a call with its gradient and the
multiple; those of statsmodels and lmfit are left out where the libraries are not installed. At the
end, what 10,000 gradients leave in memory, recorded and by transformed code. Each figure has a
limit, and where one is over it the program ends with status 1.
"""

import gc
import importlib.util
import itertools
import math
import random
import time
import tracemalloc
import warnings

import numpy as np

from benchmarks.limits import Limits
from zygote_lite import testing, value_and_grad

COUNT = 100_000  # operations
GRADIENTS, MOST_LEFT = 10_000, 20_000
MOST_BYTES = 200  # for an operation
MOST_MICROSECONDS = {"scalars": 6.0, "functions": 6.0, "tried": 10.0, "stored": 6.0}
MOST_SECONDS = {"micrograd": 3.0, "statsmodels": 0.1, "lmfit": 0.2}


def scalars(x, n):
    """Compute with numbers."""
    s = x
    for _ in range(n // 4):
        s = s * 0.999 + x * 0.1 - 0.01
    return s


def functions(x, n):
    """Call functions of numbers."""
    s = x
    for _ in range(n // 2):
        s = math.sin(s) + x
    return s


def tried(x, n):
    """Compute in a `try`."""
    s = x
    for _ in range(n // 2):
        try:
            s = s * 0.5 + x
        except ZeroDivisionError:
            s = 0.0
    return s


def stored(x, n):
    """Read and write the items of a list and the attribute of an object: 5 of 7 operations."""
    kept, box = [x], Box(x)
    for i in range(n // 7):
        kept.append(kept[i] * 0.5)
        box.value = box.value + kept[i]
    return box.value


class Box:
    """An object with one attribute."""

    def __init__(self, value):
        self.value = value


class Neuron:
    """A neuron as in micrograd, of numbers."""

    def __init__(self, count, source):
        self.w = [source.uniform(-1, 1) for _ in range(count)]
        self.b = 0.0

    def __call__(self, x):
        total = sum((wi * xi for wi, xi in zip(self.w, x, strict=True)), self.b)
        return total if total > 0 else 0.0 * total


class Network:
    """Layers of neurons."""

    def __init__(self, sizes):
        source = random.Random(0)
        sizes = itertools.pairwise(sizes)
        self.layers = [[Neuron(a, source) for _ in range(b)] for a, b in sizes]

    def __call__(self, x):
        for layer in self.layers:
            x = [neuron(x) for neuron in layer]
        return x[0]


def network_loss(network, points):
    """Compute the loss of a network over points."""
    return sum((network(x) - y) ** 2 for x, y in points)


def likelihood():
    """Return a likelihood of statsmodels and its argument."""
    import statsmodels.api as sm

    source = np.random.default_rng(0)
    x = sm.add_constant(source.normal(size=(100, 3)))
    model = sm.GLM(source.poisson(1.5, size=100), x, family=sm.families.Poisson())
    return lambda b: model.loglike(b), np.array([0.1, 0.2, 0.3, 0.1])


def line_shape():
    """Return the loss of a model of lmfit and its argument."""
    import lmfit

    model = lmfit.models.GaussianModel() + lmfit.models.LinearModel()
    x = np.linspace(-1, 1, 100)
    y = np.exp(-x * x)
    names = ("amplitude", "center", "sigma", "slope", "intercept")

    def loss(v):
        given = {name: v[i] for i, name in enumerate(names)}
        return np.sum((model.eval(x=x, **given) - y) ** 2)

    return loss, np.array([1.0, 0.1, 0.5, 0.1, 0.2])


def seconds(f, *xs, rounds=3):
    """Return how long a call takes at best."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        f(*xs)
        times.append(time.process_time() - start)
    return min(times)


def held(f, *xs):
    """Return the most bytes that a call holds at a time."""
    tracemalloc.start()
    f(*xs)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def of_objects(x):
    """Write into an object, a list and an array."""
    box, out = Box(x), np.zeros(2)
    kept = [box.value * 2.0]
    out[0] = kept[0] * x
    kept.append(out[0])
    return np.sum(out) + kept[1]


def left(f, *xs):
    """Return the bytes that gradients leave in memory, after the first of them."""
    run = value_and_grad(f)
    for _ in range(GRADIENTS // 100):
        run(*xs)
    gc.collect()
    tracemalloc.start()
    run(*xs)
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(GRADIENTS):
        run(*xs)
    gc.collect()
    found = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return found


def show_loops(limits):
    """Print what an operation costs in each loop."""
    print(f"{'':12}{'us an operation':>18}{'multiple':>10}{'bytes':>8}")
    for f in (scalars, functions, tried, stored):
        run, name = value_and_grad(f), f.__name__
        run(0.5, 10)
        taken, alone = seconds(run, 0.5, COUNT), seconds(f, 0.5, COUNT)
        microseconds, size = taken / COUNT * 1e6, held(run, 0.5, COUNT // 10) / COUNT * 10
        print(f"{name:12}{microseconds:18.2f}{taken / alone:10.0f}{size:8.0f}", flush=True)
        limits.hold(f"{name}, us an operation", microseconds, MOST_MICROSECONDS[name])
        limits.hold(f"{name}, bytes an operation", size, MOST_BYTES)


def show_calls(limits):
    """Print what a call with its gradient costs where the operands are large objects."""
    source = random.Random(1)
    points = [([source.uniform(-1, 1) for _ in range(2)], 1.0) for _ in range(100)]
    rows = [("micrograd", network_loss, (Network([2, 16, 16, 1]), points))]
    for name, made in (("statsmodels", likelihood), ("lmfit", line_shape)):
        if importlib.util.find_spec(name):
            f, x = made()
            rows.append((name, f, (x,)))
    print(f"{'':12}{'seconds a call':>18}{'multiple':>10}")
    for name, f, xs in rows:
        run = value_and_grad(f)
        taken, alone = seconds(run, *xs), seconds(f, *xs)
        print(f"{name:12}{taken:18.4f}{taken / alone:10.0f}", flush=True)
        limits.hold(f"{name}, seconds a call", taken, MOST_SECONDS[name])


def main():
    """Print the tables."""
    warnings.simplefilter("ignore")
    limits = Limits()
    with testing.recorded_only():
        show_loops(limits)
        show_calls(limits)
        recorded = left(of_objects, 0.5)
    transformed = left(of_objects, 0.5)
    print(f"{GRADIENTS} gradients leave: recorded {recorded} bytes, transformed {transformed}")
    limits.hold("bytes left, recorded", recorded, MOST_LEFT)
    limits.hold("bytes left, transformed", transformed, MOST_LEFT)
    limits.end()


if __name__ == "__main__":
    main()
