"""Factorizations, and systems that are solved with them: Cholesky, LU, LDL, QR, polar."""

import numpy as np
from scipy import linalg as sl
from scipy.linalg import LinAlgError

from rules_scipy.shared.matrices import (
    ArrayLike,
    adjoint,
    conjugate,
    diagonal,
    diagonal_matrix,
    of_hermitian,
    outer,
    transpose,
)
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.factorizations")

NULL_SPACE = (
    "the gradient depends on the basis of a null space, which is not determined: use "
    "mode='economic'"
)


def cholesky_cotangent(factor, dfactor, lower):
    """Return the cotangent of the triangle that is read of a matrix with this Cholesky factor."""
    if not lower:
        factor, dfactor = adjoint(factor), adjoint(dfactor)
    product = adjoint(factor) @ dfactor
    inner = np.tril(product, -1) + diagonal_matrix(np.real(diagonal(product)) / 2)
    inverse = np.linalg.inv(factor)
    return of_hermitian(adjoint(inverse) @ inner @ inverse, lower)


@rule(sl.cholesky)
def _(a: ArrayLike, lower=False, overwrite_a=False, check_finite=True):
    y = sl.cholesky(a, lower, False, check_finite)

    def pullback(dy):
        return (project(cholesky_cotangent(y, dy, lower), a),)

    return y, pullback


@rule(sl.cho_factor)
def _(a: ArrayLike, lower=False, overwrite_a=False, check_finite=True):
    y = sl.cho_factor(a, lower, False, check_finite)

    def pullback(dy):
        dc = dy[0]
        if dc is None:
            return (None,)
        keep, rest = (np.tril, np.triu) if lower else (np.triu, np.tril)
        # the other triangle is that of the argument
        other = rest(dc, 1 if lower else -1)
        return (project(cholesky_cotangent(keep(y[0]), keep(dc), lower) + other, a),)

    return y, pullback


@rule(sl.cho_solve)
def _(c_and_lower: tuple, b: ArrayLike, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    y = sl.cho_solve(c_and_lower, b, False, check_finite)

    def adjoint_solution(dy):
        return sl.cho_solve(c_and_lower, dy)

    def by_factor(db):
        da = -outer(db, y)
        both = da + adjoint(da)
        dc = np.tril(both @ np.tril(c)) if lower else np.triu(np.triu(c) @ both)
        return project(dc, c), None

    def by_b(db):
        return project(db, b)

    return y, (adjoint_solution, (by_factor, by_b))


def square(a, name):
    """Refuse a matrix that is not square."""
    if np.shape(a)[-1] != np.shape(a)[-2]:
        raise NotImplementedError(f"scipy.linalg.{name} has a rule for square matrices only")


def lu_cotangent(low, dlow, up, dup):
    """Return the cotangent of `L U`, for those of the factors, of which `L` has a unit diagonal."""
    inner = np.tril(adjoint(low) @ dlow, -1) + np.triu(dup @ adjoint(up))
    left = np.linalg.solve(adjoint(low), inner)
    return adjoint(np.linalg.solve(up, adjoint(left)))


def order_of(pivots):
    """Return the rows of a matrix in the order in which LAPACK's pivots put them."""
    order = np.arange(len(pivots))
    for i, k in enumerate(pivots):
        order[[i, k]] = order[[k, i]]
    return order


@rule(sl.lu_factor)
def _(a: ArrayLike, overwrite_a=False, check_finite=True):
    if np.ndim(a) > 2:
        raise NotImplementedError("scipy.linalg.lu_factor has no rule for stacks of matrices")
    square(a, "lu_factor")
    y = sl.lu_factor(a, False, check_finite)

    def pullback(dy):
        dlu = dy[0]
        if dlu is None:
            return (None,)
        low = np.tril(y[0], -1) + np.eye(len(y[0]))
        moved = lu_cotangent(low, np.tril(dlu, -1), np.triu(y[0]), np.triu(dlu))
        da = np.zeros_like(moved)
        da[order_of(y[1])] = moved
        return (project(da, a),)

    return y, pullback


@rule(sl.lu_solve)
def _(lu_and_piv: tuple, b: ArrayLike, trans=0, overwrite_b=False, check_finite=True):
    lu, pivots = lu_and_piv
    y = sl.lu_solve(lu_and_piv, b, trans, False, check_finite)

    def adjoint_solution(dy):
        if trans == 1:
            return conjugate(sl.lu_solve(lu_and_piv, conjugate(dy), 0))
        return sl.lu_solve(lu_and_piv, dy, 0 if trans else 2)

    def by_factors(db):
        da = -outer(db, y)
        da = transpose(da) if trans == 1 else adjoint(da) if trans == 2 else da
        low, moved = np.tril(lu, -1) + np.eye(len(lu)), da[order_of(pivots)]
        dlu = np.tril(moved @ adjoint(np.triu(lu)), -1) + np.triu(adjoint(low) @ moved)
        return project(dlu, lu), None

    def by_b(db):
        return project(db, b)

    return y, (adjoint_solution, (by_factors, by_b))


@rule(sl.lu)
def _(a: ArrayLike, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    square(a, "lu")
    y = sl.lu(a, permute_l, False, check_finite, p_indices)

    def pullback(dy):
        p, low, up = sl.lu(a)
        dlow, dup = dy[-2:]
        dlow = np.zeros_like(low) if dlow is None else dlow
        if permute_l:
            dlow = transpose(p) @ dlow
        dup = np.zeros_like(up) if dup is None else dup
        return (project(p @ lu_cotangent(low, dlow, up, dup), a),)

    return y, pullback


@rule(sl.ldl)
def _(A: ArrayLike, lower=True, hermitian=True, overwrite_a=False, check_finite=True):
    y = sl.ldl(A, lower, hermitian, False, check_finite)
    if np.any(np.triu(y[1], 1) != 0):
        raise NotImplementedError("scipy.linalg.ldl has no rule for pivots of two rows")
    if np.iscomplexobj(y[0]) and not hermitian:
        raise NotImplementedError("scipy.linalg.ldl has no rule for complex symmetric matrices")

    def pullback(dy):
        low, d = y[:2]
        dlow, dd = dy[:2]
        inner = 0.0 if dd is None else diagonal_matrix(np.real(diagonal(dd)))
        if dlow is not None:
            product = adjoint(low) @ dlow
            half = np.tril(product, -1) if lower else np.triu(product, 1)
            inner = inner + half / conjugate(diagonal(d))[..., None, :]
        inverse = np.linalg.inv(low)
        return (project(of_hermitian(adjoint(inverse) @ inner @ inverse, lower), A),)

    return y, pullback


def qr_cotangent(a, q, r, dq, dr):
    """Return the cotangent of `a = q r` for those of `q` and `r`, which may be `None`."""
    n, length = a.shape[-1], r.shape[-2]
    if dq is None and dr is None:
        return None
    if n > length:  # wide: Q R1 = A1 is square, and R2 = Q^H A2
        dr = np.zeros_like(r) if dr is None else dr
        dq = (0.0 if dq is None else dq) + a[..., length:] @ adjoint(dr[..., length:])
        first = tall_qr_cotangent(q, r[..., :length], dq, dr[..., :length])
        return np.concatenate([first, q @ dr[..., length:]], axis=-1)
    return tall_qr_cotangent(q, r, dq, dr)


def tall_qr_cotangent(q, r, dq, dr):
    """Return the cotangent of a matrix with at least as many rows as columns."""
    m = (0.0 if dr is None else r @ adjoint(dr)) - (0.0 if dq is None else adjoint(dq) @ q)
    strict = np.tril(m, -1)
    right = q @ (strict + adjoint(strict) + diagonal_matrix(np.real(diagonal(m))))
    right = right if dq is None else right + dq
    size = np.sqrt(np.sum(np.abs(r) ** 2, axis=-2))
    if np.any(np.abs(diagonal(r)) <= r.shape[-1] * np.finfo(size.dtype).eps * size):
        raise LinAlgError("a matrix whose columns are not linearly independent has no gradient")
    return adjoint(np.linalg.solve(r, adjoint(right)))


@rule(sl.qr)
def _(
    a: ArrayLike,
    overwrite_a=False,
    lwork=None,
    mode="full",
    pivoting=False,
    check_finite=True,
):
    if mode == "raw":
        raise NotImplementedError("scipy.linalg.qr has no rule for the mode 'raw'")
    y = sl.qr(a, False, lwork, mode, pivoting, check_finite)
    rows, columns = np.shape(a)[-2:]
    tall = rows > columns

    def pullback(dy):
        x = np.asarray(a)
        order = np.arange(columns) if not pivoting else y[-1]
        q, r = sl.qr(x[..., order], mode="economic")
        parts = dy[:-1] if pivoting else dy if isinstance(y, tuple) else (dy,)
        dq, dr = (None, *parts) if mode == "r" else parts
        if mode == "full" and tall and dq is not None:
            if np.any(dq[..., columns:] != 0):
                raise LinAlgError(NULL_SPACE)
            dq = dq[..., :columns]
        if dr is not None:
            dr = dr[..., : r.shape[-2], :]
        moved = qr_cotangent(x[..., order], q, r, dq, dr)
        if moved is None:
            return (None,)
        da = np.zeros_like(moved)
        da[..., order] = moved
        return (project(da, a),)

    return y, pullback


@rule(sl.rq)
def _(a: ArrayLike, overwrite_a=False, lwork=None, mode="full", check_finite=True):
    y = sl.rq(a, False, lwork, mode, check_finite)
    rows, columns = np.shape(a)[-2:]
    if rows > columns:
        raise NotImplementedError("scipy.linalg.rq has no rule for more rows than columns")

    def pullback(dy):
        r, q = sl.rq(a, mode="economic")
        dr, dq = (dy, None) if mode == "r" else dy
        if dq is not None:
            if np.any(dq[..., :-rows, :] != 0):
                raise LinAlgError(NULL_SPACE)
            dq = dq[..., -rows:, :]
        dr = None if dr is None else dr[..., -rows:]
        # the adjoint with its columns in reverse has the decomposition Q R
        turned = adjoint(np.asarray(a))[..., ::-1]
        factors = adjoint(q)[..., ::-1], adjoint(r)[..., ::-1, ::-1]
        dq = None if dq is None else adjoint(dq)[..., ::-1]
        dr = None if dr is None else adjoint(dr)[..., ::-1, ::-1]
        moved = qr_cotangent(turned, *factors, dq, dr)
        return (None if moved is None else project(adjoint(moved[..., ::-1]), a),)

    return y, pullback


@rule(sl.polar)
def _(a: ArrayLike, side="right"):
    rows, columns = np.shape(a)[-2:]
    if (rows < columns) if side == "right" else (rows > columns):
        raise NotImplementedError(
            "scipy.linalg.polar has a rule where the positive factor has the shorter side"
        )
    y = sl.polar(a, side)

    def pullback(dy):
        (u, p), (du, dp) = y, dy
        if side == "left":
            u, du = adjoint(u), None if du is None else adjoint(du)
        du = np.zeros_like(u) if du is None else du
        dp = np.zeros_like(p) if dp is None else dp
        s, v = np.linalg.eigh(p)
        if np.any(s <= s[..., -1:] * len(s) * np.finfo(s.dtype).eps):
            raise LinAlgError("the polar factors of a singular matrix have no gradient")
        # u^H du is skew, and solves a Sylvester equation with p
        turning = adjoint(u) @ du - dp @ p
        inner = adjoint(v) @ (turning - adjoint(turning)) @ v / (s[:, None] + s)
        da = u @ (dp + v @ inner @ adjoint(v)) + (du - u @ (adjoint(u) @ du)) @ np.linalg.inv(p)
        return (project(da if side == "right" else adjoint(da), a),)

    return y, pullback
