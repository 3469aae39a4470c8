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
    refuse_phase,
)
from rules_scipy.shared.linear.stacks import stacked
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.spectra")


def hermitian_cotangents(w, v, dw, dv):
    """Return the cotangents of `a` and `b`, where `a v = b v w` and `v^H b v = 1`."""
    inner, along = 0.0, 0.0
    if dv is not None:
        product = adjoint(v) @ dv
        if np.iscomplexobj(v):
            refuse_phase(np.imag(diagonal(product)), dv, "eigen")
        inner, along = over_gaps(product, w, dv, "eigen"), np.real(diagonal(product))
    if dw is not None:
        inner = inner + diagonal_matrix(dw)
    rest = inner * w[..., None, :] + diagonal_matrix(along / 2 + np.zeros_like(w))
    return v @ inner @ adjoint(v), -v @ rest @ adjoint(v)


def whole_spectrum(a, b, lower, w, v):
    """Return all eigenvalues and vectors, the known ones as they are, and where they stand."""
    every, vectors = sl.eigh(a, b, lower=lower)
    at = np.argmin(np.abs(every[:, None] - w), axis=0) if len(w) else np.zeros(0, int)
    at = at[0] + np.arange(len(w)) if len(w) else at
    if v is not None:
        vectors[:, at] = v
    return every, vectors, at


def eigh_pullback(a, b, y, lower, of_values):
    """Return the shared part of the pullback of `eigh` and `eigvalsh`."""

    def cotangents(dy):
        (w, v), (dw, dv) = ((y, None), (dy, None)) if of_values else (y, dy)
        if dw is None and dv is None:
            return None, None
        size = np.shape(a)[-1]
        if v is None or w.shape[-1] != size:
            w, v, at = whole_spectrum(a, b, lower, w, v)
            dw, short_dw, dv, short_dv = np.zeros_like(w), dw, np.zeros_like(v), dv
            dw[at] = 0.0 if short_dw is None else short_dw
            if short_dv is None:
                dv = None
            else:
                dv[:, at] = short_dv
        return hermitian_cotangents(w, v, dw, dv)

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
    if type != 1:
        raise NotImplementedError("scipy.linalg.eigh has no rule for the types 2 and 3")
    y = f(a, b, lower=lower, **options)
    cotangents = eigh_pullback(a, b, y, lower, of_values)

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


def of_bands(w, v, dw, dv):
    """Return the cotangent of the whole matrix that bands stand for."""
    return hermitian_cotangents(w, v, dw, dv)[0]


def everything(select):
    """Refuse a choice of eigenvalues."""
    if select not in ("a", 0, "all"):
        raise NotImplementedError("eigenvalues of bands have a rule for all of them: select='a'")


@rule(sl.eig_banded)
@stacked(sl.eig_banded, 2)
def _(
    a_band: ArrayLike,
    lower=False,
    eigvals_only=False,
    overwrite_a_band=False,
    *,
    select="a",
    check_finite=True,
):
    everything(select)
    y = sl.eig_banded(a_band, lower, eigvals_only, check_finite=check_finite)

    def pullback(dy):
        w, v = sl.eigh(hermitian_from_bands(a_band, lower)) if eigvals_only else y
        dw, dv = (dy, None) if eigvals_only else dy
        da = of_hermitian(of_bands(w, v, dw, dv), lower)
        return (project(bands_of(da, np.shape(a_band)[0], lower), a_band),)

    return y, pullback


@rule(sl.eigvals_banded)
@stacked(sl.eigvals_banded, 2)
def _(a_band: ArrayLike, lower=False, overwrite_a_band=False, *, select="a", check_finite=True):
    everything(select)

    def pullback(dy):
        w, v = sl.eigh(hermitian_from_bands(a_band, lower))
        da = of_hermitian(of_bands(w, v, dy, None), lower)
        return (project(bands_of(da, np.shape(a_band)[0], lower), a_band),)

    return sl.eigvals_banded(a_band, lower, check_finite=check_finite), pullback


def tridiagonal_cotangents(w, v, dw, dv):
    """Return the cotangents of a diagonal and of that beside it."""
    da = of_hermitian(of_bands(w, v, dw, dv))
    return np.diagonal(da), np.diagonal(da, -1)


@rule(sl.eigh_tridiagonal)
@stacked(sl.eigh_tridiagonal, 1, 1)
def _(
    d: ArrayLike,
    e: ArrayLike,
    eigvals_only=False,
    *,
    select="a",
    check_finite=True,
    lapack_driver="auto",
):
    everything(select)
    y = sl.eigh_tridiagonal(
        d, e, eigvals_only, check_finite=check_finite, lapack_driver=lapack_driver
    )

    def shared(dy):
        w, v = sl.eigh_tridiagonal(d, e) if eigvals_only else y
        return tridiagonal_cotangents(w, v, *((dy, None) if eigvals_only else dy))

    def by_d(found):
        return project(found[0], d)

    def by_e(found):
        return project(found[1], e)

    return y, (shared, (by_d, by_e))


@rule(sl.eigvalsh_tridiagonal)
@stacked(sl.eigvalsh_tridiagonal, 1, 1)
def _(d: ArrayLike, e: ArrayLike, *, select="a", check_finite=True, lapack_driver="auto"):
    everything(select)

    def shared(dy):
        return tridiagonal_cotangents(*sl.eigh_tridiagonal(d, e), dy, None)

    def by_d(found):
        return project(found[0], d)

    def by_e(found):
        return project(found[1], e)

    y = sl.eigvalsh_tridiagonal(d, e, check_finite=check_finite, lapack_driver=lapack_driver)
    return y, (shared, (by_d, by_e))


# -- of batches

for _f in (sl.eigh, sl.eigvalsh):
    rule.batched(_f)(of_stacks(_f))
