"""Arrays laid out from a few values: ranges, grids of coordinates and Vandermonde matrices."""

import numpy as np

from rules_base.shared.axes import like, truncates
from rules_base.shared.nesting import unstacked
from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.arrays.ranges", may_raise=False)


def are_jumps(dtype, *ends):
    """Return whether a range in `dtype` moves in jumps: inexact `ends` became integers."""
    return any(truncates(x, dtype) for x in ends)


@rule(np.linspace)
def _(start: Numeric, stop: Numeric, num=50, endpoint=True, retstep=False, dtype=None, axis=0):
    y = np.linspace(start, stop, num, endpoint, retstep, dtype, axis)

    def pullback(dy):
        dvalues, dstep = dy if retstep else (dy, None)
        if are_jumps(dtype, start, stop):
            dvalues = None
        if dvalues is None and dstep is None:
            return None, None
        steps = np.arange(num, **like(dvalues))
        t = steps / max(num - bool(endpoint), 1)
        dstart, dstop = 0.0, 0.0
        if dvalues is not None:
            first = np.moveaxis(dvalues, axis, -1)
            dstart, dstop = first @ (1 - t), first @ t
        if dstep is not None:
            share = dstep / max(num - bool(endpoint), 1)
            dstart, dstop = dstart - share, dstop + share
        return project(dstart, start), project(dstop, stop)

    return y, pullback


@rule(np.logspace)
def _(start: Numeric, stop: Numeric, num=50, endpoint=True, *, base=10.0, dtype=None, axis=0):
    y = np.logspace(start, stop, num, endpoint, base, dtype, axis)

    def pullback(dy):
        if are_jumps(dtype, start, stop):
            return None, None
        t = np.linspace(0.0, 1.0, num, endpoint)
        last = np.moveaxis(dy * np.conjugate(y * np.log(base)), axis, -1)
        return project(last @ (1 - t), start), project(last @ t, stop)

    return y, pullback


@rule(np.geomspace)
def _(start: Numeric, stop: Numeric, num=50, endpoint=True, dtype=None, axis=0):
    y = np.geomspace(start, stop, num, endpoint, dtype, axis)

    def pullback(dy):
        if are_jumps(dtype, start, stop):
            return None, None
        t = np.linspace(0.0, 1.0, num, endpoint)
        last = np.moveaxis(dy * np.conjugate(y), axis, -1)
        dstart = last @ (1 - t) / np.conjugate(start)
        return project(dstart, start), project(last @ t / np.conjugate(stop), stop)

    return y, pullback


@rule(np.arange)
def _(start_or_stop: Numeric, *, stop=None, step=1, dtype=None):
    def pullback(dy):
        if stop is None or are_jumps(dtype, start_or_stop, stop):
            return (None,)
        return (project(np.sum(dy), start_or_stop),)

    return np.arange(start_or_stop, stop, step, dtype), pullback


@rule(np.arange)
def _(start: Numeric, stop: Numeric | None, *, step=1, dtype=None):
    def pullback(dy):
        if stop is None or are_jumps(dtype, start, stop):
            return None, None
        return project(np.sum(dy), start), None

    return np.arange(start, stop, step, dtype), pullback


@rule(np.arange)
def _(start: Numeric, stop: Numeric | None, step: Numeric, dtype=None):
    y = np.arange(start, stop, step, dtype)

    def pullback(dy):
        if are_jumps(dtype, start, 0 if stop is None else stop, step):
            return None, None, None
        dstart = None if stop is None else project(np.sum(dy), start)  # it is where to stop
        return dstart, None, project(dy @ np.arange(y.size), step)

    return y, pullback


@rule(np.vander)
def _(x: Array, N=None, increasing=False):
    y = np.vander(x, N, increasing)

    def pullback(dy):
        n = y.shape[1]
        if not increasing:
            dy = dy[:, ::-1]
        k = np.arange(1, n, **like(x))
        powers = np.vander(x, max(n - 1, 0), increasing=True)
        return (project(np.sum(dy[:, 1:] * np.conjugate(k * powers), axis=1), x),)

    return y, pullback


@rule(np.meshgrid)
def _(*xs: Numeric | list | tuple, **options):
    def pullback(dy):
        wide = np.meshgrid(*xs, sparse=True, indexing=options.get("indexing", "xy"))
        return tuple(
            [
                None if d is None else unstacked(np.reshape(project(d, w), np.shape(x)), x)
                for d, w, x in zip(dy, wide, xs, strict=True)
            ]
        )

    return np.meshgrid(*xs, **options), pullback
