"""Eigenvalues and their vectors; the generalized and the banded ones too.

Eigenvalues get what the formula says where they are repeated; vectors of a repeated value have no
derivative, and a cotangent of theirs raises `LinAlgError`. So does one that depends on the phases
of complex vectors.
"""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.bands import bands_of, hermitian_from_bands
from rules_scipy.shared.batches import of_stacks
from rules_scipy.shared.linear.matrices import (
    ArrayLike,
    adjoint,
    diagonal,
    diagonal_matrix,
    of_hermitian,
    over_gaps,
    read_of_structure,
    refuse_phase,
)
from rules_scipy.shared.linear.stacks import stacked
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.spectra")


def inner_cotangents(w, v, dw, dv):
    """Return the cotangent of `v^H da v`, and those by which the vectors are scaled."""
    inner, along = 0.0, 0.0
    if dv is not None:
        product = adjoint(v) @ dv
        if np.iscomplexobj(v):
            refuse_phase(np.imag(diagonal(product)), dv, "eigen")
        inner, along = over_gaps(product, w, dv, "eigen"), np.real(diagonal(product))
    if dw is not None:
        inner = inner + diagonal_matrix(dw)
    return inner, diagonal_matrix(along / 2 + np.zeros_like(w))


def hermitian_cotangents(w, v, dw, dv):
    """Return the cotangents of `a` and `b`, where `a v = b v w` and `v^H b v = 1`."""
    inner, scaling = inner_cotangents(w, v, dw, dv)
    rest = inner * w[..., None, :] + scaling
    return v @ inner @ adjoint(v), -v @ rest @ adjoint(v)


def product_cotangents(b, w, v, dw, dv, type, lower):
    """Return the same, where `a b v = v w` and `v^H b v = 1` (type 2).

    Or where `b a v = v w` and `v^H u = 1` for the `u` with `b u = v` (type 3).
    """
    inner, scaling = inner_cotangents(w, v, dw, dv)
    b = read_of_structure(np.asarray(b), "her", lower)
    if type == 2:
        u, rest = b @ v, inner * w[:, None] - scaling
        return u @ inner @ adjoint(u), v @ rest @ adjoint(v)
    u, rest = sl.solve(b, v, assume_a="pos"), inner * w + scaling
    return v @ inner @ adjoint(v), u @ rest @ adjoint(u)


def among_all(every, vectors, w, v, dw, dv):
    """Return all eigenvalues and vectors and their cotangents, from those of some, in order.

    The vectors that are known stay as they are.
    """
    at = np.arange(len(w))
    if len(w):
        at += np.argmin(np.abs(every - w[0]))
    if v is not None:
        vectors[:, at] = v
    dw_of_all, dv_of_all = np.zeros_like(every), None
    dw_of_all[at] = 0.0 if dw is None else dw
    if dv is not None:
        dv_of_all = np.zeros_like(vectors)
        dv_of_all[:, at] = dv
    return every, vectors, dw_of_all, dv_of_all


def eigh_pullback(a, b, y, lower, of_values, type=1):
    """Return the shared part of the pullback of `eigh` and `eigvalsh`."""

    def cotangents(dy):
        (w, v), (dw, dv) = ((y, None), (dy, None)) if of_values else (y, dy)
        if dw is None and dv is None:
            return None, None
        if v is None or w.shape[-1] != np.shape(a)[-1]:
            w, v, dw, dv = among_all(*sl.eigh(a, b, lower=lower, type=type), w, v, dw, dv)
        if type == 1:
            return hermitian_cotangents(w, v, dw, dv)
        return product_cotangents(b, w, v, dw, dv, type, lower)

    return cotangents


def of_one_matrix(f, a, lower, of_values, **options):
    """Return the value and the pullback of `eigh` or `eigvalsh` of a matrix."""
    y = f(a, lower=lower, **options)
    cotangents = eigh_pullback(a, None, y, lower, of_values)

    def pullback(dy):
        da = cotangents(dy)[0]
        return (None if da is None else project(of_hermitian(da, lower), a),)

    return y, pullback


def of_two_matrices(f, a, b, lower, of_values, type=1, **options):
    """Return the value and the pullback of `eigh` or `eigvalsh` of the generalized problem."""
    y = f(a, b, lower=lower, type=type, **options)
    cotangents = eigh_pullback(a, b, y, lower, of_values, type)

    def by_a(shared):
        return None if shared[0] is None else project(of_hermitian(shared[0], lower), a)

    def by_b(shared):
        return None if shared[1] is None else project(of_hermitian(shared[1], lower), b)

    return y, (cotangents, (by_a, by_b))


def without_overwriting(overwrite_a=False, overwrite_b=False, **options):
    """Return the options of a call whose matrices the pullback reads."""
    return options


@rule(sl.eigh)
@stacked(sl.eigh, 2)
def _(a: ArrayLike, *, lower=True, eigvals_only=False, **options):
    options = {"eigvals_only": eigvals_only, **without_overwriting(**options)}
    return of_one_matrix(sl.eigh, a, lower, eigvals_only, **options)


@rule(sl.eigh)
@stacked(sl.eigh, 2, 2)
def _(a: ArrayLike, b: ArrayLike, *, lower=True, eigvals_only=False, **options):
    options = {"eigvals_only": eigvals_only, **without_overwriting(**options)}
    return of_two_matrices(sl.eigh, a, b, lower, eigvals_only, **options)


@rule(sl.eigvalsh)
@stacked(sl.eigvalsh, 2)
def _(a: ArrayLike, *, lower=True, **options):
    return of_one_matrix(sl.eigvalsh, a, lower, True, **without_overwriting(**options))


@rule(sl.eigvalsh)
@stacked(sl.eigvalsh, 2, 2)
def _(a: ArrayLike, b: ArrayLike, *, lower=True, **options):
    return of_two_matrices(sl.eigvalsh, a, b, lower, True, **without_overwriting(**options))


def of_bands(spectrum, y, dy, of_values):
    """Return the cotangent of the whole matrix that bands stand for.

    Arguments:
        spectrum: what gives all its eigenvalues and vectors.
        y, dy: eigenvalues, and vectors unless they are `of_values` alone, and their cotangents.
    """
    (w, v), (dw, dv) = ((y, None), (dy, None)) if of_values else (y, dy)
    if v is None or len(w) != len(v):
        w, v, dw, dv = among_all(*spectrum(), w, v, dw, dv)
    return hermitian_cotangents(w, v, dw, dv)[0]


def bands_pullback(a_band, lower, y, of_values):
    """Return the pullback of `eig_banded` and `eigvals_banded`."""

    def pullback(dy):
        da = of_bands(lambda: sl.eigh(hermitian_from_bands(a_band, lower)), y, dy, of_values)
        da = of_hermitian(da, lower)
        return (project(bands_of(da, np.shape(a_band)[0], lower), a_band),)

    return pullback


@rule(sl.eig_banded)
@stacked(sl.eig_banded, 2)
def _(
    a_band: ArrayLike,
    lower=False,
    eigvals_only=False,
    overwrite_a_band=False,
    *,
    select="a",
    select_range=None,
    max_ev=0,
    check_finite=True,
):
    y = sl.eig_banded(
        a_band, lower, eigvals_only, False, select, select_range, max_ev, check_finite
    )
    return y, bands_pullback(a_band, lower, y, eigvals_only)


@rule(sl.eigvals_banded)
@stacked(sl.eigvals_banded, 2)
def _(
    a_band: ArrayLike,
    lower=False,
    overwrite_a_band=False,
    *,
    select="a",
    select_range=None,
    check_finite=True,
):
    y = sl.eigvals_banded(a_band, lower, False, select, select_range, check_finite)
    return y, bands_pullback(a_band, lower, y, True)


def tridiagonal_pullback(d, e, y, of_values):
    """Return the shared part of the pullback of `eigh_tridiagonal`, and those by both diagonals."""

    def shared(dy):
        da = of_bands(lambda: sl.eigh_tridiagonal(d, e), y, dy, of_values)
        da = of_hermitian(da)
        return np.diagonal(da), np.diagonal(da, -1)

    def by_d(found):
        return project(found[0], d)

    def by_e(found):
        return project(found[1], e)

    return shared, (by_d, by_e)


@rule(sl.eigh_tridiagonal)
@stacked(sl.eigh_tridiagonal, 1, 1)
def _(
    d: ArrayLike,
    e: ArrayLike,
    eigvals_only=False,
    *,
    select="a",
    select_range=None,
    check_finite=True,
    tol=0.0,
    lapack_driver="auto",
):
    y = sl.eigh_tridiagonal(
        d, e, eigvals_only, select=select, select_range=select_range, check_finite=check_finite,
        tol=tol, lapack_driver=lapack_driver,
    )  # fmt: skip
    return y, tridiagonal_pullback(d, e, y, eigvals_only)


@rule(sl.eigvalsh_tridiagonal)
@stacked(sl.eigvalsh_tridiagonal, 1, 1)
def _(
    d: ArrayLike,
    e: ArrayLike,
    *,
    select="a",
    select_range=None,
    check_finite=True,
    tol=0.0,
    lapack_driver="auto",
):
    y = sl.eigvalsh_tridiagonal(
        d, e, select=select, select_range=select_range, check_finite=check_finite, tol=tol,
        lapack_driver=lapack_driver,
    )  # fmt: skip
    return y, tridiagonal_pullback(d, e, y, True)


# -- of batches

for _f in (sl.eigh, sl.eigvalsh):
    rule.batched(_f)(of_stacks(_f))
