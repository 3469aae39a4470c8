"""What a rule costs beyond the NumPy calls that it makes, for the fifty functions used most.

Run it as a script, with names of functions if not all. For each function and each size of
argument it prints microseconds: what `rrule(f, *xs)` takes beyond `f(*xs)`, and what `back(dy)`
takes beyond its formula written by hand, without care for shapes, precision or broadcasting. What
is over the limit is marked; an elementwise rule of arrays also looks through its partials, because
a zero in `dy` has to win over an infinity, and one such look is allowed for each. Beside a formula
that takes long, a twentieth of its time is allowed: two measurements of one call differ by as much.
A last line tells how long all rules take to import.

`prod` of 100 x 100 may be marked: the product is 0 there, which the quotient cannot answer, and the
running products that do go along any axis.
"""

import math
import operator
import os
import subprocess
import sys
import tempfile
import timeit
from statistics import median

import numpy as np

from rulescore import rrule

LARGE = (100, 100)
LIMIT = 1.5  # microseconds, forward and back alike
NOISE = 0.05
IMPORT_LIMIT = 120  # milliseconds
IMPORT = """
import time, numpy, plum
start = time.perf_counter()
from rulescore import plugins
assert plugins()[0].rulesets
print(time.perf_counter() - start)
"""


def power_by_hand(d, x, z, y):
    """Return both cotangents of a power, right at zeros."""
    if isinstance(x, float):
        return d * (z * x ** (z - 1)), d * (y * math.log(x))
    dx = d * (z * x ** (z - ((x != 0) | (z != 0))))
    return dx, d * (y * np.log(abs(x) + ((x == 0) & (z >= 0))))


def clip_by_hand(d, x, lower, upper, y):
    """Return the cotangents of what is clipped and of the limits, ties shared."""
    raised = np.maximum(x, lower)
    tie = np.where(raised == upper, 0.5 * d, 0.0)
    dupper = np.sum(np.where(raised > upper, d, tie))
    d = np.where(raised < upper, d, tie)
    tie = np.where(x == lower, 0.5 * d, 0.0)
    return np.where(x > lower, d, tie), np.sum(np.where(x < lower, d, tie)), dupper


def prod_by_hand(d, x, y):
    """Return the cotangent of the factors, right where some are zero."""
    flat = x.reshape(-1)
    before = np.concatenate([[1.0], flat[:-1]])
    after = np.concatenate([flat[1:], [1.0]])[::-1]
    return (d * (np.cumprod(before) * np.cumprod(after)[::-1])).reshape(x.shape)


# One argument, of any size: the derivative by hand from the argument and the value.
UNARY = {
    np.negative: lambda d, x, y: -d,
    np.square: lambda d, x, y: d * (2 * x),
    np.reciprocal: lambda d, x, y: d * (-y * y),
    np.abs: lambda d, x, y: d * np.sign(x),
    np.sign: lambda d, x, y: None,
    np.exp: lambda d, x, y: d * y,
    np.expm1: lambda d, x, y: d * (y + 1),
    np.log: lambda d, x, y: d * (1 / x),
    np.log1p: lambda d, x, y: d * (1 / (1 + x)),
    np.log10: lambda d, x, y: d * (1 / (x * 2.302585092994046)),
    np.sqrt: lambda d, x, y: d * (0.5 / y),
    np.sin: lambda d, x, y: d * np.cos(x),
    np.cos: lambda d, x, y: d * -np.sin(x),
    np.tan: lambda d, x, y: d * (1 + y * y),
    np.arctan: lambda d, x, y: d * (1 / (1 + x * x)),
    np.sinh: lambda d, x, y: d * np.cosh(x),
    np.cosh: lambda d, x, y: d * np.sinh(x),
    np.tanh: lambda d, x, y: d * (1 - y * y),
}
BINARY = {
    np.add: lambda d, x, z, y: (d, d),
    np.subtract: lambda d, x, z, y: (d, -d),
    np.multiply: lambda d, x, z, y: (d * z, d * x),
    np.true_divide: lambda d, x, z, y: (d * (1 / z), d * (-y / z)),
    np.power: lambda d, x, z, y: power_by_hand(d, x, z, y),
    np.maximum: lambda d, x, z, y: (
        d * ((x > z) + 0.5 * (x == z)),
        d * ((x < z) + 0.5 * (x == z)),
    ),
    np.minimum: lambda d, x, z, y: (
        d * ((x < z) + 0.5 * (x == z)),
        d * ((x > z) + 0.5 * (x == z)),
    ),
    np.hypot: lambda d, x, z, y: (d * (x / (y + (y == 0))), d * (z / (y + (y == 0)))),
    np.arctan2: lambda d, x, z, y: (
        d * (z / np.hypot(x, z) / np.hypot(x, z)),
        d * (-x / np.hypot(x, z) / np.hypot(x, z)),
    ),
    np.logaddexp: lambda d, x, z, y: (
        d * (1 / (1 + np.exp(np.where(x == z, 0.0, z - x)))),
        d * (1 / (1 + np.exp(np.where(x == z, 0.0, x - z)))),
    ),
}
OPERATORS = {
    operator.add: lambda d, x, z, y: (d, d),
    operator.sub: lambda d, x, z, y: (d, -d),
    operator.mul: lambda d, x, z, y: (d * z, d * x),
    operator.truediv: lambda d, x, z, y: (d * (1 / z), d * (-y / z)),
    operator.pow: lambda d, x, z, y: power_by_hand(d, x, z, y),
}
OF_FLOATS = {
    math.exp: lambda d, x, y: d * y,
    math.log: lambda d, x, y: d * (1 / x),
    math.sin: lambda d, x, y: d * math.cos(x),
    math.sqrt: lambda d, x, y: d * (0.5 / y),
    math.tanh: lambda d, x, y: d * (1 - y * y),
}


def share(d, x, y):
    """Return the cotangent of `x` from that of its greatest or least entry."""
    hits = x == y
    return np.where(hits, d / np.sum(hits), 0.0)


# Of an array: the arguments after it, and the derivative by hand.
OF_ARRAYS = {
    np.sum: ((), lambda d, x, y: np.full(x.shape, d)),
    np.mean: ((), lambda d, x, y: np.full(x.shape, d / x.size)),
    np.max: ((), share),
    np.min: ((), share),
    np.prod: ((), prod_by_hand),
    np.var: ((), lambda d, x, y: (x - np.mean(x)) * (2 * d / x.size)),
    np.std: ((), lambda d, x, y: (x - np.mean(x)) * (d / (y * x.size))),
    np.cumsum: ((), lambda d, x, y: np.cumsum(d[::-1])[::-1].reshape(x.shape)),
    np.reshape: ((-1,), lambda d, x, y: d.reshape(x.shape)),
    np.ravel: ((), lambda d, x, y: d.reshape(x.shape)),
    np.transpose: ((), lambda d, x, y: d.T),
    np.expand_dims: ((0,), lambda d, x, y: d[0]),
    np.squeeze: ((), lambda d, x, y: d),
    np.flip: ((), lambda d, x, y: np.flip(d)),
    np.clip: ((0.0, 1.0), clip_by_hand),
    np.linalg.norm: ((), lambda d, x, y: x * (d / y)),
    np.dot: (None, lambda d, x, z, y: (d * z, d * x) if x.ndim == 1 else (d @ z.T, x.T @ d)),
    np.matmul: (None, lambda d, x, z, y: (d * z, d * x) if x.ndim == 1 else (d @ z.T, x.T @ d)),
    operator.matmul: (
        None,
        lambda d, x, z, y: (d * z, d * x) if x.ndim == 1 else (d @ z.T, x.T @ d),
    ),
}


def without(hand, count):
    """Return a formula that passes over `count` arguments between the array and the value."""
    return (lambda d, x, _, y: hand(d, x, y)) if count else hand


def by_index(d, x, i, y):
    """Return the cotangent of `x` from that of `x[i]`."""
    dx = np.zeros_like(x)
    dx[i] = d
    return dx


def chosen(d, condition, x, z, y):
    """Return the cotangents of both branches of `np.where`."""
    return np.where(condition, d, 0.0), np.where(condition, 0.0, d)


def cases(size):
    """Give (function, arguments, its value, derivative by hand) for arguments of one size."""
    if size is None:
        x, z = 0.7, 1.3
    else:
        x = np.linspace(0.1, 0.9, math.prod(size)).reshape(size)
        z = x + 0.3
    pairs = {**BINARY, **OPERATORS}
    for f, hand in UNARY.items():
        yield f, (x,), hand
    for f, hand in pairs.items():
        yield f, (x, z), hand
    if size is None:
        for f, hand in OF_FLOATS.items():
            yield f, (x,), hand
        return
    for f, (more, hand) in OF_ARRAYS.items():
        if more is None:
            yield f, (x, z), hand
        else:
            yield f, (x, *more), hand if f is np.clip else without(hand, len(more))
    yield operator.getitem, (x, 0), by_index
    yield operator.getitem, (x, slice(0, 2)), by_index
    yield np.where, (x > 0.5, x, z), chosen
    yield np.concatenate, ([x, z],), halves
    yield np.stack, ([x, z],), halves


def halves(d, xs, y):
    """Return the cotangents of two joined arrays."""
    if d.ndim > xs[0].ndim:
        return [d[0], d[1]]
    n = len(xs[0])
    return [d[:n], d[n:]]


def microseconds(*calls):
    """Return the time of each call, the best of many short runs in turn: others use the machine."""
    best = [math.inf] * len(calls)
    number = [max(5, int(0.001 / timeit.timeit(call, number=5) * 5)) for call in calls]
    for _ in range(25):
        for i, call in enumerate(calls):
            best[i] = min(best[i], timeit.timeit(call, number=number[i]) / number[i] * 1e6)
    return best


def look_through(xs):
    """Return the time that it takes to see that there are no infinities in arrays like these."""
    arrays = [x.ravel() for x in xs if isinstance(x, np.ndarray)]
    return sum(microseconds(lambda x=x: math.isfinite(x.dot(x)))[0] for x in arrays)


def measured(f, xs, hand):
    """Return the times of a call and a formula by hand, and what the rule takes beyond each."""
    y, back = rrule(f, *xs)
    dy = y * 0 + 1.5
    plain, forward, formula, backward = microseconds(
        lambda: f(*xs), lambda: rrule(f, *xs), lambda: hand(dy, *xs, y), lambda: back(dy)
    )
    return plain, forward - plain, formula, backward - formula


def name(f):
    """Return the name of a function, with its module where that is not NumPy."""
    module = getattr(f, "__module__", None) or "numpy"
    return f.__name__ if module.startswith("numpy") else f"{module.strip('_')}.{f.__name__}"


def main(wanted):
    """Print the table."""
    np.seterr(all="ignore")
    over = 0
    heads = ("call", "rule", "by hand", "back")
    for size in (None, (3,), LARGE):
        told = "float" if size is None else "array of " + " x ".join(map(str, size))
        print(f"\n{told:<24}" + "".join(f"{head:>10}" for head in heads))
        for f, xs, hand in cases(size):
            if wanted and name(f) not in wanted:
                continue
            times = measured(f, xs, hand)
            plain, forward, formula, backward = times
            looks = look_through(xs) * (isinstance(f, np.ufunc) or f in OPERATORS)
            mark = forward > LIMIT + plain * NOISE or backward > LIMIT + looks + formula * NOISE
            over += mark
            print(f"{name(f):<24}" + "".join(f"{t:>10.2f}" for t in times) + "  over" * mark)
    print(f"\n{over} over the limit of {LIMIT} us")
    runs = import_times()
    print(
        f"import of all rules, beyond NumPy and plum: {median(runs):.0f} ms (median of 20, "
        f"best {min(runs):.0f}, limit {IMPORT_LIMIT})"
    )


def import_times():
    """Return what importing all rules takes in new processes, in milliseconds.

    The bytecode is there already, as it is after `pip install`.
    """
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}
        runs = [
            float(subprocess.check_output([sys.executable, "-c", IMPORT], env=env)) * 1e3
            for _ in range(21)
        ]
    return runs[1:]  # the first one writes the bytecode


if __name__ == "__main__":
    main(sys.argv[1:])
