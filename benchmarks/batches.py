"""What `vmap` at once spares, beside the loop over the entries: ratios of the time of the process.

python -m benchmarks.batches
"""

import time

import numpy as np

from zygote_lite import grad, hessian, vmap

GENERATOR = np.random.default_rng(0)
ROUNDS = 7


def layer_loss(w, x, y):
    """Return the squared error of one layer for one entry."""
    return np.sum((np.tanh(x @ w) - y) ** 2)


def energy(x):
    """Return a function of a vector whose Hessian is no multiple of one."""
    return np.sum(np.sin(x) * x) + (x @ x) ** 2


def workloads(count):
    """Yield the name of each workload, the function of an entry, its axes and its arguments."""
    w, x = GENERATOR.normal(size=(16, 8)), GENERATOR.normal(size=(count, 16))
    y, a = GENERATOR.normal(size=(count, 8)), GENERATOR.normal(size=(count, 4, 4))
    spd = a @ np.swapaxes(a, 1, 2) + 4 * np.eye(4)
    yield "elementwise", lambda v: np.sin(v) * v + np.exp(-v), (0,), (x,)
    yield "layer", layer_loss, (None, 0, 0), (w, x, y)
    yield "gradient of each entry", grad(layer_loss), (None, 0, 0), (w, x, y)
    yield "solve", np.linalg.solve, (0, 0), (spd, x[:, :4])
    yield "Hessian of each entry", hessian(energy), (0,), (x[:, :4],)


def entries(axes, xs, i):
    """Return the arguments for one entry of the batch."""
    return [x if axis is None else x[i] for x, axis in zip(xs, axes, strict=True)]


def measured(run):
    """Return the time of the process that a call takes."""
    start = time.process_time()
    run()
    return time.process_time() - start


def compared(f, axes, xs, count):
    """Return how long the loop and `vmap` take, each the least of interleaved rounds."""
    mapped = vmap(f, axes)
    calls = [
        lambda: np.stack([f(*entries(axes, xs, i)) for i in range(count)]),
        lambda: mapped(*xs),
    ]
    found, expected = calls[1](), calls[0]()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    times = [[measured(call) for call in calls] for _ in range(ROUNDS)]
    return [min(each) for each in zip(*times, strict=True)]


def main():
    """Print a table."""
    for count in (10, 100, 1000):
        for name, f, axes, xs in workloads(count):
            loop, at_once = compared(f, axes, xs, count)
            print(
                f"{name:24} {count:5} entries: {loop * 1e3:9.2f} ms by a loop, "
                f"{at_once * 1e3:8.2f} ms at once, {loop / at_once:6.1f} times"
            )


if __name__ == "__main__":
    main()
