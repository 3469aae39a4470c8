"""Piecewise cubics that are made of data: `CubicHermiteSpline` and `CubicSpline`.

A cubic spline is pulled back in the basis of B-splines, where its equations are those of
`make_interp_spline`.
"""

import numpy as np
from scipy import interpolate as si

from rules_scipy.shared.interpolation.bsplines import Basis
from rules_scipy.shared.interpolation.instances import fields_in
from rules_scipy.shared.interpolation.interpolating import (
    clamped,
    of_condition,
    periodic,
    pull_interpolation,
    pull_periodic,
)
from rules_scipy.shared.interpolation.piecewise import columns
from rules_scipy.shared.solvers import solver
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.interpolate.cubics")
Given = Numeric | list | tuple
FACTORIALS = (1.0, 1.0, 2.0, 6.0)


def in_front(y, axis):
    """Return values with the axis of the interpolation in front, in columns."""
    return columns(np.moveaxis(np.asarray(y), axis, 0))


def back_in_place(dy, y, axis):
    """Return the cotangent of values from that with the axis of the interpolation in front."""
    shape = np.moveaxis(np.asarray(y), axis, 0).shape
    return project(np.moveaxis(dy.reshape(shape), 0, axis), y)


def of_pieces(dspline, spline):
    """Return the cotangents of the coefficients of pieces, in columns, and of the breakpoints."""
    dc, dbreaks = fields_in(dspline, spline, "c", "x")
    c = np.asarray(spline.c)
    dc = np.zeros(c.shape) if dc is None else dc
    dbreaks = np.zeros(c.shape[1] + 1) if dbreaks is None else dbreaks
    return dc.reshape(4, c.shape[1], int(np.prod(c.shape[2:]))), dbreaks


@rule(si.CubicHermiteSpline)
def _(x: Given, y: Given, dydx: Given, axis=0, extrapolate=None):
    spline = si.CubicHermiteSpline(x, y, dydx, axis, extrapolate)

    def pullback(dspline):
        dc, dbreaks = of_pieces(dspline, spline)
        values, slopes = in_front(y, axis), in_front(dydx, axis)
        dx, dy, ds = pull_hermite(np.asarray(x, float), values, slopes, dc)
        return (
            project(dx + dbreaks, x),
            back_in_place(dy, y, axis),
            back_in_place(ds, dydx, axis),
        )

    return spline, pullback


def pull_hermite(x, y, slopes, dc):
    """Return the cotangents of places, values and slopes from those of the coefficients."""
    h = np.diff(x)[:, None]
    rise = np.diff(y, axis=0) / h
    bend = (slopes[:-1] + slopes[1:] - 2 * rise) / h
    dbend = dc[0] / h - dc[1]
    dh = -np.conj(bend) * dc[0] / h**2 - np.conj(rise - slopes[:-1]) * dc[1] / h**2
    dh = dh - np.conj(bend) * dbend / h
    drise = dc[1] / h - 2 * dbend / h
    dh = np.sum((dh - np.conj(rise) * drise / h).real, axis=1)
    none, nothing = np.zeros_like(drise[:1]), np.zeros(1)
    left, right = dc[3] - drise / h, drise / h
    dy = np.concatenate([left, none]) + np.concatenate([none, right])
    left = dbend / h - dc[1] / h + dc[2]
    ds = np.concatenate([left, none]) + np.concatenate([none, dbend / h])
    dx = np.concatenate([nothing, dh]) - np.concatenate([dh, nothing])
    return dx, dy, ds


class Problem:
    """Say which spline `CubicSpline` is, in the basis of B-splines.

    Arguments:
        count: the number of places.
        bc_type: the conditions at both ends.

    Attributes:
        k: the degree.
        knots: the knots that follow from the places.
        left, right: the orders of the derivatives that are given at both ends.
        ends: what is given at both ends: a name, a pair of an order and a value, or "slope" for
            that of the line through two points.
    """

    def __init__(self, count, bc_type):
        ends = (bc_type, bc_type) if isinstance(bc_type, str) else tuple(bc_type)
        free = [is_name(end, "not-a-knot") for end in ends]
        self.periodic, self.k = is_name(ends[0], "periodic"), 3
        if self.periodic and count == 2:
            ends, self.periodic, free = ("slope", "slope"), False, [False, False]
        elif count == 2:
            ends = tuple("slope" if no else end for end, no in zip(ends, free, strict=True))
            free = [False, False]
        if all(free) and count == 3:
            self.k = 2  # the parabola
        self.ends = ends
        self.left, self.right = (order_of(end) for end in ends)
        inner = np.arange(1 + free[0], count - 1 - free[1]) if self.k == 3 else []
        self.knots = periodic(count, 3) if self.periodic else clamped(count, self.k, inner)

    def solved(self, x, y, t):
        """Return the coefficients of the B-splines, in columns."""
        if self.periodic:
            return si.make_interp_spline(x, y, 3, bc_type="periodic").c
        sides = []
        for end in self.ends:
            order = order_of(end)
            if not order:
                sides.append(None)
                continue
            value = np.zeros(y.shape[1])
            if is_name(end, "slope"):
                value = (y[1] - y[0]) / (x[1] - x[0])
            elif not isinstance(end, str):
                value = np.reshape(np.asarray(end[1]), y.shape[1])
            sides.append([(order[0], value)])
        return si.make_interp_spline(x, y, self.k, t, tuple(sides)).c


def is_name(end, name):
    """Return whether a condition at an end is the one of this name."""
    return isinstance(end, str) and end == name


def order_of(end):
    """Return the orders of the derivatives that are given at an end: one, or none."""
    if isinstance(end, str):
        return {"clamped": (1,), "natural": (2,), "slope": (1,)}.get(end, ())
    return (end[0],)


@solver(rule, si.CubicSpline, by=("x", "y", "bc_type"), with_ad=False)
def _(spline, given):
    x, y, axis, bc_type = given["x"], given["y"], given["axis"], given["bc_type"]

    def pullback(dspline):
        places, values = np.asarray(x, float), in_front(y, axis)
        dpieces, dbreaks = of_pieces(dspline, spline)
        if not values.size:
            return {"x": project(dbreaks, x)}
        problem = Problem(len(places), bc_type)
        t, k = problem.knots.of(places), problem.k
        c = problem.solved(places, values, t)
        dc, dt, dx = np.zeros_like(c), np.zeros(len(t)), np.zeros(len(places) - 1)
        for nu in range(4):
            rows = dpieces[3 - nu] / FACTORIALS[nu]
            basis = Basis(t, k, places[:-1], nu)
            dknots, dplaces = basis.pull_splines(rows, c)
            dc, dt, dx = dc + basis.of_adjoint(rows, len(c)), dt + dknots, dx + dplaces
        dx = dbreaks + np.concatenate([dx, np.zeros(1)])
        if problem.periodic:
            dy, dplaces, dknots = pull_periodic(t, k, c, places, dc)
            dends = (), ()
        else:
            dy, *dends, dplaces, dknots = pull_interpolation(
                t, k, c, places, dc, problem.left, problem.right
            )
        dx = dx + dplaces + problem.knots.pull(dt + dknots, len(places))
        for end, d in zip(problem.ends, dends, strict=True):
            if is_name(end, "slope"):
                width, rise = places[1] - places[0], values[1] - values[0]
                dy = dy + np.concatenate([-d, d]) / width
                turned = np.sum(np.conj(rise) * d[0]).real / width**2
                dx = dx + np.array([turned, -turned])
        return {
            "x": project(dx, x),
            "y": back_in_place(dy, y, axis),
            "bc_type": of_conditions(bc_type, dends),
        }

    return pullback


def of_conditions(bc_type, dends):
    """Return the cotangent of what is given at both ends."""
    if isinstance(bc_type, str):
        return None
    pairs = zip(bc_type, dends, strict=True)
    each = [None if isinstance(end, str) else of_condition(end, d[0]) for end, d in pairs]
    return each if isinstance(bc_type, list) else tuple(each)
