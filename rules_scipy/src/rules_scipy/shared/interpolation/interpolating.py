"""Splines that interpolate or fit data, pulled back to the data, in the basis of B-splines."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.shared.interpolation.bsplines import Basis, joined, solve_adjoint
from rulescore import project


class Knots:
    """Tell which knots SciPy chooses for data: means of two places, some moved by periods.

    Arguments:
        first, second: the numbers of the two places, for each knot.
        laps: by how many periods each knot is moved.
    """

    def __init__(self, first, second=None, laps=None):
        self.first = np.asarray(first)
        self.second = self.first if second is None else np.asarray(second)
        self.laps = np.zeros(len(self.first)) if laps is None else laps

    def of(self, x):
        """Return the knots for places `x`."""
        return (x[self.first] + x[self.second]) / 2 + self.laps * (x[-1] - x[0])

    def pull(self, dt, count):
        """Return the cotangents of `count` places."""
        dx = np.zeros(count)
        np.add.at(dx, self.first, dt / 2)
        np.add.at(dx, self.second, dt / 2)
        turned = np.sum(self.laps * dt)
        return with_ends(dx, -turned, turned)


def with_ends(dx, first, last, k=0):
    """Return cotangents, with those of the two that lie `k` from the ends."""
    more = np.zeros_like(dx)
    more[k] += first
    more[-k - 1] += last
    return dx + more


def clamped(count, k, inner, other=None):
    """Return knots of which the first and the last are repeated `k + 1` times."""
    ends = [0] * (k + 1), [count - 1] * (k + 1)
    second = None if other is None else np.concatenate([ends[0], other, ends[1]])
    return Knots(np.concatenate([ends[0], inner, ends[1]]).astype(int), second)


def not_a_knot(count, k):
    """Return the knots of a spline without conditions at its ends."""
    if k == 0:
        return Knots([*range(count), count - 1])
    if k % 2:
        half = (k + 1) // 2
        return clamped(count, k, np.arange(half, count - half))
    inner = np.arange(k // 2, count - 1 - k // 2)
    return clamped(count, k, inner, np.asarray(inner + 1, int))


def with_conditions(count, k):
    """Return the knots of a spline with conditions at both ends."""
    return clamped(count, k, np.arange(1, count - 1))


def periodic(count, k):
    """Return the knots of a periodic spline."""
    laps, first = np.divmod(np.arange(-k, count + k), count - 1)
    return Knots(first, first if k % 2 else np.maximum(first - 1, 0), laps)


def pull_interpolation(t, k, c, x, dc, left=(), right=()):
    """Return the cotangents of values, conditions, places and knots from those of coefficients.

    Arguments:
        t, k, c: the knots, the degree, and the coefficients in columns.
        x: the places.
        dc: the cotangents of the coefficients.
        left, right: the orders of the derivatives that are given at both ends.

    Returns:
        The cotangents of the values, of the derivatives at the first and at the last place, of
        the places, and of the knots.
    """
    inner = Basis(t, k, x)
    before = [Basis(t, k, x[:1], nu) for nu in left]
    after = [Basis(t, k, x[-1:], nu) for nu in right]
    weights = solve_adjoint(*joined(*before, inner, *after), dc)
    last = len(left) + len(x)
    dt, dx = inner.pull_splines(-weights[len(left) : last], c)
    dends = [np.zeros(1), np.zeros(1)]
    for end, rows, start in ((0, before, 0), (1, after, last)):
        for i, row in enumerate(rows):
            dknots, dplace = row.pull_splines(-weights[start + i : start + i + 1], c)
            dt = dt + dknots
            dends[end] = dends[end] + dplace
    dx = with_ends(dx, dends[0][0], dends[1][0])
    return weights[len(left) : last], weights[: len(left)], weights[last:], dx, dt


def of_condition(pair, d):
    """Return the cotangent of a condition at an end: a pair of an order and a derivative."""
    return type(pair)([None, project(np.reshape(d, np.shape(pair[1])), pair[1])])


def pull_periodic(t, k, c, x, dc):
    """Return the cotangents of values, places and knots of a periodic spline.

    Its derivatives at both ends agree up to the order `k - 1`, and so do its values: the last one
    has no influence.
    """
    count = len(t) - k - 1
    at_first = [Basis(t, k, x[:1], nu) for nu in range(k)]
    at_last = [Basis(t, k, x[-1:], nu) for nu in range(k)]
    inner = Basis(t, k, x[:-1])
    matrix = np.zeros((count, count))
    for i, (first, last) in enumerate(zip(at_first, at_last, strict=True)):
        matrix[i, first.columns[0]] += first.values[0]
        matrix[i, last.columns[0]] -= last.values[0]
    matrix[np.arange(k, count)[:, None], inner.columns] = inner.values
    weights = np.linalg.solve(matrix.T, dc)
    dt, dinner = inner.pull_splines(-weights[k:], c)
    dends = [np.zeros(1), np.zeros(1)]
    for i, (first, last) in enumerate(zip(at_first, at_last, strict=True)):
        row = weights[i : i + 1]
        dt_first, dfirst = first.pull_splines(-row, c)
        dt_last, dlast = last.pull_splines(row, c)
        dt = dt + dt_first + dt_last
        dends = [dends[0] + dfirst, dends[1] + dlast]
    dx = with_ends(np.concatenate([dinner, np.zeros(1)]), dends[0][0], dends[1][0])
    return np.concatenate([weights[k:], np.zeros((1, weights.shape[1]))]), dx, dt


def pull_fit(t, k, c, x, y, w, dc):
    """Return the cotangents of values, places, knots and weights of a least squares spline.

    Arguments:
        t, k, c: the knots, the degree, and the coefficients in columns.
        x, y, w: the places, the values in columns, and the weights, which multiply the residuals.
        dc: the cotangents of the coefficients.
    """
    basis = Basis(t, k, x)
    bands = np.zeros((2 * k + 1, len(c)))
    square = (w * w)[:, None]
    pairs = basis.values[:, :, None] * (square * basis.values)[:, None, :]
    i, j = basis.columns[:, :, None], basis.columns[:, None, :]
    np.add.at(bands, (k + i - j, np.broadcast_to(j, pairs.shape)), pairs)
    u = sl.solve_banded((k, k), bands, dc)
    left, along = y - basis.of(c), basis.of(u)
    dt, dx = basis.pull_splines(-square * along, c)
    dt_too, dx_too = basis.pull_splines(square * left, u)
    dw = 2 * w * np.sum(np.conj(left) * along, axis=1).real
    return square * along, dx + dx_too, dt + dt_too, dw
