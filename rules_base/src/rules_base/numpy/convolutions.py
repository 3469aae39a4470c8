"""Convolution and correlation of vectors: each is the adjoint of the other."""

import numpy as np

from rules_base.shared.axes import size_of
from rules_base.shared.forward import bilinear
from rules_base.shared.matrices import ArrayLike
from rulescore import RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.convolutions", may_raise=False)


@rule(np.convolve)
def _(a: ArrayLike, v: ArrayLike, mode="full"):
    y = np.convolve(a, v, mode)

    def in_full(dy):
        n, m = size_of(a), size_of(v)
        start = {n + m - 1: 0, max(n, m): (min(n, m) - 1) // 2}.get(size_of(y), min(n, m) - 1)
        return padded(dy, start, n + m - 1)

    def da(full):
        return project(np.reshape(np.correlate(full, np.ravel(v), "valid"), np.shape(a)), a)

    def dv(full):
        return project(np.reshape(np.correlate(full, np.ravel(a), "valid"), np.shape(v)), v)

    return y, (in_full, (da, dv))


@rule(np.correlate)
def _(a: ArrayLike, v: ArrayLike, mode="valid"):
    y = np.correlate(a, v, mode)

    def in_full(dy):
        n, m = size_of(a), size_of(v)
        middle = (m - 1) // 2 if m <= n else n // 2
        start = {n + m - 1: 0, max(n, m): middle}.get(size_of(y), min(n, m) - 1)
        return padded(dy, start, n + m - 1)

    def da(full):
        return project(np.reshape(np.convolve(full, np.ravel(v), "valid"), np.shape(a)), a)

    def dv(full):
        dv = np.conj(np.correlate(full, np.ravel(a), "valid"))[::-1]
        return project(np.reshape(dv, np.shape(v)), v)

    return y, (in_full, (da, dv))


def padded(dy, start, length):
    """Return `dy` with zeros around it: a vector of `length` in which it begins at `start`."""
    return np.pad(dy, (start, length - start - size_of(dy)))


bilinear(rule, ArrayLike, np.convolve, np.correlate)
