"""NumPy's statistics: variances, weighted means, and what passes over nan."""

import numpy as np

from rules_base.numpy.reductions import product_in_type_back, reduced, shared_by_hits
from rules_base.shared.axes import as_read, count, given, restored, spread, truncates, zeros_kept
from rules_base.shared.batches import over_axes
from rules_base.shared.nesting import ArrayLike, as_array, unstacked
from rulescore import Array, Numeric, RuleSet, accumulate, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.statistics", may_raise=False)


@rule(np.var, np.ndarray.var, np.generic.var)
def _(
    x: Numeric,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    correction=None,
    where=None,
    mean=None,
):
    more = options_of(ddof, dtype=dtype, correction=correction, where=where, mean=mean)
    y = np.var(x, axis=axis, keepdims=keepdims, **more)

    def pullback(dy):
        if dtype is not None and truncates(x, dtype):
            return (None,)
        free = ddof + (correction or 0)
        dvar = restored(dy, x, axis, keepdims)
        dx = variance_back(dvar, x, axis, free, where, mean, dtype)
        return (project(zeros_kept(dx, dvar, y), x),)

    return y, pullback


@rule(np.std, np.ndarray.std, np.generic.std)
def _(
    x: Numeric,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    correction=None,
    where=None,
    mean=None,
):
    more = options_of(ddof, dtype=dtype, correction=correction, where=where, mean=mean)
    y = np.std(x, axis=axis, keepdims=keepdims, **more)

    def pullback(dy):
        if dtype is not None and truncates(x, dtype):
            return (None,)
        free = ddof + (correction or 0)
        dvar = restored(dy * (y != 0) / (2 * y + (y == 0)), x, axis, keepdims)
        dx = variance_back(dvar, x, axis, free, where, mean, dtype)
        return (project(zeros_kept(dx, restored(dy, x, axis, keepdims), y), x),)

    return y, pullback


@rule.forward(np.var, np.ndarray.var, np.generic.var)
def _(
    x: Numeric,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    correction=None,
    where=None,
    mean=None,
):
    more = options_of(ddof, dtype=dtype, correction=correction, where=where, mean=mean)
    y = np.var(x, axis=axis, keepdims=keepdims, **more)

    def pushforward(dx):
        dvar = np.ones_like(y)
        return variance_forward(
            dx, dvar, y, x, axis, dtype, ddof, keepdims, correction, where, mean
        )

    return y, pushforward


@rule.forward(np.std, np.ndarray.std, np.generic.std)
def _(
    x: Numeric,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    correction=None,
    where=None,
    mean=None,
):
    more = options_of(ddof, dtype=dtype, correction=correction, where=where, mean=mean)
    y = np.std(x, axis=axis, keepdims=keepdims, **more)

    def pushforward(dx):
        dvar = (y != 0) / (2 * y + (y == 0))
        return variance_forward(
            dx, dvar, y, x, axis, dtype, ddof, keepdims, correction, where, mean
        )

    return y, pushforward


def options_of(ddof, **options):
    """Return the options of a variance that were given: few libraries know `ddof`."""
    return given(ddof=ddof or None, **options)


def variance_forward(
    dx, dvar, y, x, axis, dtype, ddof, keepdims, correction=None, where=None, mean=None
):
    """Return the tangent of `y`, the variance of `x` or a function of it.

    Arguments:
        dvar: the derivative of `y` by the variance, in the shape of `y`.
    """
    if dtype is not None and truncates(x, dtype):
        return None
    dvar = restored(dvar, x, axis, keepdims)
    slope = variance_back(dvar, x, axis, ddof + (correction or 0), where, mean, dtype)
    return np.real(reduced(slope, dx, y, axis, keepdims))


def variance_back(dy, x, axis, ddof, where=None, mean=None, dtype=None):
    """Return the cotangent of `x` in its variance along `axis`, whose axes `dy` has kept."""
    if where is not None:
        return part_variance_back(dy, x, axis, ddof, where, mean, dtype)
    n = max(count(x, axis) - ddof, 0)
    if dtype is not None:
        dy = dy.real  # a variance is real, in a complex dtype too
        if mean is None:
            total = np.sum(as_read(x, dtype), axis=axis, keepdims=True)
            mean = total / max(count(x, axis), 1)
    deviation = centered(x, axis) if mean is None else x - mean
    return dy * (2 / n if n else np.nan) * deviation


def centered(x, axis):
    """Return `x` less its mean along `axis`, without a word about empty arrays."""
    return x - np.sum(x, axis=axis, keepdims=axis is not None) / max(count(x, axis), 1)


def part_variance_back(dy, x, axis, ddof, where, mean=None, dtype=None):
    """Return the cotangent of `x` in the variance along `axis` of its entries at `where`."""
    there = np.broadcast_to(where, np.shape(x))
    n = np.sum(there, axis=axis, keepdims=True)
    if dtype is not None:
        dy = dy.real
    if mean is None:
        mean = np.sum(
            np.where(there, as_read(x, dtype), 0.0), axis=axis, keepdims=True
        ) / np.maximum(n, 1)
    deviation = np.where(there, x, mean) - mean
    return np.where(there, dy * 2 * deviation / np.where(n > ddof, n - ddof, 1), 0.0)


@rule(np.nansum)
def _(x: Array, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):
    more = given(initial=initial, where=where)

    def pullback(dy):
        if dtype is not None and truncates(x, dtype):
            return (None,)
        return (project(np.where(present(x, where), spread(dy, x, axis, keepdims), 0.0), x),)

    return np.nansum(x, axis, dtype, keepdims=keepdims, **more), pullback


@rule(np.nanmean)
def _(x: Array, axis=None, dtype=None, *, keepdims=False, where=None):
    def pullback(dy):
        there = np.broadcast_to(present(x, where), x.shape)
        n = np.sum(there, axis=axis, keepdims=True)
        share = restored(dy, x, axis, keepdims) / np.maximum(n, 1)
        return (project(np.where(there, share, 0.0), x),)

    return np.nanmean(x, axis, dtype, keepdims=keepdims, **given(where=where)), pullback


@rule(np.nanprod)
def _(x: Array, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):
    more = given(initial=initial, where=where)
    y = np.nanprod(x, axis, dtype, keepdims=keepdims, **more)

    def pullback(dy):
        there = present(x, where)
        return (product_in_type_back(dy, y, x, axis, dtype, keepdims, initial, there),)

    return y, pullback


@rule(np.nanmax)
def _(x: Array, axis=None, *, keepdims=False, initial=None, where=None):
    y = np.nanmax(x, axis, keepdims=keepdims, **given(initial=initial, where=where))

    def pullback(dy):
        return (shared_by_hits(dy, y, x, axis, keepdims, initial, where),)

    return y, pullback


@rule(np.nanmin)
def _(x: Array, axis=None, *, keepdims=False, initial=None, where=None):
    y = np.nanmin(x, axis, keepdims=keepdims, **given(initial=initial, where=where))

    def pullback(dy):
        return (shared_by_hits(dy, y, x, axis, keepdims, initial, where),)

    return y, pullback


@rule(np.nanvar)
def _(
    x: Numeric,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    correction=None,
    where=None,
    mean=None,
):
    more = given(correction=correction, where=where, mean=mean)
    y = np.nanvar(x, axis, dtype, ddof=ddof, keepdims=keepdims, **more)

    def pullback(dy):
        free, there = ddof + (correction or 0), present(x, where)
        dvar = restored(dy, x, axis, keepdims)
        dx = part_variance_back(dvar, x, axis, free, there, mean, dtype)
        return (project(zeros_kept(dx, dvar, y), x),)

    return y, pullback


@rule(np.nanstd)
def _(
    x: Numeric,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    correction=None,
    where=None,
    mean=None,
):
    more = given(correction=correction, where=where, mean=mean)
    y = np.nanstd(x, axis, dtype, ddof=ddof, keepdims=keepdims, **more)

    def pullback(dy):
        free, there = ddof + (correction or 0), present(x, where)
        dvar = restored(dy / np.where(y == 0, np.inf, 2 * y), x, axis, keepdims)
        dx = part_variance_back(dvar, x, axis, free, there, mean, dtype)
        return (project(zeros_kept(dx, restored(dy, x, axis, keepdims), y), x),)

    return y, pullback


def present(x, where=None):
    """Return where `x` is a number that counts: not missing, and at `where`."""
    return ~np.isnan(x) if where is None else ~np.isnan(x) & where


@rule(np.average)
def _(x: ArrayLike, axis=None, *, returned=False, keepdims=False):
    values = as_array(x)

    def pullback(dy):
        dy = dy[0] if returned else dy
        if dy is None:
            return (None,)
        share = dy / max(count(values, axis), 1)
        return (unstacked(project(spread(share, values, axis, keepdims), values), x),)

    return np.average(values, axis, returned=returned, keepdims=keepdims), pullback


@rule(np.average)
def _(x: ArrayLike, axis: object, weights: ArrayLike, returned=False, *, keepdims=False):
    values, w = as_array(x), as_array(weights)
    y = np.average(values, axis, w, returned=returned, keepdims=keepdims)

    axes, ordered, wide = weights_for(values, axis, w)

    def of_values(dy):
        dmean = dy[0] if returned else dy
        if dmean is None:
            return None
        share = share_of(dmean, values, axis, wide, keepdims)
        return unstacked(project(share * np.conjugate(wide), values), x)

    def of_weights(dy):
        mean = y[0] if returned else y
        dmean, dtotal = dy if returned else (dy, None)
        dw = None
        if dmean is not None:
            off = values - restored(mean, values, axis, keepdims)
            share = share_of(dmean, values, axis, wide, keepdims)
            dw = project(share * np.conjugate(off), wide)
        if dtotal is not None:
            dw = accumulate(dw, project(spread(dtotal, values, axis, keepdims), wide))
        if dw is None:
            return None
        dw = np.reshape(dw, ordered.shape)
        if axes:
            dw = np.transpose(dw, np.argsort(axes).tolist())
        return unstacked(project(dw, w), weights)

    return y, (of_values, None, of_weights)


def weights_for(x, axis, weights):
    """Return the axes that weights are for, the weights in their order, and as wide as `x`."""
    if weights.shape == x.shape:
        return (), weights, weights
    axes = [a % x.ndim for a in (axis if isinstance(axis, tuple) else (axis,))]
    ordered = np.transpose(weights, np.argsort(np.argsort(axes)).tolist())
    wide = np.reshape(ordered, [x.shape[a] if a in axes else 1 for a in range(x.ndim)])
    return axes, ordered, wide


def share_of(dmean, x, axis, weights, keepdims):
    """Return the cotangent of a mean over the total weight, as wide as `x`."""
    total = np.sum(np.broadcast_to(weights, x.shape), axis=axis, keepdims=True)
    return restored(dmean, x, axis, keepdims) / np.conjugate(total)


rule.batched(np.var, np.ndarray.var, np.generic.var)(over_axes(np.var))
rule.batched(np.std, np.ndarray.std, np.generic.std)(over_axes(np.std))
for _f in (
    np.nansum, np.nanmean, np.nanprod, np.nanmax, np.nanmin, np.nanvar, np.nanstd,
):  # fmt: skip
    rule.batched(_f)(over_axes(_f))
