"""Differences, slopes, integrals and interpolation of sampled functions."""

import numbers

import numpy as np

from rules_base.shared.axes import given, inexact, inexact_type, like, size_of
from rules_base.shared.nesting import ArrayLike, as_array, unstacked
from rulescore import Array, RuleSet, project, rrule
from rulescore.batching import behind

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.calculus", may_raise=False)


@rule.linear(np.diff)
def _(dy, x: Array, n=1, axis=-1):
    for left in range(n, 0, -1):
        if np.shape(dy)[axis] + left > x.shape[axis]:
            return np.zeros_like(x, dtype=inexact_type(dy))  # too few entries to differ
        dy = differences_back(dy, axis)
    return dy


def differences_back(dy, axis):
    """Return the cotangent of `x` in `x[1:] - x[:-1]` along `axis`."""
    width = [(0, 0)] * dy.ndim
    width[axis] = (1, 1)
    return -np.diff(np.pad(dy, width), axis=axis)


def ediff1d(x, to_end, to_begin):
    """Return the value of `np.ediff1d`, and its pullback to all three arguments."""
    end, begin = as_array(to_end), as_array(to_begin)

    def pullback(dy):
        first = 0 if begin is None else size_of(begin)
        last = size_of(dy) - (0 if end is None else size_of(end))
        dx = np.zeros_like(x, dtype=inexact_type(dy))
        if x.size:
            dx = np.reshape(differences_back(dy[first:last], -1), x.shape)
        dend = None if end is None else np.reshape(dy[last:], np.shape(end))
        dbegin = None if begin is None else np.reshape(dy[:first], np.shape(begin))
        return project(dx, x), unstacked(dend, to_end), unstacked(dbegin, to_begin)

    return np.ediff1d(x, end, begin), pullback


@rule(np.ediff1d)
def _(x: Array):
    y, back = ediff1d(x, None, None)

    def pullback(dy):
        return back(dy)[:1]

    return y, pullback


@rule(np.ediff1d)
def _(x: Array, to_end: ArrayLike | None):
    y, back = ediff1d(x, to_end, None)

    def pullback(dy):
        return back(dy)[:2]

    return y, pullback


@rule(np.ediff1d)
def _(x: Array, to_end: ArrayLike | None, to_begin: ArrayLike | None):
    return ediff1d(x, to_end, to_begin)


@rule(np.trapezoid)
def _(y: Array, *, dx=1.0, axis=-1):
    def pullback(dout):
        n = y.shape[axis]
        k = np.arange(n, **like(y))
        weights = ((k > 0) * 1.0 + (k < n - 1)) * (dx / 2)  # of one or two pieces it is an end
        return (project(np.expand_dims(dout, axis) * along(weights, y, axis), y),)

    return np.trapezoid(y, dx=dx, axis=axis), pullback


@rule(np.trapezoid)
def _(y: Array, x: Array | list | tuple, dx=1.0, axis=-1):
    places = as_array(x)
    wide = along(places, y, axis) if places.ndim == 1 else places

    def of_values(dout):
        if y.shape[axis] == 0:
            return np.zeros_like(y)
        steps = np.conjugate(np.diff(wide, axis=axis))
        return project(pair_sums_back(np.expand_dims(dout, axis) * steps / 2, axis), y)

    def of_places(dout):
        if y.shape[axis] == 0:
            return unstacked(np.zeros_like(places), x)
        sums = np.conjugate(pair_sums(y, axis))
        dsteps = differences_back(np.expand_dims(dout, axis) * sums / 2, axis)
        return unstacked(np.reshape(project(dsteps, wide), places.shape), x)

    return np.trapezoid(y, places, axis=axis), (of_values, of_places)


def along(v, x, axis):
    """Return the vector `v` in the direction `axis` of `x`."""
    shape = [1] * x.ndim
    shape[axis] = -1
    return np.reshape(v, shape)


def pair_sums(y, axis):
    """Return the sums of neighbours along `axis`."""
    y = np.moveaxis(y, axis, -1)
    return np.moveaxis(y[..., 1:] + y[..., :-1], -1, axis)


def pair_sums_back(dy, axis):
    """Return the cotangent of what `pair_sums` was taken of."""
    width = [(0, 0)] * dy.ndim
    width[axis] = (1, 1)
    return pair_sums(np.pad(dy, width), axis)


@rule(np.gradient)
def _(x: Array, *spacing: numbers.Number | np.generic, axis=None, edge_order=1):
    ys = np.gradient(x, *spacing, axis=axis, edge_order=edge_order)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    single = not isinstance(ys, list | tuple)
    steps = list(spacing) if spacing else [1.0] * len(axes)
    if len(steps) == 1:
        steps = steps * len(axes)

    def pullback(dys):
        dys = (dys,) if single else dys
        dx, dsteps = 0.0, [0.0] * len(axes)
        for k, (dy, y, a) in enumerate(zip(dys, (ys,) if single else ys, axes, strict=True)):
            if dy is not None:
                dx = dx + slope_back(dy, x.shape[a], steps[k], a, edge_order)
                dsteps[k] = -np.vdot(y, dy) / np.conjugate(steps[k])
        if len(spacing) == 1:
            dsteps = [sum(dsteps)]
        dspacing = [project(d, h) for d, h in zip(dsteps, spacing, strict=False)]
        return project(dx + np.zeros_like(x), x), *dspacing

    return ys, pullback


@rule(np.gradient)
def _(x: Array, *spacing: ArrayLike, axis=None, edge_order=1):
    places = [as_array(s) for s in spacing]
    ys = np.gradient(x, *places, axis=axis, edge_order=edge_order)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    single = not isinstance(ys, list | tuple)
    all_places = places * len(axes) if len(places) == 1 else places

    def pullback(dys):
        dys = (dys,) if single else dys
        dx, found = 0.0, [0.0 * s for s in all_places]
        for k, (dy, y, a) in enumerate(zip(dys, (ys,) if single else ys, axes, strict=True)):
            if dy is None:
                continue
            if np.ndim(all_places[k]) == 0:
                dx = dx + slope_back(dy, x.shape[a], all_places[k], a, edge_order)
                found[k] = -np.vdot(y, dy) / np.conjugate(all_places[k])
            else:
                back = uneven_slope_back(dy, x, np.diff(1.0 * all_places[k]), a, edge_order)
                dx, found[k] = dx + back[0], differences_back(back[1], -1)
        if len(places) == 1:
            found = [sum(found)]
        each = zip(found, places, spacing, strict=True)
        return project(dx + np.zeros_like(x), x), *[unstacked(project(d, p), s) for d, p, s in each]

    return ys, pullback


def uneven_slope_back(dy, x, steps, axis, edge_order):
    """Return the cotangents of the samples in one axis of `np.gradient`, and of the steps there.

    A slope is the mean of the secants on both sides, each weighted by the step of the other. NumPy
    computes with one step where all are equal; the slope depends on each of them there, too.
    """
    dy, secants, n = (
        np.moveaxis(dy, axis, -1),
        np.diff(1.0 * np.moveaxis(x, axis, -1)) / steps,
        steps.size,
    )
    before, after = np.conjugate(steps[:-1]), np.conjugate(steps[1:])
    share = before / (before + after)  # of the secant after the place
    first, inner, last = dy[..., :1], dy[..., 1:-1], dy[..., -1:]
    if edge_order == 2:  # a slope at an end is twice the secant, less the next slope
        inner = inner - shifted(first, 0, n - 1) - shifted(last, n - 2, n - 1)
        first, last = 2 * first, 2 * last
    dsecants = shifted(first, 0, n) + shifted(last, n - 1, n)
    dsecants = dsecants + shifted(inner * (1 - share), 0, n) + shifted(inner * share, 1, n)
    dshare = sums_of_rows(inner * np.conjugate(np.diff(secants))) / (before + after) ** 2
    dsteps = shifted(dshare * after, 0, n) - shifted(dshare * before, 1, n)
    dsteps = dsteps - sums_of_rows(dsecants * np.conjugate(secants)) / np.conjugate(steps)
    dx = differences_back(dsecants / np.conjugate(steps), -1)
    return np.moveaxis(dx, -1, axis), dsteps


def sums_of_rows(x):
    """Return the sums over all axes but the last."""
    return np.sum(x, axis=tuple(range(x.ndim - 1)))


def slope_back(dy, n, step, axis, edge_order):
    """Return the cotangent of the samples in one axis of `np.gradient` with an even step.

    Each slope reads three neighbours at most, so three probes, of every third sample each, find
    all the coefficients of this linear map.
    """
    width = min(3, n)
    first = np.clip(np.arange(n) - 1, 0, n - width)
    every_third = [1.0 * (np.arange(n) % 3 == start) for start in range(3)]
    probes = [np.gradient(probe, edge_order=edge_order) / step for probe in every_third]
    dy = np.moveaxis(dy, axis, -1)
    dx = 0.0
    for k in range(width):
        part = np.conjugate(np.choose((first + k) % 3, probes)) * dy
        dx = dx + shifted(part[..., :1], k, n) + shifted(part[..., -1:], n - width + k, n)
        if n > 2:
            dx = dx + shifted(part[..., 1:-1], k, n)
    return np.moveaxis(dx, -1, axis)


def shifted(part, start, n):
    """Return `part` from `start` on in a last axis of `n` zeros."""
    width = [(0, 0)] * (part.ndim - 1) + [(start, n - start - part.shape[-1])]
    return np.pad(part, width)


@rule(np.interp)
def _(x: ArrayLike, xp: ArrayLike, fp: ArrayLike, *, left=None, right=None, period=None):
    arrays = as_array(x), as_array(xp), as_array(fp)
    y = np.interp(*arrays, **given(left=left, right=right, period=period))

    def pullback(dy):
        if period is not None:
            dx, dxp, dfp = periodic_back(dy, *arrays, abs(period))
        else:
            dx, dxp, dfp = interpolation_back(dy, *arrays, left is None, right is None)
        return unstacked(dx, x), unstacked(dxp, xp), unstacked(dfp, fp)

    return y, pullback


@rule(np.interp)
def _(x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: object, right: object):
    arrays = as_array(x), as_array(xp), as_array(fp)
    y = np.interp(*arrays, left, right)

    def pullback(dy):
        dx, dxp, dfp = interpolation_back(dy, *arrays, left is None, right is None)
        places, table, _ = arrays
        dleft = project(np.sum(np.where(np.less(places, table[0]), dy, 0.0)), left)
        dright = project(np.sum(np.where(np.greater(places, table[-1]), dy, 0.0)), right)
        return (
            unstacked(dx, x),
            unstacked(dxp, xp),
            unstacked(dfp, fp),
            None if left is None else dleft,
            None if right is None else dright,
        )

    return y, pullback


@rule(np.interp)
def _(x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: object, *, right=None):
    y, back = rrule(np.interp, x, xp, fp, left, right)

    def pullback(dy):
        return back(dy)[1:-1]

    return y, pullback


def interpolation_back(dy, x, xp, fp, to_the_left, to_the_right):
    """Return the cotangents of `np.interp(x, xp, fp)`, whose ends may go on to either side."""
    x, xp, fp = inexact(x), inexact(xp), inexact(fp)
    n = len(xp)
    if n == 1:
        free = (x == xp[0]) | ((x < xp[0]) & to_the_left) | ((x > xp[0]) & to_the_right)
        dfp = np.reshape(np.sum(np.where(free, dy, 0.0)), (1,))
        return project(np.zeros(np.shape(x)), x), project(np.zeros(1), xp), project(dfp, fp)
    i = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, n - 2)
    width = xp[i + 1] - xp[i]
    t = np.clip((x - xp[i]) / width, 0.0, 1.0)
    below, above = np.less(x, xp[0]), np.greater(x, xp[-1])
    slope = np.where(below | above, 0.0, (fp[i + 1] - fp[i]) / width)
    kept = (~below | to_the_left) & (~above | to_the_right)
    unused = dy == 0  # which wins over nan and infinity
    t = np.where(unused & np.isnan(t), 0.0, t)
    slope = np.where(unused & ~np.isfinite(slope), 0.0, slope)
    dfp = spread_between(np.where(kept, dy, 0.0), i, t, n)
    dxp = spread_between(-np.conjugate(slope) * dy, i, t, n)
    return project(np.conjugate(slope) * dy, x), project(dxp, xp), project(dfp, fp)


def periodic_back(dy, x, xp, fp, period):
    """Return the cotangents of `np.interp(x, xp, fp, period=period)`.

    NumPy sorts the table within one period, and adds the last entry before it and the first one
    behind.
    """
    x, xp = inexact(x), inexact(xp)
    places = xp % period
    order = np.argsort(places)
    around = np.concatenate([order[-1:], order, order[:1]])
    turns = np.zeros(around.size)
    turns[0], turns[-1] = -period, period
    table = places[around] + turns
    dx, dtable, dvalues = interpolation_back(dy, x % period, table, fp[around], True, True)
    dxp, dfp = np.zeros(order.size), np.zeros(order.size, dvalues.dtype)
    np.add.at(dxp, around, dtable)
    np.add.at(dfp, around, dvalues)
    return project(dx, x), project(dxp, xp), project(dfp, fp)


def spread_between(dy, i, t, n):
    """Return `n` bins with `dy` shared between bins `i` and `i + 1` in the ratio `1 - t` to `t`."""
    i, dy, t = np.ravel(i), np.ravel(dy), np.ravel(t)
    out = np.zeros(n, dtype=np.result_type(dy, np.float64))
    np.add.at(out, i, dy * (1 - t))
    np.add.at(out, i + 1, dy * t)
    return out


@rule.batched(np.diff)
def _(x: Array, n=1, axis=-1):
    return np.diff(x, n, behind(axis, x))
