"""Data anywhere: interpolation on triangles, the nearest neighbour, radial functions."""

import numpy as np
from scipy import interpolate as si
from scipy.interpolate import _interpnd, _rbfinterp_np

from rules_scipy.shared.interpolation.instances import fields_in, tangent_of
from rules_scipy.shared.solvers import entries_of
from rulescore import Array, Numeric, RuleSet, project, stop_gradient

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.interpolate.scattered")
Given = Numeric | list | tuple
SITES = "on them depends which triangles there are; differentiate by the values and the point"


@rule(_interpnd._ndim_coords_from_arrays)
def _(points: Given, ndim=None):
    y = _interpnd._ndim_coords_from_arrays(points, ndim)

    def pullback(dy):
        is_inside = isinstance(points, tuple) and len(points) == 1
        inner = points[0] if is_inside else points
        if isinstance(inner, tuple):
            dinner = tuple(project(dy[..., i], x) for i, x in enumerate(inner))
        else:
            dinner = project(np.reshape(dy, np.shape(inner)), inner)
        return ((dinner,) if is_inside else dinner,)

    return y, pullback


def pull_made(dmade, made, values):
    """Return the cotangent of the values that an interpolator was made of."""
    (d,) = fields_in(dmade, made, "values")
    return None if d is None else project(np.reshape(d, np.shape(values)), values)


@rule(si.LinearNDInterpolator, refuses={"points": SITES})
def _(points: object, values: Given, fill_value=np.nan, rescale=False):
    made = si.LinearNDInterpolator(points, values, fill_value, rescale)
    return made, lambda dmade: (None, pull_made(dmade, made, values))


@rule(si.CloughTocher2DInterpolator, refuses={"points": SITES})
def _(points: object, values: Given, fill_value=np.nan, tol=1e-6, maxiter=400, rescale=False):
    made = si.CloughTocher2DInterpolator(points, values, fill_value, tol, maxiter, rescale)
    return made, lambda dmade: (None, pull_made(dmade, made, values))


@rule(si.NearestNDInterpolator)
def _(x: object, y: Given, rescale=False, tree_options=None):
    made = si.NearestNDInterpolator(x, y, rescale, tree_options)
    return made, lambda dmade: (None, pull_made(dmade, made, y))


def places_of(made, args):
    """Return the places of a call, for each a row, in the units of the triangulation."""
    found = _interpnd._ndim_coords_from_arrays(args, ndim=made.points.shape[1])
    rows = np.reshape(found, (-1, found.shape[-1]))
    offset, scale = units_of(made)
    return rows if scale is None else (rows - offset) / scale


def triangles_of(tri, x, **options):
    """Return the number of the triangle that each place is in, -1 for none."""
    return tri.find_simplex(x, **options)


def units_of(made):
    """Return the origin and the units of the triangulation; `None` where they are the user's."""
    return None if made.scale is None else made.offset, made.scale


def triangulation(made):
    """Return the triangulation of the sites, by which there is no derivative."""
    return made.tri


rule.constant(triangles_of, units_of, triangulation)


def to_args(dx, args):
    """Return the cotangents of the arguments of a call from those of places in rows."""
    if len(args) == 1 and not isinstance(args[0], tuple):
        return (project(dx.reshape(np.shape(args[0])), args[0]),)
    each = args[0] if len(args) == 1 else args
    shape = np.broadcast_shapes(*map(np.shape, each))
    found = tuple(project(dx[:, i].reshape(shape), x) for i, x in enumerate(each))
    return (found,) if len(args) == 1 else found


@rule.of_instances
def _(made: si.LinearNDInterpolator, *args: Given, **options):
    y = made(*args, **options)

    def pullback(dy):
        x, values, tri = places_of(made, args), np.asarray(made.values), triangulation(made)
        tolerance = 100 * np.finfo(float).eps * options.get("simplex_tolerance", 1.0)
        simplex = triangles_of(tri, x, tol=tolerance)
        inside = (simplex >= 0)[:, None]
        rows = np.where(inside, np.reshape(dy, (len(x), values.shape[1])), 0.0)
        corners, transform = tri.simplices[simplex], tri.transform[simplex]
        transform = np.where(inside[:, :, None], transform, 0.0)
        size = x.shape[1]
        first = np.einsum("pij,pj->pi", transform[:, :size], x - transform[:, size])
        weights = np.concatenate([first, 1 - np.sum(first, axis=1, keepdims=True)], axis=1)
        dvalues = np.zeros(values.shape, rows.dtype)
        np.add.at(dvalues, corners, weights[:, :, None] * rows[:, None, :])
        at = values[corners]
        dfirst = np.einsum("pim,pm->pi", np.conj(at[:, :size] - at[:, size:]), rows).real
        dx = np.einsum("pij,pi->pj", transform[:, :size], dfirst)
        _, scale = units_of(made)
        dx = dx if scale is None else dx / scale
        return tangent_of(made, values=project(dvalues, made.values)), *to_args(dx, args)

    return y, pullback


@rule.of_instances
def _(made: si.CloughTocher2DInterpolator, *args: Given, **options):
    y = made(*args, **options)

    def pullback(dy):
        x, values, tri = places_of(made, args), np.asarray(made.values), triangulation(made)
        # what it gives for unit values: it is linear, but for when an iteration ends
        of_units = si.CloughTocher2DInterpolator(tri, np.eye(len(values)), 0.0, 1e-12, 4000)
        simplex = triangles_of(tri, x)
        inside = (simplex >= 0)[:, None]
        rows = np.where(inside, np.reshape(dy, (len(x), values.shape[1])), 0.0)
        dvalues = np.where(inside, of_units(x), 0.0).T @ rows
        slopes = np.zeros((*rows.shape, 2), rows.dtype)
        (at,) = np.nonzero(inside[:, 0])
        slopes[at] = cubic_slopes(made, x[at], simplex[at])
        dx = np.einsum("pmj,pm->pj", np.conj(slopes), rows).real
        _, scale = units_of(made)
        dx = dx if scale is None else dx / scale
        return tangent_of(made, values=project(dvalues, made.values)), *to_args(dx, args)

    return y, pullback


LATTICE = np.array([(i, j, 3 - i - j) for i in range(4) for j in range(4 - i)])  # powers, too
WITHIN = 0.8 * LATTICE / 3 + 0.2 / 3


def cubic_slopes(made, x, simplex):
    """Return the gradients of a Clough-Tocher interpolant at places in triangles.

    Each triangle has three parts, with its center as a corner, on which the interpolant is a cubic
    polynomial: it is found from ten values.
    """
    tri, each = triangulation(made), np.arange(len(x))
    transform = tri.transform[simplex]
    first = np.einsum("pij,pj->pi", transform[:, :2], x - transform[:, 2])
    parts = np.append(first, 1 - np.sum(first, axis=1, keepdims=True), axis=1)
    turned = np.append(transform[:, :2], -np.sum(transform[:, :2], axis=1, keepdims=True), axis=1)
    k = np.argmin(parts, axis=1)
    others = np.stack([(k + 1) % 3, (k + 2) % 3])
    corners = tri.points[tri.simplices[simplex]]
    of_part = np.stack([*corners[each, others], np.mean(corners, axis=1)], axis=1)
    samples = np.einsum("sc,pcj->psj", WITHIN, of_part)
    offset, scale = units_of(made)
    samples = samples if scale is None else samples * scale + offset
    found = made(samples).reshape(len(x), len(WITHIN), made.values.shape[1])
    powers = LATTICE[:, :2]
    found = np.linalg.inv(monomials(WITHIN[:, :2], powers)) @ found
    u = (parts[each, others] - parts[each, k]).T
    du = turned[each, others] - turned[each, k]  # by the place, for both coordinates in a part
    slopes = 0.0
    for axis in range(2):
        lower = np.maximum(powers - (np.arange(2) == axis), 0)
        values = np.einsum("ps,psm->pm", powers[:, axis] * monomials(u, lower), found)
        slopes = slopes + values[:, :, None] * du[axis][:, None, :]
    return slopes


@rule.of_instances
def _(made: si.NearestNDInterpolator, *args: Given, **options):
    y = made(*args, **options)

    def pullback(dy):
        distances, at = made.tree.query(places_of(made, args), **options)
        known = np.isfinite(distances)
        values = made.values
        dvalues = np.zeros(np.shape(values), np.result_type(dy, float))
        rows = np.reshape(dy, (*known.shape, *np.shape(values)[1:]))
        np.add.at(dvalues, at[known], rows[known])
        return tangent_of(made, values=project(dvalues, values)), *(None for _ in args)

    return y, pullback


# by the square of the distance: the function, and its derivative times two
RADIAL = {
    "linear": (lambda s: -np.sqrt(s), lambda s: -1 / np.sqrt(s)),
    "thin_plate_spline": (lambda s: s * np.log(s) / 2, lambda s: np.log(s) + 1),
    "cubic": (lambda s: s * np.sqrt(s), lambda s: 3 * np.sqrt(s)),
    "quintic": (lambda s: -s * s * np.sqrt(s), lambda s: -5 * s * np.sqrt(s)),
    "multiquadric": (lambda s: -np.sqrt(s + 1), lambda s: -1 / np.sqrt(s + 1)),
    "inverse_multiquadric": (lambda s: 1 / np.sqrt(s + 1), lambda s: -((s + 1) ** -1.5)),
    "inverse_quadratic": (lambda s: 1 / (s + 1), lambda s: -2 / (s + 1) ** 2),
    "gaussian": (lambda s: np.exp(-s), lambda s: -2 * np.exp(-s)),
}
AT_ZERO = {"multiquadric": -1.0, "inverse_multiquadric": 1.0, "inverse_quadratic": 1.0,
           "gaussian": 1.0}  # fmt: skip


def radial(x, y, kernel, epsilon):
    """Return the values of a radial function, and what multiplies differences in its gradient.

    At a site that is 0: the functions that are not smooth there have an extremum, or are flat.
    """
    square = np.sum((epsilon * (x[:, None] - y)) ** 2, axis=2)
    off = square > 0
    square = np.where(off, square, 1.0)
    value, slope = RADIAL[kernel]
    values = np.where(off, value(square), AT_ZERO.get(kernel, 0.0))
    return values, np.where(off, slope(square), 0.0)


def pull_radial(x, y, epsilon, slopes, dvalues):
    """Return the cotangents of places, sites and `epsilon` from those of radial functions."""
    weights = epsilon**2 * slopes * dvalues
    dx = np.sum(weights, axis=1)[:, None] * x - weights @ y
    dy = np.sum(weights, axis=0)[:, None] * y - weights.T @ x
    return dx, dy, (np.sum(dx * x) + np.sum(dy * y)) / epsilon


def monomials(x, powers):
    """Return monomials at places, for each place a row."""
    return np.prod(x[:, None] ** powers, axis=2)


def pull_monomials(x, powers, d):
    """Return the cotangents of places from those of monomials."""
    found = []
    for axis in range(x.shape[1]):
        unit = np.arange(x.shape[1]) == axis
        lower = np.maximum(powers - unit, 0)
        found.append(np.sum(d * powers[:, axis] * monomials(x, lower), axis=1))
    return np.stack(found, axis=1)


# What shifts and scales the monomials does not change what they span, and the interpolant is the
# same without it: here and where it is evaluated both count as constants.
@rule(_rbfinterp_np._build_and_solve_system)
def _(
    y: Array,
    d: Array,
    smoothing: Array,
    kernel: str,
    epsilon: float,
    powers: Array,
    xp: object,
):
    found = _rbfinterp_np._build_and_solve_system(y, d, smoothing, kernel, epsilon, powers, xp)

    def pullback(dfound):
        shift, scale, coeffs = stop_gradient(found[0]), stop_gradient(found[1]), found[2]
        (dcoeffs,) = entries_of(dfound, si.RBFInterpolator, True, (2,))
        if dcoeffs is None:
            return (None,) * 7
        count = len(y)
        values, slopes = radial(y, y, kernel, epsilon)
        scaled = (y - shift) / scale
        sides = monomials(scaled, powers)
        none = np.zeros((len(powers), len(powers)))
        matrix = np.concatenate(
            [
                np.concatenate([values + np.diag(smoothing), sides], axis=1),
                np.concatenate([sides.T, none], axis=1),
            ]
        )
        u = np.linalg.solve(matrix.T, dcoeffs)
        dmatrix = -u @ coeffs.T
        dx, dsites, depsilon = pull_radial(y, y, epsilon, slopes, dmatrix[:count, :count])
        dsides = dmatrix[:count, count:] + dmatrix[count:, :count].T
        dsites = dx + dsites + pull_monomials(scaled, powers, dsides) / scale
        return (
            project(dsites, y),
            project(u[:count], d),
            project(np.diagonal(dmatrix)[:count], smoothing),
            None,
            project(depsilon, epsilon),
            None,
            None,
        )

    return found, pullback


@rule(_rbfinterp_np._build_evaluation_coefficients)
def _(
    x: Array,
    y: Array,
    kernel: str,
    epsilon: float,
    powers: Array,
    shift: Array,
    scale: Array,
    xp: object,
):
    rows = _rbfinterp_np._build_evaluation_coefficients(
        x, y, kernel, epsilon, powers, shift, scale, xp
    )

    def pullback(drows):
        _, slopes = radial(x, y, kernel, epsilon)
        dx, dy, depsilon = pull_radial(x, y, epsilon, slopes, drows[:, : len(y)])
        width = stop_gradient(scale)
        scaled = (x - stop_gradient(shift)) / width
        dx = dx + pull_monomials(scaled, powers, drows[:, len(y) :]) / width
        found = project(dx, x), project(dy, y), None, project(depsilon, epsilon)
        return *found, None, None, None, None

    return rows, pullback
