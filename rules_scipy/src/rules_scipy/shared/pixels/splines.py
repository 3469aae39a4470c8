"""Splines on a grid as SciPy's images have them: their bases, and where a coordinate is looked up.

A value is a sum of coefficients times weights, which are products of one-dimensional B-splines
(Unser, Aldroubi and Eden, IEEE Transactions on Signal Processing 41(2), 1993).
"""

import itertools

import numpy as np

from rules_scipy.shared.pixels.boundaries import FILLED

MIRRORED = ("constant", "wrap")  # where no spline of its own belongs to the mode
PADDED = ("nearest", "grid-constant")
PADDING = 12  # entries that SciPy adds before it filters in these modes


def basis(u, order):
    """Return the B-splines that are not zero at the place `u` in a span, by their recurrence."""
    found = [np.ones_like(u)]
    for k in range(1, order + 1):
        zero = [np.zeros_like(u)]
        left, right = zero + found, found + zero
        found = [((u + k - j) * left[j] + (j + 1 - u) * right[j]) / k for j in range(k + 1)]
    return found


def weights(u, order, derivative):
    """Return the derivatives of the B-splines that are not zero in a span, in a list."""
    found = basis(u, order - derivative)
    for _ in range(derivative):
        zero = [np.zeros_like(u)]
        left, right = zero + found, found + zero
        found = [a - b for a, b in zip(left, right, strict=True)]
    return found


def mapped(c, n, mode):
    """Return where a coordinate is looked up on an axis, and the slope of that.

    It is rounded as SciPy rounds it: at a jump that decides which entries are read. The third
    result tells whether it is looked up at all: elsewhere the value is `cval`. Between the last
    entry and its repetition a coordinate stays where it is.
    """
    one = np.ones_like(c)
    inside = (c >= 0) & (c <= n - 1)
    if mode == "constant":
        return np.where(inside, c, 0.0), one, inside
    found = np.isfinite(c)
    c = np.where(found, c, 0.0)
    if mode in PADDED:  # far away all is the same
        return np.clip(c, -9.0, n + 8.0), one, found
    if n == 1:
        return np.zeros_like(c), np.zeros_like(c), found
    if mode in ("wrap", "grid-wrap"):
        return np.where(inside, c, wrapped(c, n - 1 if mode == "wrap" else n, mode)), one, found
    period, fold = (2 * n - 2, 0.0) if mode == "mirror" else (2 * n, 1.0)
    r = np.where(c < 0, c + period * np.floor(-c / period), c - period * np.floor(c / period))
    if fold:
        r = np.where((c < 0) & (c >= -period), c, r)
    turned = np.where(c < 0, r >= -n if fold else r > 1 - n, r >= n) & ~inside
    back = np.where(c < 0, -r, period - r) - fold
    on = np.where(c < 0, r + period, r)
    there = np.where(inside, c, np.where(turned, back, on))
    return there, np.where(turned, -1.0, 1.0), found


def wrapped(c, period, mode):
    """Return a coordinate in the first period, at whose end SciPy puts those below zero."""
    turns = np.trunc((-c if mode == "wrap" else -1 - c) / period) + 1
    return np.where(c < 0, c + period * turns, c - period * np.floor(c / period))


def neighbours(i, n, mode):
    """Return which entry of an axis stands at a place that may be beyond its ends; `n` for none."""
    if mode in FILLED and mode not in MIRRORED:
        return np.where((i >= 0) & (i < n), i, n)
    if mode == "nearest":
        return np.clip(i, 0, n - 1)
    if mode == "grid-wrap":
        return i % n
    if mode in ("reflect", "grid-mirror"):
        i = i % (2 * n)
        return np.where(i < n, i, 2 * n - 1 - i)
    return n - 1 - np.abs(i % max(2 * n - 2, 1) - (n - 1))


def along_axis(c, n, order, derivative, mode):
    """Return the entries of an axis that coordinates read, each with its weight, in lists.

    A derivative of the order of the spline is a step: between two spans it is the mean of both.
    At an end where the value jumps it is that of the inner side.
    """
    c, slope, found = mapped(c, n, mode)
    if derivative > order:
        return [neighbours(np.zeros(c.shape, int), n, mode)], [0.0 * c], found
    shift = 0.5 if order % 2 == 0 else 0.0
    first = np.floor(c + shift)
    u = c + shift - first
    start = first.astype(int) - order // 2
    parts = weights(u, order, derivative)
    if derivative and derivative == order:
        zero = [np.zeros_like(u)]
        right = np.where(u > 0, 1.0, 0.5)
        if mode in MIRRORED and order == 1:
            right = np.where(c == 0, 1.0, np.where(c == n - 1, 0.0, right))
        left, start = 1.0 - right, start - 1
        parts = [left * a + right * b for a, b in zip(parts + zero, zero + parts, strict=True)]
    places = [neighbours(start + k, n, mode) for k in range(len(parts))]
    return places, [part * slope**derivative for part in parts], found


def terms(coordinates, shape, order, derivatives, mode):
    """Yield the entries that coordinates read: their indices in the flat array, and their weights.

    And, as the third, where they are looked up at all. The flat array has one entry more along each
    axis where the mode is constant, for `cval`.
    """
    extra = mode == "grid-constant"
    axes = [
        along_axis(c, n, order, k, mode)
        for c, n, k in zip(coordinates, shape, derivatives, strict=True)
    ]
    found = True
    for axis in axes:
        found = found & axis[2]
    for chosen in itertools.product(*[range(len(axis[0])) for axis in axes]):
        index, weight = 0, np.where(found, 1.0, 0.0)
        for k, (places, parts, _), n in zip(chosen, axes, shape, strict=True):
            index = index * (n + extra) + places[k]
            weight = weight * parts[k]
        yield index, weight
