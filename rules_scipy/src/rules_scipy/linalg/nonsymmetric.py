"""Eigenvalues and eigenvectors of matrices that need not be symmetric; Schur and Hessenberg forms.

A matrix that lacks eigenvectors has no derivatives of its eigenvalues, nor has a repeated one those
of its vectors or of a Schur form: a cotangent of theirs raises `LinAlgError`.
"""

import numpy as np
from scipy import linalg as sl
from scipy.linalg import LinAlgError

from rules_scipy.shared.linear.matrices import (
    ArrayLike,
    adjoint,
    coincide,
    diagonal,
    diagonal_matrix,
    given,
    over_gaps,
    refuse_phase,
)
from rules_scipy.shared.linear.stacks import stacked
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.nonsymmetric")


def left_inverse(v):
    """Return the inverse of a matrix of eigenvectors of length 1, and refuse one without.

    The lengths of its rows are the condition numbers of the eigenvalues. Where rounding errors
    move an eigenvalue by the square root of the precision, eigenvectors are missing.
    """
    limit = 0.1 * np.finfo(v.dtype).eps ** -0.5
    try:
        inverse = np.linalg.inv(v)
    except np.linalg.LinAlgError:
        inverse = np.full_like(v, np.inf)
    if not np.all(np.sum(np.abs(inverse) ** 2, axis=-1) < limit**2):
        raise LinAlgError("a matrix without a full set of eigenvectors has no gradient of these")
    return inverse


def general_cotangents(b, w, v, dw, dv):
    """Return the cotangents of `a` and `b`, where `a v = b v w` with `v` of length 1.

    Without `b` it stands for the identity, and its cotangent is `None`.
    """
    inner = 0.0
    if dv is not None:
        along = np.sum(np.conj(dv) * v, axis=-2, keepdims=True)
        if np.iscomplexobj(v):
            refuse_phase(np.imag(along), dv, "eigen")
        inner = over_gaps(adjoint(v) @ (dv - np.real(along) * v), np.conj(w), dv, "eigen")
    if dw is not None:
        inner = inner + diagonal_matrix(np.asarray(dw))
    left = adjoint(left_inverse(v))
    if b is None:
        return left @ inner @ adjoint(v), None
    left = np.linalg.solve(adjoint(np.asarray(b)), left)
    return left @ inner @ adjoint(v), -left @ (inner * np.conj(w)[..., None, :]) @ adjoint(v)


def plain(left, homogeneous):
    """Refuse left vectors and homogeneous coordinates."""
    if left or homogeneous:
        raise NotImplementedError(
            "scipy.linalg.eig has a rule for eigenvalues and right eigenvectors only: left ones "
            "are the right ones of `a.conj().T`"
        )


def eig_pullback(a, b, y, right):
    """Return the pullback of `eig`: what its parts share, and those by `a` and `b`."""

    def shared(dy):
        dw, dv = dy if right else (dy, None)
        if dw is None and dv is None:
            return None, None
        refuse_infinite(y[0] if right else y)
        return general_cotangents(b, *(y if right else in_order(y, a, b)), dw, dv)

    def by_a(found):
        return projected(found[0], a)

    def by_b(found):
        return projected(found[1], b)

    return shared, (by_a, by_b)


def refuse_infinite(w):
    """Refuse infinite eigenvalues."""
    if not np.all(np.isfinite(w)):
        raise LinAlgError("infinite eigenvalues, of a singular `b`, have no gradient")


def in_order(w, a, b):
    """Return eigenvalues and vectors, if they come in the order of those that are known."""
    found, v = sl.eig(a, *(() if b is None else (b,)))
    if np.any(np.abs(found - w) > 1e-6 * np.max(np.abs(w), initial=0.0)):
        raise LinAlgError("eig finds the eigenvalues in another order: call eig")
    return found, v


def projected(da, a):
    """Return a cotangent of the kind of the matrix, if there is one."""
    return None if da is None else project(da, a)


@rule(sl.eig)
@stacked(sl.eig, 2)
def _(
    a: ArrayLike,
    *,
    b=None,
    left=False,
    right=True,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    homogeneous_eigvals=False,
):
    plain(left, homogeneous_eigvals)
    y = sl.eig(a, b, right=right, check_finite=check_finite)
    shared, (by_a, _) = eig_pullback(a, b, y, right)
    return y, (shared, (by_a,))


@rule(sl.eig)
@stacked(sl.eig, 2, 2)
def _(
    a: ArrayLike,
    b: ArrayLike | None,
    left=False,
    right=True,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    homogeneous_eigvals=False,
):
    plain(left, homogeneous_eigvals)
    y = sl.eig(a, b, right=right, check_finite=check_finite)
    return y, eig_pullback(a, b, y, right)


@rule(sl.eigvals)
@stacked(sl.eigvals, 2)
def _(
    a: ArrayLike,
    *,
    b=None,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    homogeneous_eigvals=False,
):
    plain(False, homogeneous_eigvals)
    y = sl.eigvals(a, b, check_finite=check_finite)
    shared, (by_a, _) = eig_pullback(a, b, y, False)
    return y, (shared, (by_a,))


@rule(sl.eigvals)
@stacked(sl.eigvals, 2, 2)
def _(
    a: ArrayLike,
    b: ArrayLike | None,
    overwrite_a=False,
    *,  # SciPy 1.18 has `overwrite_b` next
    overwrite_b=False,
    check_finite=True,
    homogeneous_eigvals=False,
):
    plain(False, homogeneous_eigvals)
    y = sl.eigvals(a, b, check_finite=check_finite)
    return y, eig_pullback(a, b, y, False)


@rule(sl.schur)
@stacked(sl.schur, 2)
def _(
    a: ArrayLike,
    output="real",
    lwork=None,
    overwrite_a=False,
    sort=None,
    check_finite=True,
):
    y = sl.schur(a, output, sort=sort, check_finite=check_finite, **given(lwork=lwork))
    t, z = y[:2]
    if np.any(np.diagonal(t, -1) != 0):
        raise NotImplementedError(
            "scipy.linalg.schur has no rule for blocks of two rows, of complex eigenvalues: use "
            "output='complex'"
        )

    def pullback(dy):
        dt, dz = dy[:2]
        if dt is None and dz is None:
            return (None,)
        dt = np.zeros_like(t) if dt is None else np.triu(dt)
        refuse_repeated(diagonal(t), np.triu(dt, 1))
        turning = dt @ -adjoint(t) + adjoint(t) @ dt
        turning = turning if dz is None else turning + adjoint(z) @ dz
        if np.iscomplexobj(t):
            refuse_phase(np.imag(diagonal(turning)), turning, "Schur ")
        rest = below_diagonal(adjoint(t), turning - adjoint(turning))
        return (project(z @ (dt + rest) @ adjoint(z), a),)

    return y, pullback


def refuse_repeated(w, dt):
    """Refuse a cotangent of what is beside repeated eigenvalues in a Schur form."""
    repeated = np.any(coincide(w) & ~np.eye(len(w), dtype=bool), axis=0)
    if np.any(dt[repeated] != 0) or np.any(dt[:, repeated] != 0):
        raise LinAlgError("the Schur form of repeated eigenvalues has no gradient")


def below_diagonal(s, k):
    """Return the `y` below the diagonal with `y s - s y = k` there, for a lower triangular `s`."""
    n = len(s)
    size = np.max(np.abs(k), initial=0.0)
    equal = coincide(np.diagonal(s))
    y = np.zeros_like(k)
    for gap in range(1, n):
        for j in range(n - gap):
            i = j + gap
            rest = k[i, j] - y[i, j + 1 : i] @ s[j + 1 : i, j] + s[i, j + 1 : i] @ y[j + 1 : i, j]
            if not equal[i, j]:
                y[i, j] = rest / (s[j, j] - s[i, i])
            elif abs(rest) > 64 * n * np.finfo(s.dtype).eps * size:
                raise LinAlgError("the Schur form of repeated eigenvalues has no gradient")
    return y


@rule(sl.hessenberg)
@stacked(sl.hessenberg, 2)
def _(a: ArrayLike, calc_q=False, overwrite_a=False, check_finite=True):
    if np.iscomplexobj(a):
        raise NotImplementedError(
            "scipy.linalg.hessenberg has a rule for real matrices, as the phases of the vectors of "
            "complex ones are LAPACK's choice: compute what does not depend on them"
        )
    h, q = sl.hessenberg(a, True, False, check_finite)

    def pullback(dy):
        dh, dq = dy if calc_q else (dy, None)
        if dh is None and dq is None:
            return (None,)
        dh = np.zeros_like(h) if dh is None else np.triu(dh, -1)
        turning = h.T @ dh - dh @ h.T
        turning = turning if dq is None else turning + q.T @ dq
        return (project(q @ (dh + below_subdiagonal(h, turning - turning.T)) @ q.T, a),)

    return (h, q) if calc_q else h, pullback


def below_subdiagonal(h, k):
    """Return the `y` below the subdiagonal with `y h' - h' y = k`, from the last column on.

    The equations are those below the diagonal, but for the first column: `q` keeps its own.
    """
    n, y = len(h), np.zeros_like(h)
    small = n * np.finfo(h.dtype).eps * np.max(np.abs(h), initial=0.0)
    for j in range(n - 2, 0, -1):
        if abs(h[j, j - 1]) <= small:  # beside it, the basis is another in each direction
            raise LinAlgError("a Hessenberg form with a zero below its diagonal has no gradient")
        rest = k[j + 1 :, j] - y[j + 1 :, j:] @ h[j, j:] + h[:, j + 1 :].T @ y[:, j]
        y[j + 1 :, j - 1] = rest / h[j, j - 1]
    return y


BASIS = "its vectors are one basis of many, and only the space that they span is determined"


@rule(sl.orth)
def _(A: ArrayLike, rcond=None):
    raise NotImplementedError(
        f"scipy.linalg.orth has no rule: {BASIS}; use the projection on it, as a @ pinv(a)"
    )


@rule(sl.null_space)
def _(A: ArrayLike, rcond=None, *, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    raise NotImplementedError(
        f"scipy.linalg.null_space has no rule: {BASIS}; use the projection on it, as "
        "eye(n) - pinv(a) @ a"
    )
