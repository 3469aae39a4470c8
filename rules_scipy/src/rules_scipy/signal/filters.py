"""Recursive filters, by coefficients, input and states."""

import numpy as np
from scipy import signal as ss

from rules_scipy.shared.recursions import Recursion, steady_back
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.filters")
ArrayLike = Numeric | list | tuple


def coefficients(b, a):
    """Return coefficients of a filter as vectors of inexact numbers."""
    b, a = np.asarray(b), np.asarray(a)
    dtype = np.result_type(b, a, np.float64 if b.dtype.kind in "iu" else b.dtype)
    dtype = dtype if dtype.kind in "fc" else np.float64
    return np.atleast_1d(b.astype(dtype)), np.atleast_1d(a.astype(dtype))


def last(x, axis):
    """Return an array with an axis as its last one."""
    return np.moveaxis(np.asarray(x), axis, -1)


def like(dx, x):
    """Return a cotangent in the shape of an argument, which may be a number for a vector."""
    return project(np.reshape(dx, np.shape(x)), x)


@rule(ss.lfilter)
def _(b: ArrayLike, a: ArrayLike, x: ArrayLike, axis=-1):
    y = ss.lfilter(b, a, x, axis)

    def backwards(dy):
        return Recursion(*coefficients(b, a), last(dy, axis))

    def by_numerator(back):
        return like(back.of_numerator(last(x, axis)), b)

    def by_denominator(back):
        return like(back.of_denominator(last(y, axis)), a)

    def by_input(back):
        return project(np.moveaxis(back.of_input(), -1, axis), x)

    return y, (backwards, (by_numerator, by_denominator, by_input))


@rule(ss.lfilter)
def _(b: ArrayLike, a: ArrayLike, x: ArrayLike, axis: int, zi: ArrayLike):
    y, zf = ss.lfilter(b, a, x, axis, zi)

    def backwards(dout):
        dy, dzf = dout
        dy = np.zeros_like(y) if dy is None else dy
        dzf = None if dzf is None else last(dzf, axis)
        return Recursion(*coefficients(b, a), last(dy, axis), dzf)

    def by_numerator(back):
        return like(back.of_numerator(last(x, axis)), b)

    def by_denominator(back):
        return like(back.of_denominator(last(y, axis), last(zi, axis), last(zf, axis)), a)

    def by_input(back):
        return project(np.moveaxis(back.of_input(), -1, axis), x)

    def by_state(back):
        return project(np.moveaxis(back.of_state(), -1, axis), zi)

    return (y, zf), (backwards, (by_numerator, by_denominator, by_input, None, by_state))


@rule(ss.sosfilt)
def _(sos: ArrayLike, x: ArrayLike, axis=-1):
    y = ss.sosfilt(sos, x, axis)

    def by_sections(dy):
        return of_sections(sos, x, axis, None, dy, None)[0]

    def by_input(dy):
        back = ss.sosfilt(np.conj(np.asarray(sos)), np.flip(np.asarray(dy), axis), axis)
        return project(np.flip(back, axis), x)

    return y, (by_sections, by_input)


@rule(ss.sosfilt)
def _(sos: ArrayLike, x: ArrayLike, axis: int, zi: ArrayLike):
    y, zf = ss.sosfilt(sos, x, axis, zi)

    def pullback(dout):
        dy, dzf = dout
        dsos, dx, dzi = of_sections(sos, x, axis, zi, np.zeros_like(y) if dy is None else dy, dzf)
        return dsos, dx, None, dzi

    return (y, zf), pullback


def of_sections(sos, x, axis, zi, dy, dzf):
    """Return the cotangents of sections, their input, and their first states.

    The first coefficient of each denominator, which has to be one, has the cotangent zero.

    Arguments:
        sos, x, axis, zi: as for `scipy.signal.sosfilt`; `zi` is `None` for zeros.
        dy: the cotangent of the output.
        dzf: that of the last states; `None` for zero.
    """
    sections, given = np.asarray(sos), last(x, axis)
    begins = np.zeros((len(sections), *given.shape[:-1], 2)) if zi is None else on_last(zi, axis)
    ends = None if dzf is None else on_last(dzf, axis)
    values = []
    for section, begin in zip(sections, begins, strict=True):
        y, end = ss.lfilter(section[:3], section[3:], given, zi=begin)
        values.append((given, y, end))
        given = y
    found, states, d = [], [], last(dy, axis)
    for i in range(len(sections) - 1, -1, -1):
        given, y, end = values[i]
        b, a = coefficients(sections[i, :3], sections[i, 3:])
        back = Recursion(b, a, d, None if ends is None else ends[i])
        da = back.of_denominator(y, begins[i], end)
        row = [back.of_numerator(given), np.zeros_like(da[:1]), da[1:]]
        found.append(np.concatenate(row))
        states.append(back.of_state())
        d = back.of_input()
    dsos = project(np.stack(found[::-1]), sos)
    dzi = None if zi is None else project(np.moveaxis(np.stack(states[::-1]), -1, behind(axis)), zi)
    return dsos, project(np.moveaxis(d, -1, axis), x), dzi


def behind(axis):
    """Return an axis of the input as an axis of the states, which have one more in front."""
    return axis if axis < 0 else axis + 1


def on_last(z, axis):
    """Return states with their axis of time as the last one."""
    return np.moveaxis(np.asarray(z), behind(axis), -1)


def refuse_leading_zero(f, a):
    """Refuse a denominator whose first coefficient is zero: it is cut off, and no small one is."""
    if a[0] == 0:
        raise np.linalg.LinAlgError(
            f"scipy.signal.{f.__name__} has no derivative where the denominator begins with a zero"
        )


@rule(ss.lfilter_zi)
def _(b: ArrayLike, a: ArrayLike):
    zi = ss.lfilter_zi(b, a)

    def pullback(dzi):
        num, den = coefficients(b, a)
        refuse_leading_zero(ss.lfilter_zi, den)
        db, da = steady_back(num, den, zi, 0.0, dzi)
        return like(db, b), like(da, a)

    return zi, pullback


@rule(ss.sosfilt_zi)
def _(sos: ArrayLike):
    zi = ss.sosfilt_zi(sos)

    def pullback(dzi):
        sections = np.asarray(sos)
        scales = [1.0]
        for section in sections:
            refuse_leading_zero(ss.sosfilt_zi, section[3:])
            scales.append(scales[-1] * (np.sum(section[:3]) / np.sum(section[3:])))
        found, dscale = [], 0.0
        for i in range(len(sections) - 1, -1, -1):
            b, a = coefficients(sections[i, :3], sections[i, 3:])
            own, scale = ss.lfilter_zi(b, a), np.conj(scales[i])
            found.append(np.concatenate(steady_back(b, a, own, scale * dscale, scale * dzi[i])))
            dscale = np.conj(np.sum(b) / np.sum(a)) * dscale + np.sum(np.conj(own) * dzi[i])
        return (project(np.stack(found[::-1]), sos),)

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
def _(b: ArrayLike, a: ArrayLike, y: ArrayLike):
    zi = ss.lfiltic(b, a, y)

    def pullback(dzi):
        den = coefficients(b, a)[1]
        d = dzi / np.conj(den[0])
        da, dy = of_history(den, np.asarray(y), -d)
        return None, like(with_first(da, zi, d), a), project(dy, y)

    return zi, pullback


@rule(ss.lfiltic)
def _(b: ArrayLike, a: ArrayLike, y: ArrayLike, x: ArrayLike):
    zi = ss.lfiltic(b, a, y, x)

    def pullback(dzi):
        num, den = coefficients(b, a)
        d = dzi / np.conj(den[0])
        db, dx = of_history(num, np.asarray(x), d)
        da, dy = of_history(den, np.asarray(y), -d)
        db = np.concatenate([np.zeros(1), db])
        return like(db, b), like(with_first(da, zi, d), a), project(dy, y), project(dx, x)

    return zi, pullback


def with_first(da, zi, d):
    """Return the cotangent of a denominator, whose first coefficient divides the state."""
    return np.concatenate([np.reshape(-np.sum(d * np.conj(zi)), 1), da])
