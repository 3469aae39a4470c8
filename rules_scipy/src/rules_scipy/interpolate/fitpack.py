"""Splines by FITPACK: `splrep`, `splev` and their kin, and the classes that are made on them.

A spline is a tuple of knots, coefficients and the degree. Knots are places of the data, as long as
the spline interpolates; a spline that smooths is refused.
"""

import numpy as np
from scipy import interpolate as si
from scipy.interpolate import _fitpack_impl

from rules_scipy.interpolate.splines import pull_integral
from rules_scipy.shared.interpolation.bsplines import Basis
from rules_scipy.shared.interpolation.instances import added
from rules_scipy.shared.interpolation.interpolating import (
    not_a_knot,
    periodic,
    pull_fit,
    pull_interpolation,
    pull_periodic,
    with_ends,
)
from rules_scipy.shared.solvers import entries_of, name_of, solver
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.interpolate.fitpack")
Given = Numeric | list | tuple
SMOOTHS = "has a rule for splines that interpolate, or that have knots: give s=0, or `t`"


class Curve:
    """Hold the spline, or the splines of several coordinates, that a tuple stands for.

    Arguments:
        tck: the knots, the coefficients, and the degree.

    Attributes:
        t, k: the knots and the degree.
        c: the coefficients that have an influence, in columns.
    """

    def __init__(self, tck):
        self.tck = tck
        self.t, c, self.k = np.asarray(tck[0], float), *tck[1:]
        self.several = np.ndim(c[0]) > 0
        count = len(self.t) - self.k - 1
        self.c = np.stack([each[:count] for each in c], 1) if self.several else c[:count, None]

    def rows(self, dy, size):
        """Return the cotangents of values at `size` places, for each place a row."""
        each = dy if self.several else [dy]
        each = [np.zeros(size) if d is None else np.reshape(d, size) for d in each]
        return np.stack(each, axis=1)

    def cotangent(self, dt, dc):
        """Return the cotangent of the tuple."""
        t, c, _ = self.tck
        each = c if self.several else [c]
        found = [
            np.concatenate([d, np.zeros(len(one) - len(d))])
            for d, one in zip(dc.T, each, strict=True)
        ]
        dc = project(found if self.several else found[0], c)
        entries = [project(dt, t), dc, None]
        return entries if isinstance(self.tck, list) else tuple(entries)


@rule(_fitpack_impl.splev)
def _(x: Given, tck: list | tuple, der=0, ext=0):
    y = _fitpack_impl.splev(x, tck, der, ext)

    def pullback(dy):
        curve = Curve(tck)
        t, k, at = curve.t, curve.k, np.ravel(np.asarray(x, float))
        rows = curve.rows(dy, len(at))
        before, behind = at < t[k], at > t[-k - 1]
        if ext == 1:
            rows = np.where((before | behind)[:, None], 0.0, rows)
        held = ext == 3 and der == 0
        if held:
            at = np.where(before, t[k], np.where(behind, t[-k - 1], at))
        basis = Basis(t, k, at, der)
        dt, dx = basis.pull_splines(rows, curve.c)
        if held:
            dt = with_ends(dt, np.sum(dx[before]), np.sum(dx[behind]), k)
            dx = np.where(before | behind, 0.0, dx)
        dc = basis.of_adjoint(rows, len(curve.c))
        return project(dx.reshape(np.shape(x)), x), curve.cotangent(dt, dc)

    return y, pullback


@rule(_fitpack_impl.splint)
def _(a: float, b: float, tck: list | tuple, full_output=0):
    y = _fitpack_impl.splint(a, b, tck, full_output)

    def pullback(dy):
        curve = Curve(tck)
        whole = bool(full_output) and not curve.several
        (dy,) = entries_of(dy, si.splint, whole, (0,))
        rows = curve.rows(dy, 1)
        da, db, dc, dt = pull_integral(curve.t, curve.c, curve.k, a, b, False, rows)
        return project(da, a), project(db, b), curve.cotangent(dt, dc)

    return y, pullback


@rule(_fitpack_impl.sproot)
def _(tck: list | tuple, mest=10):
    roots = _fitpack_impl.sproot(tck, mest)

    def pullback(droots):
        curve = Curve(tck)
        each = zip(roots, droots, strict=True) if curve.several else [(roots, droots)]
        dt, columns = np.zeros(len(curve.t)), []
        for i, (found, d) in enumerate(each):
            c = curve.c[:, i : i + 1]
            slopes = Basis(curve.t, curve.k, found, 1).of(c)[:, 0]
            d = np.zeros(len(found)) if d is None else d
            if np.any((slopes == 0) & (d != 0)):
                raise np.linalg.LinAlgError(
                    "scipy.interpolate.sproot has found a double root: it has no derivative"
                )
            moved = np.where(slopes == 0, 0.0, -d / np.where(slopes == 0, 1.0, slopes))[:, None]
            basis = Basis(curve.t, curve.k, found)
            dt = dt + basis.pull_splines(moved, c)[0]
            columns.append(basis.of_adjoint(moved, len(c)))
        return (curve.cotangent(dt, np.concatenate(columns, axis=1)),)

    return roots, pullback


@rule(_fitpack_impl.spalde)
def _(x: Given, tck: list | tuple):
    y = _fitpack_impl.spalde(x, tck)

    def pullback(dy):
        curve = Curve(tck)
        at = np.ravel(np.asarray(x, float))
        each = dy if curve.several else [dy]
        each = [of_places(d, len(at), curve.k) for d in each]
        dt, dx, dc = np.zeros(len(curve.t)), np.zeros(len(at)), np.zeros(curve.c.shape)
        for nu in range(curve.k + 1):
            rows = np.stack([d[:, nu] for d in each], axis=1)
            basis = Basis(curve.t, curve.k, at, nu)
            dknots, dplaces = basis.pull_splines(rows, curve.c)
            dt, dx, dc = dt + dknots, dx + dplaces, dc + basis.of_adjoint(rows, len(dc))
        return project(dx.reshape(np.shape(x)), x), curve.cotangent(dt, dc)

    return y, pullback


def of_places(d, size, k):
    """Return the cotangents of all derivatives at `size` places, for each place a row."""
    if d is None:
        return np.zeros((size, k + 1))
    if size == 1:
        return np.reshape(d, (1, k + 1))
    return np.stack([np.zeros(k + 1) if one is None else one for one in d])


class Data:
    """Pull the cotangents of knots and coefficients back to what a spline was made of.

    Arguments:
        given: the arguments of SciPy's function, by name.
        t, c, k: the knots, the coefficients, and the degree.
        ends: the ends of the interval, `None` where these are places of the data.
        fits: whether the knots were given.
    """

    def __init__(self, given, t, c, k, ends, fits):
        self.given, self.k, self.ends, self.fits = given, k, ends, fits
        self.t = np.asarray(t)
        self.c = np.asarray(c)[: len(t) - k - 1, None]

    def pulled(self, dt, dc):
        """Return the cotangents by name."""
        given, k = self.given, self.k
        x, y = (np.ravel(np.asarray(given[name], float)) for name in ("x", "y"))
        w = given["w"]
        dt = np.zeros(len(self.t)) if dt is None else dt
        dc = np.zeros(len(self.c)) if dc is None else dc
        dc = dc[: len(self.c), None]
        if self.fits:
            weights = np.ones(len(x)) if w is None else np.asarray(w, float)
            dy, dx, dknots, dw = pull_fit(self.t, k, self.c, x, y[:, None], weights, dc)
        else:
            dy, _, _, dx, dknots = pull_interpolation(self.t, k, self.c, x, dc)
            dw = np.zeros(len(x))
        dt = dt + dknots
        dends = np.sum(dt[: k + 1]), np.sum(dt[-k - 1 :])
        inner = np.where((np.arange(len(dt)) > k) & (np.arange(len(dt)) < len(dt) - k - 1), dt, 0.0)
        if not self.fits:
            dx = dx + not_a_knot(len(x), k).pull(inner, len(x))
        first, last = (d if end is None else 0.0 for d, end in zip(dends, self.ends, strict=True))
        dx = with_ends(dx, first, last)
        found = {"x": like(dx, given["x"]), "y": like(dy, given["y"])}
        found["w"] = None if w is None else like(dw, w)
        if self.fits:
            found["t"] = like(inner[k + 1 : -k - 1], given["t"])
        for name, end, d in zip(("xb", "xe"), self.ends, dends, strict=True):
            found[name] = None if end is None else project(d, end)
        return found


class PeriodicData(Data):
    """Pull the cotangents of a periodic spline back: its knots are places, moved by periods."""

    def pulled(self, dt, dc):
        """Return the cotangents by name."""
        x = np.ravel(np.asarray(self.given["x"], float))
        dc = np.zeros(len(self.c)) if dc is None else dc[: len(self.c)]
        dy, dx, dknots = pull_periodic(self.t, self.k, self.c, x, dc[:, None])
        dknots = dknots if dt is None else dknots + dt
        dx = dx + periodic(len(x), self.k).pull(dknots, len(x))
        return {"x": like(dx, self.given["x"]), "y": like(dy, self.given["y"])}


def like(dx, x):
    """Return the cotangent of an argument that SciPy reads as a vector."""
    return project(np.reshape(dx, np.shape(x)), x)


@solver(rule, _fitpack_impl.splrep, by=("x", "y", "w", "xb", "xe", "t"), with_ad=False)
def _(made, given):
    s = given["s"]
    s = (0.0 if given["w"] is None else None) if s is None else s
    fits = given["t"] is not None
    if given["task"] == 1 or not (fits or s == 0):
        raise NotImplementedError(f"scipy.interpolate.splrep {SMOOTHS}")
    t, c, k = made[0] if given["full_output"] else made
    if given["per"]:
        if fits:
            raise NotImplementedError(
                "scipy.interpolate.splrep has no rule for knots of a period: use "
                "`make_interp_spline(x, y, bc_type='periodic')`"
            )
        data = PeriodicData(given, t, c, k, (), fits)
    else:
        data = Data(given, t, c, k, (given["xb"], given["xe"]), fits)

    def pullback(dmade):
        (dtck,) = entries_of(dmade, si.splrep, True, (0,)) if given["full_output"] else [dmade]
        return {} if dtck is None else data.pulled(dtck[0], dtck[1])

    return pullback


@solver(rule, _fitpack_impl.splprep, by=("x", "u"), with_ad=False, whole=True)
def _(_, given):
    if given["s"] != 0 or given["t"] is not None or given["task"]:
        raise NotImplementedError(
            "scipy.interpolate.splprep has a rule for curves that interpolate: give s=0, and "
            "neither `t` nor `task`; for a curve that smooths use `splrep` of each coordinate, "
            "with knots given"
        )
    if given["ub"] is not None or given["ue"] is not None:
        raise NotImplementedError(
            "scipy.interpolate.splprep has a rule without ub and ue: leave them out, and evaluate "
            "the curve between them"
        )
    x = np.transpose(given["x"])
    if given["per"] and np.any(x[0] != x[-1]):
        raise NotImplementedError(
            "scipy.interpolate.splprep writes the first point of a periodic curve to the last one: "
            "give points of which these two are equal"
        )
    made = _fitpack_impl.splprep(**given)
    (t, c, k), u = made[0] if given["full_output"] else made
    c = np.transpose(c)

    def pullback(dmade):
        if given["full_output"]:
            (dmade,) = entries_of(dmade, si.splprep, True, (0,))
        dtck, du = (None, None) if dmade is None else dmade
        dt, dc, _ = (None, None, None) if dtck is None else dtck
        dc = [None] * c.shape[1] if dc is None else dc
        dc = np.stack([np.zeros(len(c)) if d is None else d[: len(c)] for d in dc], axis=1)
        if given["per"]:
            knots = periodic(len(u), k)
            dvalues, dplaces, dknots = pull_periodic(t, k, c, u, dc)
        else:
            knots = not_a_knot(len(u), k)
            dvalues, _, _, dplaces, dknots = pull_interpolation(t, k, c, u, dc)
        dknots = dknots if dt is None else dknots + dt
        dplaces = dplaces + knots.pull(dknots, len(u))
        dplaces = dplaces if du is None else dplaces + du
        if given["u"] is None:
            dvalues = dvalues + of_lengths(x, u, dplaces)
        if given["per"]:  # SciPy reads the first point in the place of the last
            dvalues = with_ends(dvalues, dvalues[-1], -dvalues[-1])
        return {"x": project(dvalues.T, given["x"]), "u": like_or_none(dplaces, given["u"])}

    return made, pullback


def of_lengths(x, u, du):
    """Return the cotangents of points from those of the lengths of a line through them.

    The lengths `u` are parts of the whole.
    """
    steps = np.diff(x, axis=0)
    sizes = np.linalg.norm(steps, axis=1)
    whole = np.sum(sizes)
    dsizes = (np.cumsum(du[:0:-1])[::-1] - np.sum(du * u)) / whole
    moved = steps * (dsizes / sizes)[:, None]
    none = np.zeros((1, x.shape[1]))
    return np.concatenate([none, moved]) - np.concatenate([moved, none])


def like_or_none(dx, x):
    """Return the cotangent of an argument that SciPy reads as a vector, if it was given."""
    return None if x is None else like(dx, x)


def of_class(cls, smooths=False):
    """Declare the rule for making a spline of a class."""
    fits = cls is si.LSQUnivariateSpline

    @solver(rule, cls, by=("x", "y", "t", "w") if fits else ("x", "y", "w"), with_ad=False)
    def _(spline, given):
        if smooths and given["s"] != 0:
            raise NotImplementedError(f"{name_of(cls)} {SMOOTHS}")
        t, c, k = spline._eval_args
        data = Data(given, t, c, k, given["bbox"], fits)

        def pullback(dspline):
            dt, dc = arrays_in(dspline, spline)
            return {name: d for name, d in data.pulled(dt, dc).items() if name in given}

        return pullback


def arrays_in(dspline, spline):
    """Return the cotangents of the knots and the coefficients of an object."""
    held = {"_eval_args": (0, 1), "_data": (8, 9)}
    found = [None, None]
    for name, d in dspline.items():
        if d is None:
            continue
        places = held.get(name, ())
        entries = enumerate(d) if isinstance(d, tuple) else [(None, d)]
        for i, entry in entries:
            if entry is None or (i is not None and isinstance(getattr(spline, name)[i], int)):
                continue  # the degree is a choice
            if i not in places:
                raise NotImplementedError(
                    f"of what {name_of(type(spline))} holds only knots and coefficients carry a "
                    "gradient: compute other values by the spline, such as a residual"
                )
            at = places.index(i)
            found[at] = added(found[at], entry[: len(spline._eval_args[0])])
    return found


of_class(si.UnivariateSpline, smooths=True)
of_class(si.InterpolatedUnivariateSpline)
of_class(si.LSQUnivariateSpline)
