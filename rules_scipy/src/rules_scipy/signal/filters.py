"""Recursive filters, by coefficients, input and states."""

import numpy as np
from scipy import signal as ss

from rules_scipy.shared.signals.recursions import (
    Recursion,
    coefficients,
    last,
    like,
    of_sections,
    of_steady_sections,
    steady_back,
)
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.filters")
ArrayLike = Numeric | list | tuple


@rule(ss.lfilter)
def _(b: ArrayLike, a: ArrayLike, x: ArrayLike, axis=-1, *, zi=None):
    y, shared, parts = filtered(b, a, x, axis, zi)
    return y, (shared, parts[:3])


@rule(ss.lfilter)
def _(b: ArrayLike, a: ArrayLike, x: ArrayLike, axis: int, zi: object):
    y, shared, parts = filtered(b, a, x, axis, zi)
    return y, (shared, parts)


def filtered(b, a, x, axis, zi):
    """Return what `scipy.signal.lfilter` returns, what its pullbacks share, and these."""
    if zi is not None and np.shape(x)[axis] == 0:  # SciPy returns memory that it never wrote to
        raise NotImplementedError(
            "scipy.signal.lfilter has a rule for an empty x without zi: leave zi out"
        )
    found = ss.lfilter(b, a, x, axis, zi)
    y, zf = (found, None) if zi is None else found

    def backwards(dout):
        dy, dzf = (dout, None) if zi is None else dout
        dy = np.zeros_like(y) if dy is None else dy
        dzf = None if dzf is None else last(dzf, axis)
        return Recursion(*coefficients(b, a), last(dy, axis), dzf)

    def by_numerator(back):
        return like(back.of_numerator(last(x, axis)), b)

    def by_denominator(back):
        states = () if zi is None else (last(zi, axis), last(zf, axis))
        return like(back.of_denominator(last(y, axis), *states), a)

    def by_input(back):
        return project(np.moveaxis(back.of_input(), -1, axis), x)

    def by_state(back):
        return None if zi is None else project(np.moveaxis(back.of_state(), -1, axis), zi)

    return found, backwards, (by_numerator, by_denominator, by_input, None, by_state)


@rule(ss.sosfilt)
def _(sos: ArrayLike, x: ArrayLike, axis=-1, *, zi=None):
    if zi is not None:
        found, pullback = filtered_by_sections(sos, x, axis, zi)
        return found, lambda dout: pullback(dout)[:2]
    y = ss.sosfilt(sos, x, axis)

    def by_sections(dy):
        dsos = of_sections(sections(sos), last(x, axis), None, last(dy, axis), None)[0]
        return like(dsos, sos)

    def by_input(dy):
        back = ss.sosfilt(np.conj(np.asarray(sos)), np.flip(np.asarray(dy), axis), axis)
        return project(np.flip(back, axis), x)

    return y, (by_sections, by_input)


@rule(ss.sosfilt)
def _(sos: ArrayLike, x: ArrayLike, axis: int, zi: object):
    return filtered_by_sections(sos, x, axis, zi)


def sections(sos):
    """Return second-order sections as rows: SciPy takes one of them as a vector, too."""
    return np.atleast_2d(np.asarray(sos))


def filtered_by_sections(sos, x, axis, zi):
    """Return what `scipy.signal.sosfilt` returns, and its pullback."""
    found = ss.sosfilt(sos, x, axis, zi)
    y = found if zi is None else found[0]

    def pullback(dout):
        dy, dzf = (dout, None) if zi is None else dout
        dsos, dx, dzi = of_sections(
            sections(sos),
            last(x, axis),
            None if zi is None else states(zi, axis),
            last(np.zeros_like(y) if dy is None else dy, axis),
            None if dzf is None else states(dzf, axis),
        )
        dzi = None if zi is None else project(np.moveaxis(dzi, -1, behind(axis)), zi)
        return like(dsos, sos), project(np.moveaxis(dx, -1, axis), x), None, dzi

    return found, pullback


def behind(axis):
    """Return an axis of the input as an axis of the states, which have one more in front."""
    return axis if axis < 0 else axis + 1


def states(z, axis):
    """Return states with the axis of their entries as the last one."""
    return np.moveaxis(np.asarray(z), behind(axis), -1)


@rule(ss.lfilter_zi)
def _(b: ArrayLike, a: ArrayLike):
    zi = ss.lfilter_zi(b, a)

    def pullback(dzi):
        db, da = steady_back(*coefficients(b, a), zi, 0.0, dzi)
        return like(db, b), like(da, a)

    return zi, pullback


@rule(ss.sosfilt_zi)
def _(sos: ArrayLike):
    zi = ss.sosfilt_zi(sos)

    def pullback(dzi):
        return (project(of_steady_sections(np.asarray(sos), dzi), sos),)

    return zi, pullback


def of_history(c, past, dzi):
    """Return the cotangents of coefficients, but the first, and of what they are multiplied with.

    Arguments:
        c: the coefficients of the numerator or of the denominator.
        past: the past inputs or outputs, the latest one first.
        dzi: the cotangent of the state, times the first coefficient of the denominator.
    """
    count = len(c) - 1
    if not count:
        return np.zeros(0), np.zeros(np.shape(past))
    known = past[:count]
    sums = [np.sum(np.conj(c[j + 1 :]) * dzi[: count - j]) for j in range(len(known))]
    dpast = np.concatenate([np.array(sums), np.zeros(len(past) - len(known))])
    return np.convolve(np.conj(known), dzi)[:count] if len(known) else np.zeros(count), dpast


@rule(ss.lfiltic)
def _(b: ArrayLike, a: ArrayLike, y: ArrayLike, *, x=None):
    zi, pullback = state_of(b, a, y, x)
    return zi, lambda dzi: pullback(dzi)[:3]


@rule(ss.lfiltic)
def _(b: ArrayLike, a: ArrayLike, y: ArrayLike, x: object):
    return state_of(b, a, y, x)


def state_of(b, a, y, x):
    """Return what `scipy.signal.lfiltic` returns, and its pullback."""
    zi = ss.lfiltic(b, a, y, x)

    def pullback(dzi):
        num, den = coefficients(b, a)
        d = dzi / np.conj(den[0])
        da, dy = of_history(den, np.asarray(y), -d)
        da, dy = like(with_first(da, zi, d), a), project(dy, y)
        if x is None:
            return None, da, dy, None
        db, dx = of_history(num, np.asarray(x), d)
        return like(np.concatenate([np.zeros(1), db]), b), da, dy, project(dx, x)

    return zi, pullback


def with_first(da, zi, d):
    """Return the cotangent of a denominator, whose first coefficient divides the state."""
    return np.concatenate([np.reshape(-np.sum(d * np.conj(zi)), 1), da])
