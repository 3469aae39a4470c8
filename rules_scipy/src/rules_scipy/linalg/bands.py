"""Matrices that are stored as their bands, and systems with them."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.factorizations import cholesky_cotangent
from rules_scipy.shared.matrices import ArrayLike, adjoint, of_hermitian, outer
from rules_scipy.shared.stacks import stacked
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


@rule(sl.solve_banded)
@stacked(sl.solve_banded, None, 2, 12)
def _(l_and_u: tuple, ab: ArrayLike, b: ArrayLike, *, check_finite=True):
    y = sl.solve_banded(l_and_u, ab, b, check_finite=check_finite)
    below, above = l_and_u

    def adjoint_solution(dy):
        return sl.solve_banded((above, below), adjoint_bands(np.asarray(ab), below, above), dy)

    def by_bands(db):
        da, found = -outer(db, y), np.zeros(np.shape(ab), np.result_type(db, y))
        n = len(da)
        for k in range(-min(below, n - 1), min(above, n - 1) + 1):
            found[above - k, max(k, 0) : n + min(k, 0)] = np.diagonal(da, k)
        return project(found, ab)

    def by_b(db):
        return project(db, b)

    return y, (adjoint_solution, (None, by_bands, by_b))


@rule(sl.solveh_banded)
@stacked(sl.solveh_banded, 2, 12)
def _(ab: ArrayLike, b: ArrayLike, *, lower=False, check_finite=True):
    y = sl.solveh_banded(ab, b, lower=lower, check_finite=check_finite)

    def adjoint_solution(dy):
        return sl.solveh_banded(ab, dy, lower=lower)

    def by_bands(db):
        da = of_hermitian(-outer(db, y), lower)
        return project(bands_of(da, np.shape(ab)[0], lower), ab)

    def by_b(db):
        return project(db, b)

    return y, (adjoint_solution, (by_bands, by_b))


@rule(sl.cholesky_banded)
@stacked(sl.cholesky_banded, 2)
def _(ab: ArrayLike, *, lower=False, check_finite=True):
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
def _(cb_and_lower: tuple, b: ArrayLike, *, check_finite=True):
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
