"""Piecewise functions of one variable: places, pieces, periods and integrals."""

import numpy as np


def as_rows(dy, count, axis):
    """Return the cotangents of values at places, for each place a row.

    Arguments:
        dy: the cotangent, with the axes of the places in front of the axis `axis` of the data.
        count: how many axes the places have.
        axis: the axis along which the data were interpolated.
    """
    dy = np.moveaxis(dy, range(axis, axis + count), range(count))
    size = int(np.prod(dy.shape[:count]))
    return dy.reshape(size, int(np.prod(dy.shape[count:])))


def columns(c):
    """Return the coefficients of several functions, for each a column."""
    return c.reshape(len(c), int(np.prod(c.shape[1:])))


class Places:
    """Hold the places where a function on an interval is evaluated, mapped into it or not.

    Arguments:
        x: the places that are given, of any shape.
        ends: the two ends of the interval.
        extrapolate: whether it goes on outside, or "periodic".

    Attributes:
        x: the places in a vector; the first end for those outside.
        outside: where the value is not a number.
    """

    def __init__(self, x, ends, extrapolate):
        x = np.ravel(np.asarray(x, float))
        self.ends = ends
        self.laps = np.zeros(len(x))
        if isinstance(extrapolate, str):  # "periodic"
            period = ends[1] - ends[0]
            self.laps = np.floor((np.where(np.isfinite(x), x, ends[0]) - ends[0]) / period)
            x = ends[0] + (x - ends[0]) % period
        low, high = min(ends), max(ends)
        inside = (x >= low) & (x <= high)
        whole = extrapolate and not isinstance(extrapolate, str)
        self.outside = np.zeros(len(x), bool) if whole else ~inside
        self.x = np.where(self.outside, ends[0], x)

    def rows(self, dy):
        """Return cotangents of values in rows, without those that are not numbers."""
        return np.where(self.outside[:, None], 0.0, dy)

    def pull(self, dx):
        """Return the cotangents of the ends of the interval: those of a period."""
        turned = np.sum(self.laps * dx)
        return turned, -turned


def parts_of_integral(a, b, ends, periodic):
    """Return where antiderivatives are to be evaluated for an integral, and with which weights.

    Returns an array with a row for each value: its weight, and what its place is in terms of the
    limits `a` and `b` and of the ends of the interval.
    """
    if not periodic:
        return np.array([[1.0, 0, 1, 0, 0], [-1.0, 1, 0, 0, 0]])
    sign, first, last = 1.0, np.array([1.0, 0, 0, 0]), np.array([0, 1.0, 0, 0])
    if b < a:
        a, b, sign, first, last = b, a, -1.0, last, first
    low, high = np.array([0, 0, 1.0, 0]), np.array([0, 0, 0, 1.0])
    width = ends[1] - ends[0]
    laps, left = np.divmod(b - a, width)
    start = ends[0] + (a - ends[0]) % width
    before = np.floor((a - ends[0]) / width)
    first = first - before * (high - low)
    last = last - (before + laps) * (high - low)
    parts = [(laps, high), (-laps, low), (-1.0, first)]
    if start + left <= ends[1]:
        parts += [(1.0, last)]
    else:
        parts += [(1.0, high), (1.0, last - high + low), (-1.0, low)]
    return np.array([[sign * weight, *place] for weight, place in parts])
