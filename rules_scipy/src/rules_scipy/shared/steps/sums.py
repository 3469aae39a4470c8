"""Sums of many cotangents of one value, in blocks."""

import functools

import numpy as np

from rules_scipy.shared.flat import leaves
from rulescore import Tangent, accumulate

MOST = 32  # cotangents that wait to be added together
BLOCK = 2**16  # numbers that wait, about


class Sum:
    """Add up cotangents of a right-hand side, of which there is one for each stage.

    A few are added at once, which costs little more than two, as long as they are small.
    """

    def __init__(self):
        self.waiting, self.most = [], 0

    def add(self, d):
        """Add a tuple of cotangents."""
        self.waiting.append(d)
        if len(self.waiting) > self.most:
            self.most = min(MOST, 1 + BLOCK // (size_of(d) + 1))
            self.waiting = [self.total()]

    def total(self):
        """Return the sum: a tuple, or `None` if nothing was added."""
        return together(self.waiting)


def together(ds):
    """Return the sum of cotangents of one value."""
    ds = [d for d in ds if d is not None]
    if len(ds) < 2:
        return ds[0] if ds else None
    kind = type(ds[0])
    if any(type(d) is not kind for d in ds):
        return functools.reduce(accumulate, ds)
    if kind is tuple and len({*map(len, ds)}) == 1:
        return tuple([together(column) for column in zip(*ds, strict=True)])
    if kind is Tangent and all(d.keys() == ds[0].keys() for d in ds):
        fields = {name: together([d[name] for d in ds]) for name in [*ds[0].keys()]}
        return Tangent(ds[0]._primal, **fields)
    if kind is np.ndarray and len({d.shape for d in ds}) == 1:
        return sum(ds[1:], ds[0])
    return functools.reduce(accumulate, ds)


def weighted(ds, weights):
    """Return the sum of cotangents of one value, each times a number.

    Raises `TypeError` where that is not one product: they differ in form, or in precision.
    """
    given = [i for i, d in enumerate(ds) if d is not None]
    if not given:
        return None
    if len(given) < len(ds):
        ds, weights = [ds[i] for i in given], weights[given]
    kind = type(ds[0])
    if any(type(d) is not kind for d in ds):
        raise TypeError
    if kind is tuple and len({*map(len, ds)}) == 1:
        return tuple([weighted(column, weights) for column in zip(*ds, strict=True)])
    if kind is Tangent and all(d.keys() == ds[0].keys() for d in ds):
        fields = {name: weighted([d[name] for d in ds], weights) for name in [*ds[0].keys()]}
        return Tangent(ds[0]._primal, **fields)
    if kind is np.ndarray and len({d.shape for d in ds}) == 1:
        found = np.stack(ds)
        if found.dtype == weights.dtype:
            return np.tensordot(weights, found, 1)
    if kind in (float, np.float64):
        return np.dot(weights, ds)
    raise TypeError


def size_of(d):
    """Return how many numbers a cotangent has."""
    return sum(np.size(x) for _, x in leaves(d, ()))
