"""B-splines that are not zero at given places, and systems of equations of them.

The recursion is that of de Boor (1972). Its derivatives are those by the places and by the knots.
"""

import numpy as np
from scipy import linalg as sl


class Basis:
    """Hold the values of the B-splines that are not zero at each place, or of their derivatives.

    Arguments:
        t: the knots.
        k: the degree.
        x: the places, in a vector. Outside of the knots the outermost polynomials go on.
        nu: the order of the derivative.

    Attributes:
        values: for each place, those of `k + 1` B-splines.
        columns: the numbers of these B-splines.
    """

    def __init__(self, t, k, x, nu=0):
        self.t, self.k, self.x, self.nu = t, k, x, nu
        last = len(t) - k - 2
        self.at = np.clip(np.searchsorted(t, x, side="right") - 1, k, last)
        self.columns = self.at[:, None] + np.arange(-k, 1)
        self.levels = []
        values = np.ones((len(x), 1))
        for degree in range(1, k + 1):
            lower, upper = self.knots_at(degree)
            parts = values / (upper - lower)
            self.levels.append(parts)
            if degree > k - nu:
                left, right = -degree * parts, degree * parts
            else:
                left, right = (upper - x[:, None]) * parts, (x[:, None] - lower) * parts
            none = np.zeros((len(x), 1))
            values = np.concatenate([left, none], 1) + np.concatenate([none, right], 1)
        self.values = values if nu <= k else np.zeros_like(values)

    def knots_at(self, degree):
        """Return the first and the last knots of the B-splines of one degree less."""
        lower = self.at[:, None] + np.arange(1 - degree, 1)
        return self.t[lower], self.t[lower + degree]

    def pull(self, dvalues):
        """Return the cotangents of the knots and of the places."""
        x, dx, dt = self.x[:, None], np.zeros(len(self.x)), np.zeros(len(self.t))
        if self.nu > self.k:
            return dt, dx
        for degree in range(self.k, 0, -1):
            lower, upper = self.knots_at(degree)
            parts, left, right = self.levels[degree - 1], dvalues[:, :-1], dvalues[:, 1:]
            if degree > self.k - self.nu:
                dparts = degree * (right - left)
                dlower = dupper = np.zeros_like(parts)
            else:
                dparts = (upper - x) * left + (x - lower) * right
                dx = dx + np.sum((right - left) * parts, axis=1)
                dlower, dupper = -right * parts, left * parts
            dvalues = dparts / (upper - lower)
            dwidth = dvalues * parts
            at = self.at[:, None] + np.arange(1 - degree, 1)
            np.add.at(dt, at, dlower + dwidth)
            np.add.at(dt, at + degree, dupper - dwidth)
        return dt, dx

    def of(self, c):
        """Return the values of splines with coefficients `c`, of which each has a column."""
        return np.einsum("pj,pjm->pm", self.values, c[self.columns])

    def of_adjoint(self, dy, count):
        """Return the cotangents of `count` coefficients of each spline."""
        dc = np.zeros((count, dy.shape[1]), dy.dtype)
        np.add.at(dc, self.columns, self.values[:, :, None] * dy[:, None, :])
        return dc

    def pull_splines(self, dy, c):
        """Return the cotangents of the knots and places from those of the values of splines."""
        return self.pull(np.einsum("pm,pjm->pj", dy, np.conj(c[self.columns])).real)


def joined(*rows):
    """Return equations of B-splines: their values and columns, from bases or pairs of these."""
    return [np.concatenate([getattr(row, name) for row in rows]) for name in ("values", "columns")]


def solve_adjoint(values, columns, b):
    """Solve the adjoint of a system of equations with one B-spline for each.

    Arguments:
        values, columns: the coefficients in each equation, and the numbers of their unknowns.
        b: the right-hand sides, in columns.
    """
    count = len(values)
    rows = np.broadcast_to(np.arange(count)[:, None], columns.shape)
    above, below = int(np.max(rows - columns)), int(np.max(columns - rows))
    above, below = max(above, 0), max(below, 0)
    bands = np.zeros((above + below + 1, count))
    bands[above + columns - rows, rows] = values
    return sl.solve_banded((below, above), bands, b)


def raised(t, c, k):
    """Return knots and coefficients of the antiderivative that begins with 0."""
    steps = (t[k + 1 :] - t[: -k - 1])[:, None] / (k + 1)
    sums = np.concatenate([np.zeros_like(c[:1]), np.cumsum(c * steps, axis=0)])
    return np.concatenate([t[:1], t, t[-1:]]), sums


def pull_raised(t, c, k, dt, dc):
    """Return the cotangents of knots and coefficients from those of an antiderivative's."""
    dsums = np.cumsum(dc[:0:-1], axis=0)[::-1]
    steps = (t[k + 1 :] - t[: -k - 1])[:, None] / (k + 1)
    dwidth = np.sum(np.conj(c) * dsums, axis=1).real / (k + 1)
    none = np.zeros(k + 1)
    inner = dt[1:-1] + np.concatenate([none, dwidth]) - np.concatenate([dwidth, none])
    more = np.zeros_like(inner)
    more[0] += dt[0]
    more[-1] += dt[-1]
    return inner + more, dsums * steps


def slopes_of(t, k):
    """Return by what the differences of coefficients are multiplied in those of the derivative.

    Where knots coincide, the spline may jump, and SciPy's derivative has a coefficient of 0.
    """
    widths = (t[k + 1 : -1] - t[1 : -k - 1])[:, None]
    return np.where(widths > 0, k / np.where(widths > 0, widths, 1.0), 0.0)


def derivatives(t, c, k, order):
    """Return knots, coefficients and degree of a spline and of its derivatives up to an order."""
    found = [(t, c, k)]
    for _ in range(order):
        t, c, k = t[1:-1], slopes_of(t, k) * np.diff(c, axis=0), k - 1
        found.append((t, c, k))
    return found


def pull_derivatives(found, dt, dc):
    """Return the cotangents of knots and coefficients from those of the last derivative's."""
    for t, c, k in reversed(found[:-1]):
        dsteps = slopes_of(t, k) * dc
        dwidths = -np.sum(dsteps * slopes_of(t, k) * np.diff(c, axis=0), axis=1) / k
        none, end = np.zeros((1, c.shape[1])), np.zeros(k)
        dt = dt + np.concatenate([end, dwidths]) - np.concatenate([dwidths, end])
        dt = np.concatenate([np.zeros(1), dt, np.zeros(1)])
        dc = np.concatenate([none, dsteps]) - np.concatenate([dsteps, none])
    return dt, dc
