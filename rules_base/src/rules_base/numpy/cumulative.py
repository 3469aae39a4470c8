"""Running sums and products."""

import numpy as np

from rules_base.shared.axes import as_read, backwards, reshaped, shape_of, truncates, zeros_kept
from rules_base.shared.batches import along_axis
from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.cumulative", may_raise=False)


def cumsum_back(dy, axis):
    """Return the cotangent of what `np.cumsum` was taken of: the running sum from the end."""
    return backwards(np.cumsum(backwards(dy, axis), axis), axis)


def cumprod_back(dy, x, axis):
    """Return the cotangent of `x` in `np.cumprod(x, axis)`, right where entries are zero too."""
    y = np.cumprod(x, axis)
    if not isinstance(x, np.ndarray) or not np.all(y):  # a lazy array is not asked
        return cumprod_transposed(dy, np.conjugate(x), axis)
    total = weighted_sums(dy, y, axis)
    return zeros_kept(total / np.conjugate(x), total, x)


def cumprod_transposed(dy, x, axis):
    """Return the transpose of `cumprod_forward`, applied to `dy`.

    It divides by nothing, so that its own derivatives are right where entries are zero, too.
    """
    x = np.atleast_1d(1.0 * x)  # products of small integers are too large for their type
    y, dx = np.moveaxis(x, axis, 0), np.moveaxis(np.reshape(dy, x.shape), axis, 0)
    length, runs = y.shape[0], []
    while 2 ** len(runs) < length:
        count = 2 ** len(runs)
        runs.append(y)  # the products of `count` entries, and of fewer at the beginning
        y = np.concatenate([y[:count], y[:-count] * y[count:]])
    for number in reversed(range(len(runs))):
        y, count = runs[number], 2**number
        first, last = dx[:count], dx[count:]
        of_later = zeros_kept(last * y[:-count], last, y)
        of_earlier = zeros_kept(last * y[count:], last, y)
        dx = np.concatenate([first, of_later]) + np.concatenate([of_earlier, 0 * first])
    return np.moveaxis(dx, 0, axis)


def weighted_sums(dy, weights, axis):
    """Return the running sums from the end of `dy * conj(weights)`: a zero in `dy` wins."""
    return cumsum_back(zeros_kept(dy * np.conjugate(weights), dy, weights), axis)


@rule.linear(np.cumsum, np.ndarray.cumsum, np.generic.cumsum)
def _(dy, x: Numeric, axis=None, dtype=None):
    if dtype is not None and truncates(x, dtype):
        return None
    return reshaped(cumsum_back(dy, 0), shape_of(x)) if axis is None else cumsum_back(dy, axis)


@rule(np.cumprod, np.ndarray.cumprod, np.generic.cumprod)
def _(x: Numeric, axis=None, dtype=None):
    def pullback(dy):
        if dtype is not None and truncates(x, dtype):
            return (None,)
        read = as_read(x, dtype)
        if axis is None:
            own = cumprod_back(dy, np.ravel(read), 0)
            return (project(np.reshape(own, shape_of(x)), x),)
        return (project(cumprod_back(dy, read, axis), x),)

    return np.cumprod(x, axis, dtype), pullback


@rule.forward(np.cumprod, np.ndarray.cumprod, np.generic.cumprod)
def _(x: Numeric, axis=None, dtype=None):
    def pushforward(dx):
        if dtype is not None and truncates(x, dtype):
            return None
        read, moved = as_read(x, dtype), as_read(dx, dtype)
        if axis is None:
            return cumprod_forward(np.ravel(moved), np.ravel(read), 0)
        return cumprod_forward(moved, read, axis)

    return np.cumprod(x, axis, dtype), pushforward


def cumprod_forward(dx, x, axis):
    """Return the tangent of `np.cumprod(x, axis)`, right where entries are zero too.

    The products of ever longer runs of entries are made of those of their halves, with their
    tangents by the product rule.
    """
    x = np.atleast_1d(1.0 * x)  # products of small integers are too large for their type
    y, dy = np.moveaxis(x, axis, 0), np.moveaxis(np.broadcast_to(dx, x.shape), axis, 0)
    count = 1
    while count < len(y):
        before, after = y[:-count], y[count:]
        dy = np.concatenate([dy[:count], dy[:-count] * after + before * dy[count:]])
        y = np.concatenate([y[:count], before * after])
        count *= 2
    return np.moveaxis(dy, 0, axis)


@rule(np.nancumsum)
def _(x: Array, axis=None, dtype=None):
    def pullback(dy):
        if dtype is not None and truncates(x, dtype):
            return (None,)
        own = cumsum_back(dy, 0 if axis is None else axis)
        return (project(np.where(np.isnan(x), 0.0, np.reshape(own, x.shape)), x),)

    return np.nancumsum(x, axis, dtype), pullback


@rule(np.nancumprod)
def _(x: Array, axis=None, dtype=None):
    def pullback(dy):
        if dtype is not None and truncates(x, dtype):
            return (None,)
        filled = np.where(np.isnan(x), 1.0, as_read(x, dtype))
        if axis is None:
            own = np.reshape(cumprod_back(dy, np.ravel(filled), 0), x.shape)
        else:
            own = cumprod_back(dy, filled, axis)
        return (project(np.where(np.isnan(x), 0.0, own), x),)

    return np.nancumprod(x, axis, dtype), pullback


if hasattr(np, "cumulative_sum"):

    @rule.linear(np.cumulative_sum)
    def _(dy, x: Array, *, axis=None, dtype=None, include_initial=False):
        if dtype is not None and truncates(x, dtype):
            return None
        own = 0 if axis is None else axis
        if include_initial:
            dy = dy[(slice(None),) * (own % dy.ndim) + (slice(1, None),)]
        return cumsum_back(dy, own)

    @rule(np.cumulative_prod)
    def _(x: Array, *, axis=None, dtype=None, include_initial=False):
        own = 0 if axis is None else axis

        def pullback(dy):
            if dtype is not None and truncates(x, dtype):
                return (None,)
            if include_initial:
                dy = dy[(slice(None),) * (own % dy.ndim) + (slice(1, None),)]
            return (project(cumprod_back(dy, as_read(x, dtype), own), x),)

        y = np.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)
        return y, pullback


rule.batched(np.cumsum, np.ndarray.cumsum, np.generic.cumsum)(along_axis(np.cumsum, None))
rule.batched(np.cumprod, np.ndarray.cumprod, np.generic.cumprod)(along_axis(np.cumprod, None))
