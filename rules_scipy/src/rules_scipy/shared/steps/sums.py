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
    """Return the sum of cotangents of one form, which `form_of` knows, each times a number."""
    kind = type(ds[0])
    if kind is type(None):
        return None
    if kind is tuple:
        return tuple([weighted(column, weights) for column in zip(*ds, strict=True)])
    if kind is Tangent:
        fields = {name: weighted([d[name] for d in ds], weights) for name in [*ds[0].keys()]}
        return Tangent(ds[0]._primal, **fields)
    return np.tensordot(weights, np.stack(ds), 1) if kind is np.ndarray else np.dot(weights, ds)


def form_of(d):
    """Return the form of a cotangent, in which its numbers stand; `None` if it has no such form.

    Numbers and arrays have one where they are as exact as a weight is.
    """
    kind = type(d)
    if kind is tuple:
        forms = tuple(map(form_of, d))
        return None if None in forms else forms
    if kind is Tangent:
        forms = tuple([(name, form_of(x)) for name, x in d.items()])
        return None if any(form is None for _, form in forms) else (d._primal, forms)
    if kind is np.ndarray:
        return d.shape if d.dtype == float else None
    return kind if d is None or kind in (float, np.float64) else None


def size_of(d):
    """Return how many numbers a cotangent has."""
    return sum(np.size(x) for _, x in leaves(d, ()))
