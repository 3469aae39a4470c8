"""Functions along axes: softmax and its logarithms."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.batches import over_axes
from rulescore import Array, Numeric, RuleSet, project
from rulescore.batching import behind, called

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.softmax")


@rule(sp.softmax)
def _(x: Numeric, axis=None):
    y = sp.softmax(x, axis=axis)

    def pullback(dy):
        weighted = dy * np.conj(y)
        rest = np.conj(y) * np.sum(weighted, axis=axis, keepdims=True)
        return (project(weighted - rest, x),)

    return y, pullback


@rule(sp.log_softmax)
def _(x: Numeric, axis=None):
    y = sp.log_softmax(x, axis=axis)

    def pullback(dy):
        return (project(dy - np.conj(np.exp(y)) * np.sum(dy, axis=axis, keepdims=True), x),)

    return y, pullback


@rule(sp.logsumexp)
def _(a: Numeric, axis=None, *, b=None, keepdims=False, return_sign=False):
    y = sp.logsumexp(a, axis, b, keepdims, return_sign)

    def pullback(dy):
        dlog = of_log(dy, y, return_sign)
        if dlog is None:
            return (None,)
        dlog = spread(dlog, axis, keepdims)
        if b is None:
            return (project(dlog * np.conj(shares(a, axis)), a),)
        return (weighted(dlog * np.conj(terms(a, axis, b)), b, a),)

    return y, pullback


@rule(sp.logsumexp)
def _(a: Numeric, axis: object, b: Numeric, keepdims=False, return_sign=False):
    y = sp.logsumexp(a, axis, b, keepdims, return_sign)

    def of_terms(dy):
        dlog = of_log(dy, y, return_sign)
        dlog = 0.0 if dlog is None else spread(dlog, axis, keepdims)
        return dlog * np.conj(terms(a, axis, b))

    def by_a(shared):
        return weighted(shared, b, a)

    def by_b(shared):
        return project(shared, b)

    return y, (of_terms, (by_a, None, by_b))


def of_log(dy, y, return_sign):
    """Return the cotangent of the logarithm: of a complex one the sign has the imaginary part."""
    if not return_sign:
        return dy
    dlog, dsign = dy
    if dsign is None or not np.iscomplexobj(y[1]):
        return dlog
    turned = 1j * np.imag(dsign * np.conj(y[1]))
    return turned if dlog is None else dlog + turned


def terms(a, axis, b):
    """Return `exp(a)` over the sum of `b * exp(a)`."""
    used = np.broadcast_to(np.not_equal(b, 0), np.broadcast_shapes(np.shape(a), np.shape(b)))
    largest = np.max(np.where(used, np.real(a), -np.inf), axis=axis, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    # where a weight is zero, its term is, though the sum depends on the weight
    shifted = np.where(used, a, np.minimum(a, largest + 600.0)) - largest
    total = np.sum(b * np.exp(shifted), axis=axis, keepdims=True)
    return np.exp(a - largest) / total


def weighted(shared, b, a):
    """Return `shared * b` as the cotangent of `a`."""
    without = np.equal(b, 0) & ~np.isfinite(shared)  # an infinite entry that is left out
    with np.errstate(invalid="ignore"):
        return project(np.where(without, 0.0, shared * np.conj(b)), a)


def shares(a, axis):
    """Return the shares of the entries in the sum: those of the largest, where it is infinite."""
    largest = np.max(np.real(a), axis=axis, keepdims=True)
    infinite = np.isinf(largest) & (largest > 0)
    ties = np.where(np.isinf(np.real(a)), 0.0, -np.inf)
    return sp.softmax(np.where(infinite, ties, a), axis=axis)


def spread(dy, axis, keepdims):
    """Return `dy` with its reduced axes back, of length one."""
    if keepdims or axis is None:
        return dy
    return np.expand_dims(dy, axis)


# -- of batches

for _f in (sp.softmax, sp.log_softmax):
    rule.batched(_f)(over_axes(_f))


@rule.batched(sp.logsumexp)
def _(a: Array, axis=None, b=None, keepdims=False, return_sign=False):
    if b is not None and np.ndim(b) >= np.ndim(a):
        return NotImplemented
    return called(sp.logsumexp, a, behind(axis, a), b, keepdims, return_sign)


@rule.batched(sp.logsumexp)
def _(a: Array, axis: object, b: Array, keepdims=False, return_sign=False):
    if np.ndim(a) != np.ndim(b):
        return NotImplemented
    return called(sp.logsumexp, a, behind(axis, a), b, keepdims, return_sign)
