"""Piecewise polynomials: `PPoly` and all that inherit from it, and `BPoly`."""

import numpy as np
from scipy import interpolate as si
from scipy import special as sp
from scipy.interpolate import _interpolate

from rules_scipy.shared.interpolation.instances import classes_of, fields_in, tangent_of
from rules_scipy.shared.interpolation.interpolating import with_ends
from rules_scipy.shared.interpolation.piecewise import Places, as_rows, parts_of_integral
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.interpolate.polynomials")
Given = Numeric | list | tuple
BERNSTEIN = classes_of(si.BPoly, _interpolate)
NEAR = 1e-9  # of the size of the terms of a polynomial at its root


def powers(h, count, nu):
    """Return the derivatives of `h**(count - 1)`, ..., `h`, 1 of an order, in columns."""
    p = np.arange(count - 1, -1, -1)
    factors = np.where(p < nu, 0.0, sp.poch(np.maximum(p - nu, 0) + 1.0, nu))
    return factors * h[:, None] ** np.maximum(p - nu, 0)


def bernstein(s, width, count, nu):
    """Return the derivatives of Bernstein polynomials of an order, in columns.

    Arguments:
        s, width: the places, in units of the width of their interval, and this width.
        count: the number of polynomials.
        nu: the order of the derivative.
    """
    low = count - 1 - nu
    if low < 0:
        return np.zeros((len(s), count))
    j = np.arange(low + 1)
    values = sp.binom(low, j) * s[:, None] ** j * (1 - s[:, None]) ** (low - j)
    none = np.zeros((len(s), 1))
    for degree in range(low + 1, count):
        values = degree * (
            np.concatenate([none, values], 1) - np.concatenate([values, none], 1)
        ) / width[:, None]  # fmt: skip
    return values


def pieces_at(breaks, x):
    """Return the numbers of the pieces on which places lie."""
    rising = breaks[-1] >= breaks[0]
    breaks, x = (breaks, x) if rising else (-breaks, -x)
    return np.clip(np.searchsorted(breaks, x, side="right") - 1, 0, len(breaks) - 2)


def in_columns(c):
    """Return coefficients of several polynomials in a matrix for each power."""
    return c.reshape(c.shape[0], c.shape[1], int(np.prod(c.shape[2:])))


def terms(poly, c, breaks, x, at, nu):
    """Return the basis polynomials at places, for each a row."""
    if is_bernstein(poly):
        width = breaks[at + 1] - breaks[at]
        return bernstein((x - breaks[at]) / width, width, len(c), nu)
    return powers(x - breaks[at], len(c), nu)


def is_bernstein(poly):
    """Return whether a piecewise polynomial is one in the Bernstein basis."""
    return isinstance(poly, BERNSTEIN)


def pull_values(poly, c, breaks, x, nu, dy):
    """Return the cotangents of coefficients, breakpoints and places from those of values.

    Arguments:
        poly: the object of SciPy, which tells the basis.
        c, breaks: its coefficients, in columns, and its breakpoints.
        x: the places.
        nu: the order of the derivative.
        dy: the cotangents of the values, for each place a row.
    """
    at = pieces_at(breaks, x)
    basis = terms(poly, c, breaks, x, at, nu)
    dc = np.zeros((c.shape[1], c.shape[0], c.shape[2]), dy.dtype)
    np.add.at(dc, at, basis[:, :, None] * dy[:, None, :])
    pieces = np.moveaxis(c, 1, 0)[at]
    slope = np.einsum("pj,pjm->pm", terms(poly, c, breaks, x, at, nu + 1), pieces)
    dx = np.sum(np.conj(slope) * dy, axis=1).real
    dbreaks = np.zeros(len(breaks))
    if not is_bernstein(poly):
        np.add.at(dbreaks, at, -dx)
    else:
        width = breaks[at + 1] - breaks[at]
        value = np.einsum("pj,pjm->pm", basis, pieces)
        scaled = nu * np.sum(np.conj(value) * dy, axis=1).real / width
        s = (x - breaks[at]) / width
        np.add.at(dbreaks, at, scaled - (1 - s) * dx)
        np.add.at(dbreaks, at + 1, -scaled - s * dx)
    return np.moveaxis(dc, 0, 1), dbreaks, dx


def ends_of(breaks):
    """Return the two ends of the interval of a piecewise polynomial."""
    return breaks[0], breaks[-1]


def cotangent(poly, dc, dbreaks):
    """Return the cotangent of a piecewise polynomial."""
    return tangent_of(
        poly, c=project(dc.reshape(np.shape(poly.c)), poly.c), x=project(dbreaks, poly.x)
    )


def called(cls):
    """Declare the rule for the value of a piecewise polynomial, and for `super().__call__`."""

    def _(poly: cls, x: Given, nu=0, extrapolate=None):
        y = cls.__call__(poly, x, nu, extrapolate)

        def pullback(dy):
            c, breaks = in_columns(np.asarray(poly.c)), np.asarray(poly.x)
            mode = poly.extrapolate if extrapolate is None else extrapolate
            places = Places(x, ends_of(breaks), mode)
            rows = places.rows(as_rows(dy, np.ndim(x), poly.axis))
            dc, dbreaks, dx = pull_values(poly, c, breaks, places.x, nu, rows)
            dbreaks = with_ends(dbreaks, *places.pull(dx))
            return cotangent(poly, dc, dbreaks), project(dx.reshape(np.shape(x)), x)

        return y, pullback

    rule.of_instances(_)
    rule(cls.__call__)(_)


for each in (*classes_of(si.PPoly, _interpolate), *BERNSTEIN):
    called(each)
POWERS = classes_of(si.PPoly, _interpolate)[-1]  # which has what is computed


def raised(c, breaks):
    """Return the coefficients of the continuous antiderivative that begins with 0."""
    p = np.arange(len(c), 0, -1.0)[:, None]
    parts = c / p[:, :, None]
    gains = np.einsum("jp,jpm->pm", np.diff(breaks) ** p, parts)
    constant = np.concatenate([np.zeros_like(gains[:1]), np.cumsum(gains, axis=0)[:-1]])
    return np.concatenate([parts, constant[None]])


def pull_raised(c, breaks, dy):
    """Return the cotangents of coefficients and breakpoints from those of an antiderivative's."""
    p = np.arange(len(c), 0, -1.0)[:, None]
    width = np.diff(breaks)
    dgains = np.concatenate([np.cumsum(dy[-1, :0:-1], axis=0)[::-1], np.zeros_like(dy[-1, :1])])
    dparts = dy[:-1] + (width**p)[:, :, None] * dgains
    parts = c / p[:, :, None]
    slopes = np.einsum("jp,jpm->pm", p * width ** (p - 1), parts)
    dwidth = np.sum(np.conj(slopes) * dgains, axis=1).real
    none = np.zeros(1)
    dbreaks = np.concatenate([none, dwidth]) - np.concatenate([dwidth, none])
    return dparts / p[:, :, None], dbreaks


@rule(POWERS.antiderivative)
def _(self: POWERS, nu=1):
    y = self.antiderivative(nu)

    def pullback(dy):
        dc, dx = fields_in(dy, y, "c", "x")
        c, breaks = in_columns(np.asarray(self.c)), np.asarray(self.x)
        dbreaks = np.zeros(len(breaks)) if dx is None else dx
        dc = np.zeros(np.shape(y.c)) if dc is None else dc
        dc = in_columns(dc)
        if nu <= 0:
            factors = powers(np.ones(1), len(c), -nu)[0, : max(len(c) + nu, 0)]
            lost = np.zeros((len(c) - len(factors), *dc.shape[1:]))
            dc = np.concatenate([factors[:, None, None] * dc[: len(factors)], lost])
        else:
            steps = [c]
            for _ in range(nu - 1):
                steps.append(raised(steps[-1], breaks))
            for step in reversed(steps):
                dc, dmore = pull_raised(step, breaks, dc)
                dbreaks = dbreaks + dmore
        return (cotangent(self, dc, dbreaks),)

    return y, pullback


@rule(POWERS.integrate)
def _(self: POWERS, a: float, b: float, extrapolate=None):
    y = self.integrate(a, b, extrapolate)
    mode = self.extrapolate if extrapolate is None else extrapolate

    def pullback(dy):
        c, breaks = in_columns(np.asarray(self.c)), np.asarray(self.x)
        ends = ends_of(breaks)
        weights, *places = parts_of_integral(a, b, ends, isinstance(mode, str)).T
        rows = weights[:, None] * np.reshape(dy, (1, c.shape[2]))
        low, high = min(ends), max(ends)
        if not mode and not (low <= a <= high and low <= b <= high):
            rows = np.zeros_like(rows)  # the value is not a number
        above = raised(c, breaks)
        x = np.stack(places).T @ np.array([a, b, *ends], float)
        dabove, dbreaks, dx = pull_values(self, above, breaks, x, 0, rows)
        da, db, *dends = np.stack(places) @ dx
        dc, dmore = pull_raised(c, breaks, dabove)
        dbreaks = with_ends(dbreaks + dmore, *dends)
        return cotangent(self, dc, dbreaks), project(da, a), project(db, b)

    return y, pullback


@rule(POWERS.solve)
def _(self: POWERS, *, discontinuity=True, extrapolate=None):
    found = self.solve(0.0, discontinuity, extrapolate)
    return found, lambda dfound: pull_roots(self, 0.0, found, dfound)[:1]


@rule(POWERS.solve)
def _(self: POWERS, y: float, discontinuity=True, extrapolate=None):
    found = self.solve(y, discontinuity, extrapolate)
    return found, lambda dfound: pull_roots(self, y, found, dfound)


def pull_roots(poly, y, found, dfound):
    """Return the cotangents of a piecewise polynomial, and of its value at the roots."""
    c, breaks = in_columns(np.asarray(poly.c)), np.asarray(poly.x)
    if np.ndim(poly.c) > 2:
        raise NotImplementedError(
            "scipy.interpolate.PPoly.solve has a rule for one polynomial: take one column of "
            "the coefficients at a time"
        )
    if np.any(np.isnan(found)):
        raise np.linalg.LinAlgError(
            "scipy.interpolate.PPoly.solve has found an interval of roots: they have no derivative"
        )
    at = pieces_at(breaks, found)
    starts = breaks[at] == found
    matches = matching(c, breaks, found, at, y)
    before = np.where(starts & ~matches, np.maximum(at - 1, 0), at)
    jumps = starts & ~matches & ~matching(c, breaks, found, before, y)
    at = np.where(jumps, at, before)
    if not np.all(jumps | matching(c, breaks, found, at, y)):
        raise np.linalg.LinAlgError("a root that scipy.interpolate.PPoly.solve has found is none")
    pieces = np.moveaxis(c[:, :, 0], 1, 0)[at]
    h = found - breaks[at]
    slopes = np.sum(powers(h, len(c), 1) * pieces, axis=1)
    if np.any((slopes == 0) & ~jumps & (dfound != 0)):
        raise np.linalg.LinAlgError(
            "scipy.interpolate.PPoly.solve has found a double root: it has no derivative"
        )
    moved = np.where(jumps, 0.0, dfound / np.where(jumps | (slopes == 0), 1.0, slopes))
    dc = np.zeros((c.shape[1], c.shape[0]))
    np.add.at(dc, at, -moved[:, None] * powers(h, len(c), 0))
    dbreaks = np.zeros(len(breaks))
    np.add.at(dbreaks, at, dfound)
    dc = np.moveaxis(dc, 0, 1)[:, :, None]
    return cotangent(poly, dc, dbreaks), project(np.sum(moved), y)


def matching(c, breaks, found, at, y):
    """Return whether polynomials have the value `y` at places, up to rounding."""
    each = powers(found - breaks[at], len(c), 0) * np.moveaxis(c[:, :, 0], 1, 0)[at]
    size = np.sum(np.abs(each), axis=1) + abs(y)
    return np.abs(np.sum(each, axis=1) - y) <= NEAR * size
