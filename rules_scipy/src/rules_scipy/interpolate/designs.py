"""Splines by equations of SciPy's own: design matrices, knots that are inserted, and `bisplrep`.

`BSpline.design_matrix`, `make_smoothing_spline` and `insert` are SciPy's Python over these.
"""

import numpy as np
from scipy import interpolate as si
from scipy.interpolate import _bsplines, _dierckx, _fitpack, _fitpack_impl

from rules_scipy.shared.interpolation.bsplines import Basis
from rules_scipy.shared.solvers import entries_of, solver
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.interpolate.designs")
KNOTS = (
    "scipy.interpolate.bisplrep has a rule for given knots (task=-1): its search for them jumps, "
    "also with s=0; or use `RBFInterpolator` with `smoothing`"
)
insert_by_fitpack = getattr(_fitpack, "insert", None) or _fitpack._insert  # as before SciPy 1.18


@rule(_dierckx.data_matrix)
def _(x: np.ndarray, t: np.ndarray, k: object, w: np.ndarray, extrapolate: object):
    y = _dierckx.data_matrix(x, t, k, w, extrapolate)

    def pullback(dy):
        rows = np.zeros_like(y[0]) if dy[0] is None else dy[0]
        basis = Basis(t, k, x)
        dt, dx = basis.pull(rows * w[:, None])
        return project(dx, x), project(dt, t), None, np.sum(rows * basis.values, axis=1), None

    return y, pullback


def inserted(t, c, x, k, m, periodic):
    """Return the knots and coefficients of a spline with a knot inserted `m` times."""
    c = c[: len(t) - k - 1]
    for _ in range(m):
        t, c = _bsplines._insert(x, t, c, k, periodic)
    return t, c


@rule(insert_by_fitpack)
def _(per: object, t: np.ndarray, c: np.ndarray, k: object, x: object, m: object, *, ad):
    y = insert_by_fitpack(per, t, c, k, x, m)
    if y[2] != 0:
        return y, lambda dy: (None, None, None, None, None, None)  # SciPy raises its error
    _, back = ad(inserted, t, c, x, k, m, bool(per))

    def pullback(dy):
        dt, dc, _ = dy
        _, dt, dc, dx, *_ = back((dt, None if dc is None else dc[: len(y[0]) - k - 1]))
        return None, dt, dc, None, dx, None

    return y, pullback


@solver(rule, _fitpack_impl.bisplrep, by=("z", "w"), with_ad=False)
def _(made, given):
    if given["task"] != -1:
        raise NotImplementedError(KNOTS)
    tx, ty, c, kx, ky = made[0] if given["full_output"] else made
    x, y, z = (np.ravel(np.asarray(given[name], float)) for name in "xyz")
    w = np.ones(len(z)) if given["w"] is None else np.asarray(given["w"], float)
    values = np.einsum("pi,pj->pij", of_all(tx, kx, x), of_all(ty, ky, y)).reshape(len(z), len(c))
    if np.linalg.matrix_rank(values * w[:, None]) < len(c):
        raise np.linalg.LinAlgError(
            "scipy.interpolate.bisplrep has no derivative where the data do not determine all "
            "coefficients: give fewer knots"
        )

    def pullback(dmade):
        (dtck,) = entries_of(dmade, si.bisplrep, True, (0,)) if given["full_output"] else [dmade]
        dc = None if dtck is None else dtck[2]
        if dc is None:
            return {}
        # the coefficients are the least squares solution of `w * (values @ c - z)`
        _, upper = np.linalg.qr(values * w[:, None])
        moved = values @ np.linalg.solve(upper, np.linalg.solve(upper.T, dc))
        dw = 2 * w * (z - values @ c) * moved
        dz = project(np.reshape(w**2 * moved, np.shape(given["z"])), given["z"])
        return {"z": dz, "w": None if given["w"] is None else project(dw, given["w"])}

    return pullback


def of_all(t, k, x):
    """Return the values of all B-splines at each place."""
    basis = Basis(np.asarray(t), k, x)
    found = np.zeros((len(x), len(t) - k - 1))
    np.put_along_axis(found, basis.columns, basis.values, 1)
    return found
