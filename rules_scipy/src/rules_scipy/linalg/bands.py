"""Matrices that are stored as their bands, and systems with them."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.factorizations import cholesky_cotangent
from rules_scipy.shared.held import hold
from rules_scipy.shared.linear.matrices import ArrayLike, adjoint, of_hermitian, outer
from rules_scipy.shared.linear.stacks import stacked
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.bands")


def triangle_from_bands(ab, lower):
    """Return the triangle of a matrix that LAPACK's bands stand for."""
    ab = np.asarray(ab)
    count, n = ab.shape
    a = np.zeros((n, n), ab.dtype)
    for k in range(min(count, n)):
        at = np.arange(n - k)
        if lower:
            a[at + k, at] = ab[k, : n - k]
        else:
            a[at, at + k] = ab[count - 1 - k, k:]
    return a


def hermitian_from_bands(ab, lower):
    """Return the Hermitian matrix that bands stand for."""
    a = triangle_from_bands(ab, lower)
    return a + adjoint(np.tril(a, -1) if lower else np.triu(a, 1))


def bands_of(a, count, lower):
    """Return the bands of one triangle of a matrix."""
    n = len(a)
    ab = np.zeros((count, n), a.dtype)
    for k in range(min(count, n)):
        if lower:
            ab[k, : n - k] = np.diagonal(a, -k)
        else:
            ab[count - 1 - k, k:] = np.diagonal(a, k)
    return ab


def adjoint_bands(ab, below, above):
    """Return the bands of the adjoint of a matrix with bands below and above the diagonal."""
    n = ab.shape[1]
    found = np.zeros_like(ab)
    for k in range(-min(below, n - 1), min(above, n - 1) + 1):  # the diagonal j - i = k
        band = ab[above - k, max(k, 0) : n + min(k, 0)]
        found[below + k, max(-k, 0) : n + min(-k, 0)] = np.conj(band)
    return found


def is_solvable(ab, b, check_finite):
    """Return whether LAPACK is given a system of bands: not one that is empty, or refused."""
    if ab.ndim != 2 or b.ndim not in (1, 2) or not b.size or len(b) != ab.shape[1]:
        return False
    return not check_finite or bool(np.all(np.isfinite(ab)) and np.all(np.isfinite(b)))


def factor_bands(l_and_u, ab, b, check_finite):
    """Return the LU factors that SciPy solves a system of bands with, or `None`."""
    (below, above), ab, b = l_and_u, np.asarray(ab), np.asarray(b)
    n = ab.shape[-1]
    if n < 3 or len(ab) != below + above + 1 or not is_solvable(ab, b, check_finite):
        return None
    if below == above == 1:
        *parts, info = sl.get_lapack_funcs("gttrf", (ab, b))(ab[2, :-1], ab[1], ab[0, 1:])
    else:
        gbtrf = sl.get_lapack_funcs("gbtrf", (ab, b))
        *parts, info = gbtrf(np.concatenate([np.zeros((below, n)), ab]), below, above)
    return None if info else parts


def solve_bands(held, l_and_u, ab, b, turned=False):
    """Solve a system of bands, or that with the adjoint matrix where it is `turned`."""
    parts, (below, above) = held.parts_for(l_and_u, ab, *held.of[2:]), l_and_u
    if parts is None:
        return sl.solve_banded(
            (above, below) if turned else l_and_u,
            adjoint_bands(np.asarray(ab), below, above) if turned else ab,
            b,
            check_finite=held.of[-1],
        )
    if below == above == 1:
        return sl.get_lapack_funcs("gttrs", parts[:1])(*parts, b, trans="C" if turned else "N")[0]
    lu, pivots = parts
    gbtrs = sl.get_lapack_funcs("gbtrs", (lu,))
    return gbtrs(lu, below, above, b, pivots, trans=2 if turned else 0)[0]


def bands_solution(held, l_and_u, ab, b, turned=False):
    """Return the solution, and the parts of its pullback by all three."""
    y = solve_bands(held, l_and_u, ab, b, turned)

    def adjoint_solution(dy):
        return solve_bands(held, l_and_u, ab, dy, not turned)

    def by_bands(db):
        (below, above), n = l_and_u, np.shape(ab)[1]
        da, found = -(outer(y, db) if turned else outer(db, y)), np.zeros(np.shape(ab), y.dtype)
        for k in range(-min(below, n - 1), min(above, n - 1) + 1):
            found[above - k, max(k, 0) : n + min(k, 0)] = np.diagonal(da, k)
        return project(found, ab)

    def by_b(db):
        return project(db, b)

    return y, (adjoint_solution, (None, by_bands, by_b))


@rule(solve_bands)
def _(held: object, l_and_u: tuple, ab: ArrayLike, b: ArrayLike, turned=False):
    y, (shared, parts) = bands_solution(held, l_and_u, ab, b, turned)
    return y, (shared, (None, *parts))


@rule(sl.solve_banded)
@stacked(sl.solve_banded, None, 2, 12)
def _(
    l_and_u: tuple,
    ab: ArrayLike,
    b: ArrayLike,
    overwrite_ab=False,
    overwrite_b=False,
    check_finite=True,
):
    held = hold(factor_bands, l_and_u, ab, b, check_finite)
    return bands_solution(held, l_and_u, ab, b)


def factor_hermitian(ab, b, lower, check_finite):
    """Return the factors that SciPy solves a positive definite system of bands with, or `None`."""
    ab, b = np.asarray(ab), np.asarray(b)
    if not is_solvable(ab, b, check_finite):
        return None
    if len(ab) == 2:
        beside = ab[1, :-1] if lower else np.conj(ab[0, 1:])
        pttrf = sl.get_lapack_funcs("pttrf", (ab, b))
        *parts, info = pttrf(np.real(ab[0 if lower else 1]), beside)
    else:
        *parts, info = sl.get_lapack_funcs("pbtrf", (ab, b))(ab, lower=lower)
    return None if info else parts


def solve_hermitian(held, ab, b, lower):
    """Solve a positive definite system of bands."""
    parts = held.parts_for(ab, *held.of[1:])
    if parts is None:
        return sl.solveh_banded(ab, b, lower=lower, check_finite=held.of[-1])
    if len(parts) == 1:
        return sl.get_lapack_funcs("pbtrs", parts)(*parts, b, lower=lower)[0]
    options = {"lower": 1} if np.iscomplexobj(parts[1]) else {}
    return sl.get_lapack_funcs("pttrs", parts)(*parts, b, **options)[0]


def hermitian_solution(held, ab, b, lower):
    """Return the solution, and the parts of its pullback by both."""
    y = solve_hermitian(held, ab, b, lower)

    def adjoint_solution(dy):
        return solve_hermitian(held, ab, dy, lower)

    def by_bands(db):
        da = of_hermitian(-outer(db, y), lower)
        return project(bands_of(da, np.shape(ab)[0], lower), ab)

    def by_b(db):
        return project(db, b)

    return y, (adjoint_solution, (by_bands, by_b))


@rule(solve_hermitian)
def _(held: object, ab: ArrayLike, b: ArrayLike, lower=False):
    y, (shared, parts) = hermitian_solution(held, ab, b, lower)
    return y, (shared, (None, *parts))


@rule(sl.solveh_banded)
@stacked(sl.solveh_banded, 2, 12)
def _(
    ab: ArrayLike,
    b: ArrayLike,
    overwrite_ab=False,
    overwrite_b=False,
    lower=False,
    check_finite=True,
):
    held = hold(factor_hermitian, ab, b, lower, check_finite)
    return hermitian_solution(held, ab, b, lower)


@rule(sl.cholesky_banded)
@stacked(sl.cholesky_banded, 2)
def _(ab: ArrayLike, overwrite_ab=False, lower=False, check_finite=True):
    y = sl.cholesky_banded(ab, lower=lower, check_finite=check_finite)

    def pullback(dy):
        factor, dfactor = triangle_from_bands(y, lower), triangle_from_bands(dy, lower)
        da = cholesky_cotangent(factor, dfactor, lower)
        used = bands_of(np.ones(da.shape), len(y), lower) != 0
        # what LAPACK does not read is copied
        return (project(np.where(used, bands_of(da, len(y), lower), dy), ab),)

    return y, pullback


@rule(sl.cho_solve_banded)
@stacked(sl.cho_solve_banded, (2, None), 12)
def _(cb_and_lower: tuple, b: ArrayLike, overwrite_b=False, check_finite=True):
    cb, lower = cb_and_lower
    y = sl.cho_solve_banded(cb_and_lower, b, check_finite=check_finite)

    def adjoint_solution(dy):
        return sl.cho_solve_banded(cb_and_lower, dy)

    def by_factor(db):
        da, c = -outer(db, y), triangle_from_bands(cb, lower)
        both = da + adjoint(da)
        dc = np.tril(both @ c) if lower else np.triu(c @ both)
        return project(bands_of(dc, np.shape(cb)[0], lower), cb), None

    def by_b(db):
        return project(db, b)

    return y, (adjoint_solution, (by_factor, by_b))
