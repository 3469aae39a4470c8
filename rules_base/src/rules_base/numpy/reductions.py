"""Reductions: sums, means, products, extremes and spreads along axes."""

import math

import numpy as np

from rules_base.shared.axes import (
    as_read,
    backwards,
    conjugate,
    count,
    given,
    inexact_type,
    reshaped,
    restored,
    spread,
    truncates,
    zeros_kept,
)
from rules_base.shared.batches import along_axis, over_axes
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.reductions", may_raise=False)


@rule.linear(np.sum, np.ndarray.sum, np.generic.sum, shifts=("initial",))
def _(dy, x: Numeric, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):
    if dtype is not None and truncates(x, dtype):
        return None
    dx = spread(dy, x, axis, keepdims)
    return dx if where is None else np.where(where, dx, 0.0)


@rule.linear(np.mean, np.ndarray.mean, np.generic.mean)
def _(dy, x: Numeric, axis=None, dtype=None, *, keepdims=False, where=None):
    if dtype is not None and truncates(x, dtype):
        return None
    if where is None:
        return spread(dy / max(count(x, axis), 1), x, axis, keepdims)
    there = np.broadcast_to(where, np.shape(x))
    share = restored(dy, x, axis, keepdims) / np.sum(there, axis=axis, keepdims=True)
    return np.where(there, share, 0.0)


@rule(np.prod, np.ndarray.prod, np.generic.prod)
def _(x: Numeric, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):
    more = {} if initial is None and where is None else given(initial=initial, where=where)
    y = np.prod(x, axis, dtype, keepdims=keepdims, **more)  # dask's order of options is another

    def pullback(dy):
        if dtype is not None:
            return (product_in_type_back(dy, y, x, axis, dtype, keepdims, initial, where),)
        return (product_back(dy, y, x, axis, keepdims, initial, where),)

    return y, pullback


def product_back(dy, y, x, axis, keepdims, initial, where):
    """Return the cotangent of the factors `x` of the product `y`."""
    if axis is None and initial is None and where is None and is_regular(y, x):
        return project(dy * (y / x), x)
    factors = x if where is None else np.where(where, x, np.ones_like(x))
    dy = restored(dy, x, axis, keepdims)
    dx = zeros_kept(dy * conjugate(products_of_others(factors, axis)), dy, y)
    dx = dx if initial is None else dx * np.conjugate(initial)
    return project(dx if where is None else np.where(where, dx, 0.0), x)


def product_in_type_back(dy, y, x, axis, dtype, keepdims, initial, where):
    """Return the cotangent of the factors `x` of the product `y` that was computed in `dtype`."""
    if truncates(x, dtype):
        return None
    return project(product_back(dy, y, as_read(x, dtype), axis, keepdims, initial, where), x)


def is_regular(y, x):
    """Return whether no factor of the number `y` is zero, and it can be divided by each of `x`."""
    if not isinstance(y, np.floating) or not isinstance(x, np.ndarray) or y.dtype != x.dtype:
        return False
    return math.isfinite(y) and abs(y) >= np.finfo(y.dtype).tiny


def products_of_others(x, axis):
    """Return, for each entry, the product of all others along `axis`: right at zeros too."""
    if np.ndim(x) == 0:
        return np.ones_like(x, dtype=inexact_type(x))
    if axis is None:
        return reshaped(products_of_others(reshaped(x, (-1,)), 0), x.shape)
    axes = tuple(a % x.ndim for a in (axis if isinstance(axis, tuple) else (axis,)))
    if len(axes) != 1:
        kept = tuple(a for a in range(x.ndim) if a not in axes)
        moved = np.transpose(x, kept + axes)
        flat = np.reshape(moved, (*(x.shape[a] for a in kept), count(x, axes)))
        others = np.reshape(products_of_others(flat, -1), moved.shape)
        return np.transpose(others, tuple(np.argsort(kept + axes)))
    (axis,) = axes
    n = x.shape[axis]
    if n == 0:
        return x
    one = np.ones_like(take_slice(x, axis, slice(0, 1)), dtype=inexact_type(x))
    before = np.concatenate([one, take_slice(x, axis, slice(0, n - 1))], axis)
    after = backwards(np.concatenate([take_slice(x, axis, slice(1, n)), one], axis), axis)
    return np.cumprod(before, axis) * backwards(np.cumprod(after, axis), axis)


def take_slice(x, axis, part):
    """Return `x[..., part, ...]` with `part` in the place of `axis`."""
    return x[(slice(None),) * (axis % x.ndim) + (part,)]


@rule(np.max, np.ndarray.max, np.amax, np.generic.max)
def _(x: Numeric, axis=None, *, keepdims=False, initial=None, where=None):
    more = {} if initial is None and where is None else given(initial=initial, where=where)
    y = np.max(x, axis=axis, keepdims=keepdims, **more)

    def pullback(dy):
        return (shared_by_hits(dy, y, x, axis, keepdims, initial, where),)

    return y, pullback


@rule(np.min, np.ndarray.min, np.amin, np.generic.min)
def _(x: Numeric, axis=None, *, keepdims=False, initial=None, where=None):
    more = {} if initial is None and where is None else given(initial=initial, where=where)
    y = np.min(x, axis=axis, keepdims=keepdims, **more)

    def pullback(dy):
        return (shared_by_hits(dy, y, x, axis, keepdims, initial, where),)

    return y, pullback


def shared_by_hits(dy, y, x, axis, keepdims, initial=None, where=None):
    """Return the cotangent of `x`, of which `y` are the chosen entries: ties share equally.

    An `initial` value takes part in a tie; what is not `where` takes no part.
    """
    if axis is None and initial is None and where is None and isinstance(x, np.ndarray):
        hits = x == y
        return project(np.where(hits, dy / max(np.count_nonzero(hits), 1), 0.0), x)
    chosen = restored(y, x, axis, keepdims)
    hits = x == chosen
    if where is not None:
        hits = hits & where
    number = np.sum(hits, axis=axis, keepdims=np.ndim(x) > 0)
    if initial is not None:
        number = number + (chosen == initial)
    share = restored(dy, x, axis, keepdims) / np.maximum(number, 1)
    return project(np.where(hits, share, 0.0), x)


@rule.forward(np.prod, np.ndarray.prod, np.generic.prod)
def _(x: Numeric, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):
    more = {} if initial is None and where is None else given(initial=initial, where=where)
    y = np.prod(x, axis, dtype, keepdims=keepdims, **more)

    def pushforward(dx):
        back = product_in_type_back if dtype is not None else product_back
        options = (axis, dtype, keepdims) if dtype is not None else (axis, keepdims)
        return reduced(back(np.ones_like(y), y, x, *options, initial, where), dx, y, axis, keepdims)

    return y, pushforward


@rule.forward(np.max, np.ndarray.max, np.amax, np.generic.max)
def _(x: Numeric, axis=None, *, keepdims=False, initial=None, where=None):
    y = np.max(x, axis=axis, keepdims=keepdims, **given(initial=initial, where=where))
    return y, forward_of_hits(y, x, axis, keepdims, initial, where)


@rule.forward(np.min, np.ndarray.min, np.amin, np.generic.min)
def _(x: Numeric, axis=None, *, keepdims=False, initial=None, where=None):
    y = np.min(x, axis=axis, keepdims=keepdims, **given(initial=initial, where=where))
    return y, forward_of_hits(y, x, axis, keepdims, initial, where)


def forward_of_hits(y, x, axis, keepdims, initial, where):
    """Return the pushforward of a maximum or minimum `y`: the mean over the hits."""

    def pushforward(dx):
        slope = shared_by_hits(np.ones_like(y), y, x, axis, keepdims, initial, where)
        return reduced(slope, dx, y, axis, keepdims)

    return pushforward


def reduced(slope, dx, y, axis, keepdims):
    """Return the tangent of a reduction `y`, each of whose entries has entries of `x` for its own.

    Arguments:
        slope: the cotangent of `x` for a `dy` of ones.
        dx: the tangent of `x`.
        y, axis, keepdims: the reduction.
    """
    if slope is None:
        return None
    return np.sum(zeros_kept(conjugate(slope) * dx, dx, y), axis=axis, keepdims=keepdims)


for _f, *_methods in (
    (np.sum, np.ndarray.sum, np.generic.sum), (np.mean, np.ndarray.mean, np.generic.mean),
    (np.prod, np.ndarray.prod, np.generic.prod), (np.max, np.ndarray.max, np.generic.max),
    (np.min, np.ndarray.min, np.generic.min), (np.any, np.ndarray.any),
    (np.all, np.ndarray.all), (np.count_nonzero,),
):  # fmt: skip
    rule.batched(_f, *_methods)(over_axes(_f))
rule.batched(np.argmax, np.ndarray.argmax)(along_axis(np.argmax, None))
rule.batched(np.argmin, np.ndarray.argmin)(along_axis(np.argmin, None))
