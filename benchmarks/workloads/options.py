"""Prices of options, with their deltas and vegas."""

import numpy as np

from benchmarks.workload import Workload

SLOPE, CUBIC = 0.7978845608028654, 0.044715


def normal(d):
    return 0.5 * (1.0 + np.tanh(SLOPE * (d + CUBIC * d * d * d)))


def price(s, v, k, t, r):
    d = (np.log(s / k) + (r + 0.5 * v * v) * t) / (v * np.sqrt(t))
    e = d - v * np.sqrt(t)
    return np.sum(s * normal(d) - k * np.exp(-r * t) * normal(e))


def normal_by_hand(d):
    """Return the distribution and its density, each times two."""
    square = d * d
    square *= CUBIC
    tanh = square + 1.0
    tanh *= d
    tanh *= SLOPE
    np.tanh(tanh, out=tanh)
    square *= 3.0
    square += 1.0
    density = tanh * tanh
    np.subtract(SLOPE, np.multiply(density, SLOPE, out=density), out=density)
    density *= square
    tanh += 1.0
    return tanh, density


def price_by_hand(s, v, k, t, r):
    root = np.sqrt(t)
    width = v * root
    d = np.log(s / k)
    d += r * t
    d /= width
    d += 0.5 * width
    present = -r * t
    np.exp(present, out=present)
    present *= k
    ds, dd = normal_by_hand(d)
    second, de = normal_by_hand(d - width)
    value = 0.5 * (np.vdot(s, ds) - np.vdot(present, second))
    dd *= s
    de *= present
    dd -= de  # twice the cotangent of `d`
    # the slope of `d` by `v` is `root - d / v`, and that of `e` is less by `root`
    d /= v
    np.subtract(root, d, out=d)
    d *= dd
    de *= root
    d += de
    d *= 0.5
    width *= s
    dd /= width
    ds += dd
    ds *= 0.5
    return value, (ds, d)


def arguments(rng, n):
    s, k = rng.uniform(80.0, 120.0, size=n), rng.uniform(80.0, 120.0, size=n)
    return s, rng.uniform(0.1, 0.4, size=n), k, rng.uniform(0.2, 2.0, size=n), 0.03


OPTIONS_1E3 = Workload(
    name="options_1e3",
    title="prices and greeks of options, 1e3",
    f=price,
    by_hand=price_by_hand,
    arguments=arguments,
    argnums=(0, 1),
    sizes={"n": 1_000},
    small={"n": 10},
    goal=1.15,
)
OPTIONS_1E6 = Workload(
    name="options_1e6",
    title="prices and greeks of options, 1e6",
    f=price,
    by_hand=price_by_hand,
    arguments=arguments,
    argnums=(0, 1),
    sizes={"n": 1_000_000},
    small={"n": 10},
    goal=1.15,
)
