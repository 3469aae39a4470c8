"""Splines in the B-spline basis: `BSpline`, and those that interpolate or fit data."""

import numpy as np
from scipy import interpolate as si
from scipy.interpolate import _bsplines, _dierckx

from rules_scipy.shared.interpolation.bsplines import Basis, pull_raised, raised
from rules_scipy.shared.interpolation.instances import added, classes_of, fields_in, tangent_of
from rules_scipy.shared.interpolation.interpolating import (
    not_a_knot,
    of_condition,
    periodic,
    pull_fit,
    pull_interpolation,
    pull_periodic,
    with_conditions,
    with_ends,
)
from rules_scipy.shared.interpolation.piecewise import Places, as_rows, columns, parts_of_integral
from rules_scipy.shared.solvers import solver
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.interpolate.splines")
Given = Numeric | list | tuple
SPLINES = classes_of(si.BSpline, _bsplines)
INNER = SPLINES[-1]  # which has what is computed
rule.constant(_dierckx.find_interval)


def cotangent(spline, dc, dt):
    """Return the cotangent of a spline, whose last coefficients may have no influence."""
    c = np.asarray(spline.c)
    dc = dc.reshape(len(dc), *c.shape[1:])
    dc = np.concatenate([dc, np.zeros((len(c) - len(dc), *c.shape[1:]))])
    return tangent_of(spline, c=project(dc, c), t=project(dt, np.asarray(spline.t)))


def called(cls):
    """Declare the rule for the value of a spline, and for `super().__call__`."""

    def _(spline: cls, x: Given, nu=0, extrapolate=None):
        y = cls.__call__(spline, x, nu, extrapolate)

        def pullback(dy):
            t, k = np.asarray(spline.t), spline.k
            count = len(t) - k - 1
            mode = spline.extrapolate if extrapolate is None else extrapolate
            places = Places(x, (t[k], t[count]), mode)
            rows = places.rows(as_rows(dy, np.ndim(x), spline.axis))
            c = columns(np.asarray(spline.c)[:count])
            basis = Basis(t, k, places.x, nu)
            dt, dx = basis.pull_splines(rows, c)
            dt = with_ends(dt, *places.pull(dx), k)
            dspline = cotangent(spline, basis.of_adjoint(rows, count), dt)
            return dspline, project(dx.reshape(np.shape(x)), x)

        return y, pullback

    rule.of_instances(_)
    rule(cls.__call__)(_)


for each in SPLINES:
    called(each)


@rule(INNER.integrate)
def _(self: INNER, a: float, b: float, extrapolate=None):
    y = self.integrate(a, b, extrapolate)
    mode = self.extrapolate if extrapolate is None else extrapolate

    def pullback(dy):
        da, db, dc, dt = pull_integral(self.t, self.c, self.k, a, b, mode, dy)
        return cotangent(self, dc, dt), project(da, a), project(db, b)

    return y, pullback


def pull_integral(t, c, k, a, b, mode, dy):
    """Return the cotangents of the limits, coefficients and knots from that of an integral.

    Where `mode` is false, the spline is 0 outside of the knots.
    """
    t = np.asarray(t)
    count = len(t) - k - 1
    c = columns(np.asarray(c)[:count])
    ends = t[k], t[count]
    weights, *places = parts_of_integral(a, b, ends, isinstance(mode, str)).T
    x = np.stack(places).T @ np.array([a, b, *ends], float)
    before, behind = (x < ends[0]) & (not mode), (x > ends[1]) & (not mode)
    x = np.where(before, ends[0], np.where(behind, ends[1], x))
    above_t, above_c = raised(t, c, k)
    basis = Basis(above_t, k + 1, x)
    rows = weights[:, None] * np.reshape(dy, (1, c.shape[1]))
    dabove_t, dx = basis.pull_splines(rows, above_c)
    dt, dc = pull_raised(t, c, k, dabove_t, basis.of_adjoint(rows, count + 1))
    da, db, dfirst, dlast = np.stack(places) @ np.where(before | behind, 0.0, dx)
    dfirst, dlast = dfirst + np.sum(dx[before]), dlast + np.sum(dx[behind])
    return da, db, dc, with_ends(dt, dfirst, dlast, k)


def conditions(bc_type):
    """Return the orders of the derivatives that are given at both ends."""
    if bc_type is None or (isinstance(bc_type, str) and bc_type == "not-a-knot"):
        return (), ()
    both = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    return tuple(
        {"clamped": (1,), "natural": (2,)}[side]
        if isinstance(side, str)
        else tuple(order for order, _ in side or ())
        for side in both
    )


def of_conditions(bc_type, dends):
    """Return the cotangent of what is given at both ends, from those of the derivatives there."""
    if bc_type is None or isinstance(bc_type, str):
        return None
    return type(bc_type)([of_side(side, d) for side, d in zip(bc_type, dends, strict=True)])


def of_side(side, d):
    """Return the cotangent of what is given at one end: pairs of an order and a derivative."""
    if side is None or isinstance(side, str):
        return None
    return type(side)([of_condition(pair, each) for pair, each in zip(side, d, strict=True)])


@solver(rule, si.make_interp_spline, by=("x", "y", "t", "bc_type"), with_ad=False)
def _(spline, given):
    x, y, axis, bc_type = given["x"], given["y"], given["axis"], given["bc_type"]

    def pullback(dspline):
        t, k, places = np.asarray(spline.t), spline.k, np.asarray(x, float)
        dc, dt = fields_in(dspline, spline, "c", "t")
        dt = np.zeros(len(t)) if dt is None else dt
        dc = np.zeros(np.shape(spline.c)) if dc is None else dc
        shape, c, dc = dc.shape[1:], columns(np.asarray(spline.c)), columns(dc)
        whole = isinstance(bc_type, str) and bc_type == "periodic"
        if whole:
            chosen = periodic(len(places), k)
            dy, dx, dmore = pull_periodic(t, k, c, places, dc)
            dends = (), ()
        else:
            left, right = conditions(bc_type)
            chosen = (with_conditions if left or right else not_a_knot)(len(places), k)
            dy, *dends, dx, dmore = pull_interpolation(t, k, c, places, dc, left, right)
        dt = dt + dmore
        dy = np.moveaxis(dy.reshape(len(places), *shape), 0, axis)
        found = {"y": project(dy, y), "bc_type": of_conditions(bc_type, dends)}
        if given["t"] is None:
            dx = dx + chosen.pull(dt, len(places))
        else:
            found["t"] = project(dt, given["t"])
        return found | {"x": project(dx, x)}

    return pullback


@solver(rule, si.make_lsq_spline, by=("x", "y", "t", "w"), with_ad=False)
def _(spline, given):
    x, y, w, axis = given["x"], given["y"], given["w"], given["axis"]

    def pullback(dspline):
        dc, dt = fields_in(dspline, spline, "c", "t")
        found = {"t": dt}
        if dc is not None:
            values = np.moveaxis(np.asarray(y), axis, 0)
            weights = np.ones(len(values)) if w is None else np.asarray(w, float)
            t, c = np.asarray(spline.t), columns(np.asarray(spline.c))
            dy, dx, dknots, dw = pull_fit(
                t, spline.k, c, np.asarray(x, float), columns(values), weights, columns(dc)
            )
            dy = np.moveaxis(dy.reshape(values.shape), 0, axis)
            found = {"x": project(dx, x), "y": project(dy, y), "t": added(dt, dknots)}
            found["w"] = None if w is None else project(dw, w)
        if found["t"] is not None:
            found["t"] = project(found["t"], given["t"])
        return found

    return pullback
