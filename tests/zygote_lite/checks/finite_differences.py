"""Derivatives by Richardson's extrapolation of central differences: what gradients are held to."""

import copy

import numpy as np

from tests.zygote_lite.conftest import leaves, replaced


def slope(value_at, step=2e-3):
    """Return the derivative at 0 of a function of a number, and how far it may be off."""
    d = [(value_at(h) - value_at(-h)) / (2 * h) for h in (step, step / 2, step / 4)]
    first = [(4 * d[1] - d[0]) / 3, (4 * d[2] - d[1]) / 3]
    best = (16 * first[1] - first[0]) / 15
    return best, abs(best - first[1])


def slopes(f, xs, step=2e-3):
    """Return (path, slope, uncertainty) for every number or array of real numbers in `xs`."""
    found = []
    for path, leaf in leaves(xs):
        shape = np.shape(leaf)
        best, off = np.zeros(shape), np.zeros(shape)
        for index in np.ndindex(shape):

            def value_at(h, path=path, leaf=leaf, index=index):
                moved = np.array(leaf, float)
                moved[index] += h
                given = moved if isinstance(leaf, np.ndarray) else float(moved)
                return float(f(*replaced(copy.deepcopy(xs), path, given)))

            best[index], off[index] = slope(value_at, step)
        found.append((path, best, off))
    return found
