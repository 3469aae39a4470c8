"""Sorting and order statistics: every sorted entry passes its cotangent to where it came from.

Entries that are equal keep their order, so that of a tie the first one is meant. Foreign arrays
have rules for order statistics alone: their libraries sort otherwise, or not at all.
"""

from functools import partial

import numpy as np

from rules_base.shared.axes import inexact, inexact_type, like, restored, zeros_kept
from rules_base.shared.batches import along_axis, over_axes
from rules_base.shared.nesting import unstacked
from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.arrays.sorting", may_raise=False)


@rule(np.sort)
def _(x: np.ndarray, axis=-1, kind=None, *, stable=None):
    y = np.sort(x, axis, kind, stable=stable)

    def pullback(dy):
        return (sorted_back(dy, x, axis),)

    return y, pullback


@rule.forward(np.sort)
def _(x: np.ndarray, axis=-1, kind=None, *, stable=None):
    def pushforward(dx):
        if axis is None:
            return np.ravel(dx)[np.argsort(np.ravel(x), kind="stable")]
        return np.take_along_axis(dx, np.argsort(x, axis, kind="stable"), axis)

    return np.sort(x, axis, kind, stable=stable), pushforward


@rule(np.partition)
def _(x: np.ndarray, kth=None, axis=-1, kind="introselect"):
    y = np.partition(x, kth, axis, kind)

    def pullback(dy):
        own_axis = 0 if axis is None else axis
        order = np.argsort(y, own_axis, kind="stable")
        return (sorted_back(np.take_along_axis(dy, order, own_axis), x, axis),)

    return y, pullback


def sorted_back(dy, x, axis):
    """Return the cotangent of `x` from that of `np.sort(x, axis)`."""
    if axis is None:
        return np.reshape(sorted_back(dy, np.reshape(x, (-1,)), 0), x.shape)
    back = np.argsort(np.argsort(x, axis, kind="stable"), axis, kind="stable")
    return project(np.take_along_axis(dy, back, axis), x)


@rule(np.unique)
def _(
    x: np.ndarray,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
):
    y = np.unique(x, return_index, return_inverse, return_counts, axis, equal_nan=equal_nan)
    several = return_index or return_inverse or return_counts

    def pullback(dy):
        values = dy[0] if several else dy
        if values is None:
            return (None,)
        return (first_back(values, y[0] if several else y, x, axis, equal_nan),)

    return y, pullback


def first_back(dy, y, x, axis, equal_nan=True):
    """Return the cotangent of `x`, of which `y` are the different entries: the first is meant."""
    if axis is None:
        x_flat = np.reshape(x, (-1,))
        _, index = np.unique(x_flat, return_index=True, equal_nan=equal_nan)
        dx = np.zeros_like(x_flat, dtype=inexact_type(dy))
        dx[index[: y.size]] = dy[np.argsort(y, kind="stable")]
        return project(np.reshape(dx, x.shape), x)
    _, index = np.unique(x, return_index=True, axis=axis, equal_nan=equal_nan)
    dx = np.zeros_like(x, dtype=inexact_type(dy))
    np.moveaxis(dx, axis, 0)[index] = np.moveaxis(dy, axis, 0)
    return project(dx, x)


@rule(np.unique_values)
def _(x: np.ndarray):
    y = np.unique_values(x)

    def pullback(dy):
        return (first_back(dy, y, x, None),)

    return y, pullback


def declare_unique(f):
    """Declare the rule of a function that returns the different entries first, in a tuple."""

    @rule(f)
    def _(x: np.ndarray):
        y = f(x)

        def pullback(dy):
            return (None if dy[0] is None else first_back(dy[0], y[0], x, None),)

        return y, pullback


declare_unique(np.unique_all)
declare_unique(np.unique_counts)
declare_unique(np.unique_inverse)


def declare_set_operation(f):
    """Declare the rule of a function of two sets, each of whose results is an entry of one."""

    @rule(f)
    def _(a: np.ndarray, b: np.ndarray):
        y = f(a, b)

        def pullback(dy):
            both = np.concatenate([np.reshape(a, (-1,)), np.reshape(b, (-1,))])
            values, first = np.unique(both, return_index=True)
            dboth = np.zeros_like(both, dtype=inexact_type(dy))
            dboth[first[np.searchsorted(values, y)]] = dy
            da, db = dboth[: a.size], dboth[a.size :]
            return project(np.reshape(da, a.shape), a), project(np.reshape(db, b.shape), b)

        return y, pullback


for f in (np.union1d, np.setdiff1d, np.setxor1d):
    declare_set_operation(f)


@rule(np.sort_complex)
def _(x: np.ndarray):
    def pullback(dy):
        return (sorted_back(dy, x, -1),)

    return np.sort_complex(x), pullback


@rule(np.trim_zeros)
def _(x: np.ndarray, trim="fb"):
    y = np.trim_zeros(x, trim)
    if x.ndim == 1 and trim == "f" and len(y) < len(x):  # as np.poly1d does
        raise NotImplementedError(
            "np.trim_zeros(x, 'f') drops leading entries that are exactly 0, such as coefficients "
            "of np.poly1d, and their gradient would be lost: move them off 0, or use what keeps "
            "them, as np.polyval"
        )

    def pullback(dy):
        cut = y.size and "f" in trim.lower()
        if x.ndim == 1:
            before = np.flatnonzero(x)[0] if cut else 0
            return (project(np.pad(dy, (before, len(x) - len(y) - before)), x),)
        first = [places.min() if cut else 0 for places in np.nonzero(x)]
        widths = [(i, n - i - m) for i, n, m in zip(first, x.shape, y.shape, strict=True)]
        return (project(np.pad(dy, widths), x),)

    return y, pullback


def virtual_index(ranked, q, axis, method, nan):
    """Return where the quantile is: index 2.3 is between the third and the fourth sorted entry.

    Every method of `np.quantile` weighs two neighbours at most, so the quantile of the ranks
    themselves tells which, and by how much.
    """
    quantile = np.nanquantile if nan else np.quantile
    return quantile(ranked, q, axis=axis, method=method)


def quantile_back(dy, x, q, axis, keepdims, method, nan):
    """Return the cotangents of `x` and `q` in `np.quantile(x, q, axis, keepdims=keepdims)`."""
    if np.size(x) == 0 or np.size(q) == 0:
        return np.zeros_like(x, dtype=inexact_type(dy)), np.zeros(np.shape(q))
    x = inexact(x)
    order_of_axes, lead = reduced_axes_last(x, axis)
    moved = np.transpose(x, order_of_axes)
    lanes = np.reshape(moved, (*lead, -1))
    order = np.argsort(lanes, -1, kind="stable")
    ranked = np.take_along_axis(lanes, order, -1)
    ranks = np.broadcast_to(np.arange(lanes.shape[-1], dtype=float), lanes.shape)
    if nan:
        ranks = np.where(np.isnan(ranked), np.nan, ranks)
    index = virtual_index(ranks, q, -1, method, nan)
    index = np.where(np.isnan(index), 0.0, index)
    low = np.floor(index).astype(int)
    high = np.minimum(low + 1, lanes.shape[-1] - 1)
    weight = index - low
    dy = np.reshape(dy, index.shape)
    dq = None
    if method in SLOPES:
        counts = np.sum(~np.isnan(ranked), -1) if nan else lanes.shape[-1]
        place = np.moveaxis(np.stack([low, high]).reshape(2, -1, *lead), (0, 1), (-1, -2))
        ends = np.take_along_axis(ranked[..., None, :], place.reshape(*lead, -1, 2), -1)
        rise = np.moveaxis(ends[..., 1] - ends[..., 0], -1, 0).reshape(index.shape)
        inside = (index > 0) & (index < counts - 1)
        slope = np.where(inside, rise * (counts + SLOPES[method]), 0.0)
        dq = (
            np.reshape(zeros_kept(dy * slope, dy, slope), (*np.shape(q), -1))
            .sum(-1)
            .reshape(np.shape(q))
        )
    dranked = np.zeros_like(lanes, dtype=inexact_type(dy))
    n_q = max(np.size(q), 1)
    shape = (n_q, *lead, 1)
    for place, share in ((low, 1 - weight), (high, weight)):
        for k in range(n_q):
            at = np.reshape(place, shape)[k]
            part = np.reshape(dy * share, shape)[k]
            old = np.take_along_axis(dranked, at, -1)
            np.put_along_axis(dranked, at, old + part, -1)
    dlanes = np.zeros_like(dranked)
    np.put_along_axis(dlanes, order, dranked, -1)
    dmoved = np.reshape(dlanes, moved.shape)
    return project(np.transpose(dmoved, tuple(np.argsort(order_of_axes))), x), dq


def reduced_axes_last(x, axis):
    """Return the axes of `x`, those that are reduced last, and the lengths of the others."""
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = [a % max(x.ndim, 1) for a in axes]
    kept = [a for a in range(x.ndim) if a not in axes]
    return (*kept, *axes), tuple(x.shape[a] for a in kept)


def foreign_quantile_back(dy, y, x, q, axis, method, nan):
    """Return the cotangents of a foreign array `x` and of `q` in a quantile, and look at no number.

    The library goes through the lanes of `x`, by `np.apply_along_axis`, when it computes.
    """
    values = inexact(x)
    axes, lead = reduced_axes_last(values, axis)
    moved = np.transpose(values, axes)
    lanes = np.reshape(moved, (*lead, -1))
    n = lanes.shape[-1]
    dys = np.reshape(dy, (-1, *lead))
    fractions = np.reshape(q, (-1,)) if np.ndim(q) else [q]
    dlanes, dfractions = np.zeros_like(lanes, dtype=inexact_type(dy)), []
    for k in range(dys.shape[0]):
        with_q = np.concatenate([lanes, np.zeros_like(lanes[..., :1]) + fractions[k]], -1)
        slopes = np.apply_along_axis(partial(slopes_in_lane, n, method, nan), -1, with_q)
        part = np.expand_dims(dys[k], -1)
        slopes = zeros_kept(part * slopes, part, y)
        dlanes = dlanes + slopes[..., :-1]
        dfractions.append(np.sum(slopes[..., -1]))
    dx = np.transpose(np.reshape(dlanes, moved.shape), tuple(np.argsort(axes).tolist()))
    dq = np.reshape(np.stack(dfractions), np.shape(q)) if method in SLOPES else None
    return project(dx, x), dq


def slopes_in_lane(n, method, nan, lane):
    """Return the slopes of a quantile by `n` numbers and by `q`, which follows them in `lane`.

    Dask tries it with a lane of its own, of one entry, to learn how many there will be.
    """
    slopes = np.zeros(n + 1, **like(lane))
    if lane.shape[0] > 1:
        dx, dq = quantile_back(np.ones(()), lane[:-1], lane[-1], None, False, method, nan)
        slopes[:-1] = dx
        slopes[-1] = 0.0 if dq is None else dq
    return slopes


# by how much the virtual index grows with q, less the number of entries; others jump
SLOPES = {
    "linear": -1,
    "hazen": 0,
    "weibull": 1,
    "interpolated_inverted_cdf": 0,
    "median_unbiased": 1 / 3,
    "normal_unbiased": 1 / 4,
}


def declare_quantile(f, unit, nan):
    """Declare the rule of a quantile function whose `q` goes from 0 to `unit`."""

    @rule(f)
    def _(x: Array, q: Numeric | list | tuple, axis=None, *, method="linear", keepdims=False):
        foreign = not isinstance(x, np.ndarray)
        if foreign:  # dask's percentile of several chunks is another number, near to it
            quantile = np.nanquantile if nan else np.quantile
            y = quantile(x, fraction_of(q, unit), axis, method=method, keepdims=keepdims)
        else:
            y = f(x, q, axis, method=method, keepdims=keepdims)

        def pullback(dy):
            fraction = fraction_of(q, unit)
            if foreign:
                dx, dq = foreign_quantile_back(dy, y, x, fraction, axis, method, nan)
            else:
                dx, dq = quantile_back(dy, x, fraction, axis, keepdims, method, nan)
            return dx, None if dq is None else unstacked(dq / unit, q)

        return y, pullback


def fraction_of(q, unit):
    """Return `q` in units of 1, a list as an array."""
    q = np.asarray(q) if isinstance(q, list | tuple) else q
    return q if unit == 1 else q / unit


def declare_median(f, nan):
    """Declare the rule of a median."""

    @rule(f)
    def _(x: Array, axis=None, *, keepdims=False):
        y = f(x, axis, keepdims=keepdims)

        def pullback(dy):
            if not isinstance(x, np.ndarray):
                return (foreign_quantile_back(dy, y, x, 0.5, axis, "linear", nan)[0],)
            return (quantile_back(dy, x, 0.5, axis, keepdims, "linear", nan)[0],)

        return y, pullback


declare_quantile(np.quantile, 1.0, False)
declare_quantile(np.percentile, 100.0, False)
declare_quantile(np.nanquantile, 1.0, True)
declare_quantile(np.nanpercentile, 100.0, True)
declare_median(np.median, False)
declare_median(np.nanmedian, True)


@rule(np.ptp)
def _(x: Numeric, axis=None, *, keepdims=False):
    high = np.max(x, axis=axis, keepdims=True)
    low = np.min(x, axis=axis, keepdims=True)

    def pullback(dy):
        dy = restored(dy, x, axis, keepdims)
        top, bottom = x == high, x == low
        n_top = np.sum(top, axis=axis, keepdims=True)
        n_bottom = np.sum(bottom, axis=axis, keepdims=True)
        dx = np.where(top, dy / np.maximum(n_top, 1), 0.0)
        return (project(dx - np.where(bottom, dy / np.maximum(n_bottom, 1), 0.0), x),)

    y = np.ptp(x, axis, keepdims=True) if keepdims else np.ptp(x, axis)
    return y, pullback


rule.batched(np.sort)(along_axis(np.sort, -1))
rule.batched(np.argsort, np.ndarray.argsort)(along_axis(np.argsort, -1))
for _f in (np.median, np.ptp):
    rule.batched(_f)(over_axes(_f))
