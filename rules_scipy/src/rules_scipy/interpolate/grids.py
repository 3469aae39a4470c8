"""Data on grids: `RegularGridInterpolator`, `interpn`, `NdBSpline` and `RectBivariateSpline`."""

import numpy as np
from scipy import interpolate as si
from scipy.interpolate import _fitpack2, _fitpack_impl, _ndbspline, _rgi_cython

from rules_scipy.interpolate.splines import pull_integral
from rules_scipy.shared.interpolation.bsplines import (
    Basis,
    derivatives,
    pull_derivatives,
    raised,
)
from rules_scipy.shared.interpolation.instances import fields_in, tangent_of
from rules_scipy.shared.interpolation.interpolating import (
    not_a_knot,
    pull_interpolation,
    with_ends,
)
from rules_scipy.shared.interpolation.piecewise import columns
from rules_scipy.shared.solvers import solver
from rulescore import Array, Numeric, RuleSet, project, stop_gradient

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.interpolate.grids")
Given = Numeric | list | tuple
SURFACE = _fitpack2._BivariateSplineBase


@rule(_rgi_cython.find_indices)
def _(grid: tuple, xi: Array):
    indices, shares = _rgi_cython.find_indices(grid, xi)

    def pullback(dy):
        dshares = dy[1]
        if dshares is None:
            return None, None
        dgrid, dxi = [], []
        for x, at, share, d in zip(grid, indices, shares, dshares, strict=True):
            width = x[at + 1] - x[at]
            slope = np.where(d == 0, 0.0, d / width)
            moved = np.where(d == 0, 0.0, slope * share)
            dx = np.zeros(len(x))
            np.add.at(dx, at, moved - slope)
            np.add.at(dx, at + 1, -moved)
            dgrid.append(project(dx, x))
            dxi.append(slope)
        return tuple(dgrid), project(np.stack(dxi), xi)

    return (indices, shares), pullback


@rule(_rgi_cython.evaluate_linear_2d)
def _(values: Array, indices: Array, norm_distances: Array, grid: object, out: Array):
    y = _rgi_cython.evaluate_linear_2d(values, indices, norm_distances, grid, np.empty_like(out))

    def pullback(dy):
        (i, j), (s, t) = indices, np.where(np.isnan(norm_distances), 0.0, norm_distances)
        dvalues = np.zeros(values.shape, dy.dtype)
        ds = dt = np.zeros(len(dy))
        for a, (u, du) in enumerate(((1 - s, -1.0), (s, 1.0))):
            for b, (v, dv) in enumerate(((1 - t, -1.0), (t, 1.0))):
                np.add.at(dvalues, (i + a, j + b), u * v * dy)
                along = (np.conj(values[i + a, j + b]) * dy).real
                ds, dt = ds + du * v * along, dt + u * dv * along
        shares = project(np.stack([ds, dt]), norm_distances)
        return project(dvalues, values), None, shares, None, None

    return y, pullback


class Tensor:
    """Hold the bases of a product of splines at places, each of its own axis.

    Arguments:
        t, k: the knots and the degree of each axis.
        x: the places, for each a row.
        nu: the order of the derivative by each axis.
    """

    def __init__(self, t, k, x, nu):
        self.bases = [Basis(*each) for each in zip(t, k, x.T, nu, strict=True)]

    def product(self, without=None):
        """Return the products of the B-splines, but for those of one axis, and their indices."""
        count, values, indices = len(self.bases), 1.0, []
        for axis, basis in enumerate(self.bases):
            shape = (-1, *(basis.k + 1 if i == axis else 1 for i in range(count)), 1)
            indices.append(basis.columns.reshape(shape[:-1]))
            if axis != without:
                values = values * basis.values.reshape(shape)
        return values, tuple(indices)

    def pull(self, dy, c):
        """Return the cotangents of the coefficients, of each axis's knots, and of the places."""
        values, indices = self.product()
        rows = dy.reshape(len(dy), *(1 for _ in self.bases), dy.shape[1])
        dc = np.zeros(c.shape, dy.dtype)
        np.add.at(dc, indices, values * rows)
        along = np.sum((np.conj(c[indices]) * rows).real, axis=-1, keepdims=True)
        dknots, dplaces = [], []
        for axis, basis in enumerate(self.bases):
            others = tuple(i + 1 for i in range(len(self.bases) + 1) if i != axis)
            dbasis = np.sum(self.product(axis)[0] * along, axis=others)
            dt, dx = basis.pull(dbasis)
            dknots.append(dt)
            dplaces.append(dx)
        return dc, dknots, np.stack(dplaces, axis=1)


def axes_of(spline):
    """Return the knots of each axis of a spline, which holds them in a padded matrix."""
    return [t[:size] for t, size in zip(spline._t, spline._len_t, strict=True)]


@rule.of_instances
def _(spline: si.NdBSpline, xi: Given, *, nu=None, extrapolate=None):
    y = spline(xi, nu=nu, extrapolate=extrapolate)

    def pullback(dy):
        t, k, size = axes_of(spline), spline._k, len(spline._k)
        c = spline._c.reshape(*spline._c.shape[:size], int(np.prod(spline._c.shape[size:])))
        x = np.reshape(np.asarray(xi, float), (-1, size))
        rows = np.reshape(dy, (len(x), c.shape[-1]))
        if not (spline.extrapolate if extrapolate is None else extrapolate):
            ends = [(each[d], each[-d - 1]) for each, d in zip(t, k, strict=True)]
            inside = [(a <= z) & (z <= b) for z, (a, b) in zip(x.T, ends, strict=True)]
            inside = np.all(inside, axis=0)[:, None]
            rows, x = np.where(inside, rows, 0.0), np.where(inside, x, [a for a, _ in ends])
        tensor = Tensor(t, k, x, np.zeros(size, int) if nu is None else nu)
        dc, dknots, dx = tensor.pull(rows, c)
        width = spline._t.shape[1]
        dt = np.stack([np.concatenate([d, np.zeros(width - len(d))]) for d in dknots])
        dspline = tangent_of(spline, c=project(dc.reshape(spline._c.shape), spline._c), t=dt)
        return dspline, project(dx.reshape(np.shape(xi)), xi)

    return y, pullback


def pull_tensor(t, k, c, x, dc):
    """Return the cotangents of values on a grid, of its places, and of the knots.

    Arguments:
        t, k: the knots and the degree of each axis.
        c: the coefficients of the spline that has the values.
        x: the places of each axis.
        dc: the cotangents of the coefficients.
    """
    dx, dt = [None] * len(x), [None] * len(x)
    for axis in reversed(range(len(x))):
        front = np.moveaxis(c, axis, 0)
        dfront = np.moveaxis(dc, axis, 0)
        values = Basis(t[axis], k[axis], x[axis]).of(columns(front)).reshape(front.shape)
        dvalues, _, _, dx[axis], dt[axis] = pull_interpolation(
            t[axis], k[axis], columns(front), x[axis], columns(dfront)
        )
        c = np.moveaxis(values, 0, axis)
        dc = np.moveaxis(dvalues.reshape(front.shape), 0, axis)
    return dc, dx, dt


@rule(_ndbspline.make_ndbspl)
def _(points: tuple, values: Array, k=3, **solver_options):
    spline = _ndbspline.make_ndbspl(points, values, k, **solver_options)

    def pullback(dspline):
        dc, dknots = fields_in(dspline, spline, "c", "t")
        t, degrees, c = axes_of(spline), [int(k) for k in spline._k], spline._c
        dc = np.zeros(c.shape) if dc is None else dc
        places = [np.asarray(x, float) for x in points]
        dvalues, dx, dt = pull_tensor(t, degrees, c, places, dc)
        for axis, x in enumerate(places):
            more = dt[axis] if dknots is None else dt[axis] + dknots[axis][: len(dt[axis])]
            dx[axis] = dx[axis] + not_a_knot(len(x), degrees[axis]).pull(more, len(x))
        dx = tuple(project(d, x) for d, x in zip(dx, points, strict=True))
        return dx, project(dvalues, values)

    return spline, pullback


def held(x, t, k):
    """Return places in the interval of the knots, and where they were before or behind it."""
    before, behind = x < t[k], x > t[-k - 1]
    return np.where(before, t[k], np.where(behind, t[-k - 1], x)), before, behind


def to_ends(dt, k, dx, before, behind):
    """Return the cotangents of knots, with those of places that were moved to the ends."""
    return with_ends(dt, np.sum(dx[before]), np.sum(dx[behind]), k)


def surface(made):
    """Return the knots, the degrees and the matrix of coefficients of a surface."""
    t, k = made.tck[:2], stop_gradient(made.degrees)
    return t, k, made.tck[2].reshape(len(t[0]) - k[0] - 1, len(t[1]) - k[1] - 1)


def surface_cotangent(made, dknots, dc):
    """Return the cotangent of a surface."""
    given = zip((*dknots, np.ravel(dc)), made.tck, strict=True)
    return tangent_of(made, tck=tuple(project(d, x) for d, x in given))


def pull_values(t, k, c, at, nu, grid, dz):
    """Return the cotangents of knots, coefficients and places from those of a surface's values.

    Arguments:
        t, k, c: the knots and the degrees of both axes, and the matrix of coefficients.
        at: the places along both axes.
        nu: the orders of the derivative.
        grid: whether the places are those of a grid; otherwise they are pairs.
        dz: the cotangent of the values.
    """
    (tx, ty), (kx, ky) = t, k
    at = [np.asarray(each, float) for each in at]
    if not grid:
        at = np.broadcast_arrays(*at)
    at_x, *off_x = held(np.ravel(at[0]), tx, kx)
    at_y, *off_y = held(np.ravel(at[1]), ty, ky)
    if grid:
        bx, by = Basis(tx, kx, at_x, nu[0]), Basis(ty, ky, at_y, nu[1])
        rows = bx.of(c)
        dz = np.reshape(dz, (len(at_x), len(at_y)))
        dty, dplaces_y = by.pull_splines(dz.T, rows.T)
        drows = by.of_adjoint(dz.T, c.shape[1]).T
        dtx, dplaces_x = bx.pull_splines(drows, c)
        dc = bx.of_adjoint(drows, c.shape[0])
    else:
        tensor = Tensor(t, k, np.stack([at_x, at_y], axis=1), nu)
        dc, (dtx, dty), dplaces = tensor.pull(np.reshape(dz, (-1, 1)), c[:, :, None])
        dplaces_x, dplaces_y = dplaces.T
    dt = to_ends(dtx, kx, dplaces_x, *off_x), to_ends(dty, ky, dplaces_y, *off_y)
    dplaces_x = np.where(off_x[0] | off_x[1], 0.0, dplaces_x)
    dplaces_y = np.where(off_y[0] | off_y[1], 0.0, dplaces_y)
    return dt, dc, dplaces_x.reshape(at[0].shape), dplaces_y.reshape(at[1].shape)


def evaluated(made: SURFACE, x: Given, y: Given, dx=0, dy=0, grid=True):
    """Return the values of a surface, and their pullback."""
    z = SURFACE.__call__(made, x, y, dx, dy, grid)

    def pullback(dz):
        dt, dc, dplaces_x, dplaces_y = pull_values(*surface(made), (x, y), (dx, dy), grid, dz)
        return surface_cotangent(made, dt, dc), project(dplaces_x, x), project(dplaces_y, y)

    return z, pullback


rule.of_instances(evaluated)
rule(SURFACE.__call__)(evaluated)  # as `ev` calls it


@rule(_fitpack_impl.bisplev)
def _(x: Given, y: Given, tck: list | tuple, dx=0, dy=0):
    z = _fitpack_impl.bisplev(x, y, tck, dx, dy)

    def pullback(dz):
        t, k = [np.asarray(each, float) for each in tck[:2]], tck[3:]
        c = np.reshape(tck[2], [len(each) - degree - 1 for each, degree in zip(t, k, strict=True)])
        dt, dc, dplaces_x, dplaces_y = pull_values(t, k, c, (x, y), (dx, dy), True, dz)
        parts = zip((*dt, np.ravel(dc)), tck, strict=False)
        dtck = type(tck)([*(project(d, each) for d, each in parts), None, None])
        return project(dplaces_x, x), project(dplaces_y, y), dtck

    return z, pullback


@rule(si.BivariateSpline.integral)
def _(self: si.BivariateSpline, xa: float, xb: float, ya: float, yb: float):
    value = self.integral(xa, xb, ya, yb)

    def pullback(dvalue):
        (tx, ty), (kx, ky), c = surface(self)
        limits = np.clip(np.array([xa, xb], float), tx[kx], tx[-kx - 1])
        above_t, above_c = raised(tx, c, kx)
        along = np.diff(Basis(above_t, kx + 1, limits).of(above_c), axis=0)[0]
        dya, dyb, dalong, dty = pull_integral(ty, along, ky, ya, yb, False, dvalue)
        dxa, dxb, dc, dtx = pull_integral(tx, c, kx, xa, xb, False, dalong)
        limits = zip((dxa, dxb, dya, dyb), (xa, xb, ya, yb), strict=True)
        return surface_cotangent(self, (dtx, dty), dc), *(project(d, x) for d, x in limits)

    return value, pullback


@rule(SURFACE.partial_derivative)
def _(self: SURFACE, dx: int, dy: int):
    made = self.partial_derivative(dx, dy)

    def pullback(dmade):
        found = dmade if made is self else fields_in(dmade, made, "tck")[0]
        if made is self or found is None:
            return found, None, None
        (tx, ty), (kx, ky), c = surface(self)
        along = derivatives(tx, c, kx, dx)
        across = derivatives(ty, along[-1][1].T, ky, dy)
        dtx, dty, dc = [np.zeros(len(x)) if d is None else d
                        for d, x in zip(found, made.tck, strict=True)]  # fmt: skip
        dty, dc = pull_derivatives(across, dty, np.reshape(dc, across[-1][1].T.shape).T)
        dtx, dc = pull_derivatives(along, dtx, dc.T)
        return surface_cotangent(self, (dtx, dty), dc), None, None

    return made, pullback


@solver(rule, si.RectBivariateSpline, by=("x", "y", "z"), with_ad=False)
def _(made, given):
    if given["s"] != 0:
        raise NotImplementedError(
            "scipy.interpolate.RectBivariateSpline has a rule for s=0: give that"
        )

    def pullback(dmade):
        found = fields_in(dmade, made, "tck")[0]
        if found is None:
            return {}
        t, k, c = surface(made)
        dknots = [
            np.zeros(len(each)) if d is None else d for d, each in zip(found, t, strict=False)
        ]
        dc = np.zeros(c.size) if found[2] is None else found[2]
        places = [np.ravel(np.asarray(given[name], float)) for name in "xy"]
        dz, dplaces, dt = pull_tensor(t, k, c, places, dc.reshape(c.shape))
        result = {"z": project(dz, given["z"])}
        for axis, name in enumerate("xy"):
            size, degree, more = len(places[axis]), k[axis], dt[axis] + dknots[axis]
            numbers = np.arange(len(more))
            inner = (numbers > degree) & (numbers < len(more) - degree - 1)
            dx = dplaces[axis] + not_a_knot(size, degree).pull(np.where(inner, more, 0.0), size)
            ends = list(given["bbox"])[2 * axis : 2 * axis + 2]
            sums = np.sum(more[: degree + 1]), np.sum(more[-degree - 1 :])
            dx = with_ends(dx, *(d if e is None else 0.0 for d, e in zip(sums, ends, strict=True)))
            result[name] = project(dx.reshape(np.shape(given[name])), given[name])
        return result

    return pullback
