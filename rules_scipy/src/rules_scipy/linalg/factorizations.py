"""Factorizations, and systems that are solved with them: Cholesky, LU, LDL, QR, polar."""

import numpy as np
from scipy import linalg as sl
from scipy.linalg import LinAlgError

from rules_scipy.shared.linear.matrices import (
    ArrayLike,
    adjoint,
    conjugate,
    diagonal,
    diagonal_matrix,
    of_hermitian,
    outer,
    transpose,
)
from rules_scipy.shared.linear.stacks import stacked
from rules_scipy.shared.linear.triangles import triangular_solve
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
    left = triangular_solve(factor, inner, lower=True, trans=2)
    return of_hermitian(
        adjoint(triangular_solve(factor, adjoint(left), lower=True, trans=2)), lower
    )


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
        return (None if dy[0] is None else project(of_factor(y[0], dy[0], lower), a),)

    return y, pullback


def of_one_triangle(c, dc, lower):
    """Return the cotangent of a matrix, for that of the triangle that its Cholesky factor fills."""
    keep = np.tril if lower else np.triu
    return cholesky_cotangent(keep(c), keep(dc), lower)


def packed_cotangent(c, dc, lower):
    """Return the cotangent of a matrix whose other triangle stands beside its Cholesky factor."""
    other = np.triu(dc, 1) if lower else np.tril(dc, -1)
    return of_one_triangle(c, dc, lower) + other


# before SciPy 1.18 `cho_factor` leaves the other triangle as it is, from then on it is 0
leaves_the_other = sl.cho_factor(np.array([[1.0, 0.0], [0.5, 1.0]]))[0][1, 0] != 0
of_factor = packed_cotangent if leaves_the_other else of_one_triangle


def of_cholesky(da, c, lower):
    """Return the cotangent of a Cholesky factor, for that of the matrix."""
    both = da + adjoint(da)
    return np.tril(both @ np.tril(c)) if lower else np.triu(np.triu(c) @ both)


@rule(sl.cho_solve)
@stacked(sl.cho_solve, (2, None), 12)
def _(c_and_lower: tuple, b: ArrayLike, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    y = sl.cho_solve(c_and_lower, b, False, check_finite)

    def adjoint_solution(dy):
        return sl.cho_solve(c_and_lower, dy)

    def by_factor(db):
        return project(of_cholesky(-outer(db, y), np.asarray(c), lower), c), None

    def by_b(db):
        return project(db, b)

    return y, (adjoint_solution, (by_factor, by_b))


def lu_cotangent(low, dlow, up, dup):
    """Return the cotangent of `L U`, for those of the factors, of which `L` has a unit diagonal.

    The rows below the square part are `L2 U1`, the columns beyond it `L1 U2`. Only these rows are
    divided by the last pivot, which may be 0 or rounding where there are none.
    """
    k = min(low.shape[-2], up.shape[-1])
    first, square = low[..., :k, :], up[..., :k]
    below = adjoint(triangular_solve(square, adjoint(dlow[..., k:, :])))
    beyond = triangular_solve(first, dup[..., k:], lower=True, trans=2, unit=True)
    dfirst = dlow[..., :k, :] - beyond @ adjoint(up[..., k:])
    dsquare = dup[..., :k] - adjoint(low[..., k:, :]) @ below
    inner = np.tril(adjoint(first) @ dfirst - dsquare @ adjoint(square), -1)[..., :-1]
    inner = adjoint(triangular_solve(square[..., :-1, :-1], adjoint(inner)))
    inner = dsquare + np.concatenate([inner, np.zeros_like(dsquare[..., :1])], axis=-1)
    middle = triangular_solve(first, inner, lower=True, trans=2, unit=True)
    return np.concatenate(
        [middle, below] if below.shape[-2] else [middle, beyond], axis=-2 if below.shape[-2] else -1
    )


def packed_lu(lu):
    """Return the factors that LAPACK packs into one matrix."""
    k = min(lu.shape)
    return np.tril(lu[:, :k], -1) + np.eye(*lu[:, :k].shape, dtype=lu.dtype), np.triu(lu[:k])


def packed_lu_cotangent(lu, pivots, dlu):
    """Return the cotangent of a matrix for that of LAPACK's factors and pivots."""
    k = min(lu.shape)
    low, up = packed_lu(lu)
    moved = lu_cotangent(low, np.tril(dlu[:, :k], -1), up, np.triu(dlu[:k]))
    da = np.zeros_like(moved)
    da[order_of(pivots, len(da))] = moved
    return da


def of_lu(da, lu, pivots):
    """Return the cotangent of LAPACK's factors of a square matrix, for that of the matrix."""
    low, up = packed_lu(lu)
    moved = da[order_of(pivots, len(da))]
    return np.tril(moved @ adjoint(up), -1) + np.triu(adjoint(low) @ moved)


def order_of(pivots, rows):
    """Return the rows of a matrix in the order in which LAPACK's pivots put them."""
    order = list(range(rows))
    for i, k in enumerate(np.asarray(pivots).tolist()):
        order[i], order[k] = order[k], order[i]
    return np.array(order, dtype=int)


@rule(sl.lu_factor)
@stacked(sl.lu_factor, 2)
def _(a: ArrayLike, overwrite_a=False, check_finite=True):
    y = sl.lu_factor(a, False, check_finite)

    def pullback(dy):
        return (None if dy[0] is None else project(packed_lu_cotangent(*y, dy[0]), a),)

    return y, pullback


@rule(sl.lu_solve)
@stacked(sl.lu_solve, (2, 1), 12)
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
        return project(of_lu(da, np.asarray(lu), pivots), lu), None

    def by_b(db):
        return project(db, b)

    return y, (adjoint_solution, (by_factors, by_b))


def permutations(p, low):
    """Return the matrices that permute rows as `p` does."""
    return np.equal(p[..., None], np.arange(p.shape[-1])).astype(low.real.dtype)


@rule(sl.lu)
def _(a: ArrayLike, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    if np.size(a) == 0:
        return sl.lu(a, permute_l, p_indices=p_indices), lambda dy: (np.zeros_like(a, float),)
    p, low, up = sl.lu(a, False, False, check_finite, True)
    order = np.asarray(p)[..., None]
    if permute_l:
        y = np.take_along_axis(low, order, axis=-2), up
    else:
        y = (p if p_indices else permutations(p, low), low, up)

    def pullback(dy):
        dlow, dup = dy[-2:]
        if dlow is None:
            dlow = np.zeros_like(low)
        elif permute_l:
            dlow = np.take_along_axis(dlow, np.argsort(order, axis=-2), axis=-2)
        da = lu_cotangent(low, dlow, up, np.zeros_like(up) if dup is None else dup)
        return (project(np.take_along_axis(da, order, axis=-2), a),)

    return y, pullback


@rule(sl.ldl)
@stacked(sl.ldl, 2)
def _(A: ArrayLike, lower=True, hermitian=True, overwrite_a=False, check_finite=True):
    y = sl.ldl(A, lower, hermitian, False, check_finite)
    if np.iscomplexobj(y[0]) and not hermitian:
        raise NotImplementedError(
            "scipy.linalg.ldl has no rule for complex symmetric matrices: use `lu`"
        )

    def pullback(dy):
        low, d, order = y
        dlow, dd = dy[:2]
        vanishing = ~np.any(d, axis=1)
        if np.count_nonzero(vanishing) > 1:  # rows and columns that are left are all zero
            raise LinAlgError("the pivots of a matrix whose rank is less by two have no gradient")
        pairs = (d != 0) & ~np.eye(len(d), dtype=bool)  # pivots of two rows
        inner = 0.0 if dd is None else np.where(pairs, dd, 0) + diagonal_matrix(diagonal(dd))
        if dlow is not None:
            product = adjoint(low) @ dlow
            half = np.tril(product, -1) if lower else np.triu(product, 1)
            inner = inner + np.where(pairs, 0, half) @ inverse_of_pivots(d + np.diag(vanishing))
        left = triangular_solve(low[order], inner, lower, trans=2, unit=True)
        moved = adjoint(triangular_solve(low[order], adjoint(left), lower, trans=2, unit=True))
        back = np.argsort(order)
        return (project(of_hermitian(moved[np.ix_(back, back)], lower), A),)

    return y, pullback


def inverse_of_pivots(d):
    """Return the inverse of a Hermitian matrix of blocks of one row or two."""
    other = d - np.diag(diagonal(d))  # beside the diagonal
    here = np.real(diagonal(d))
    partner = np.ones_like(here)
    row, column = np.nonzero(other)
    partner[row] = here[column]
    determinants = here * partner - np.sum(np.abs(other) ** 2, axis=1)
    return (np.diag(partner) - other) / determinants[:, None]


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
    return adjoint(triangular_solve(r, adjoint(right)))


@rule(sl.qr)
@stacked(sl.qr, 2)
def _(
    a: ArrayLike,
    overwrite_a=False,
    lwork=None,
    mode="full",
    pivoting=False,
    check_finite=True,
):
    if mode == "raw":
        raise NotImplementedError(
            "scipy.linalg.qr has no rule for the mode 'raw': use 'full' or 'economic'"
        )
    options = {} if lwork is None else {"lwork": lwork}
    kept = "economic" if mode == "r" else mode
    y = sl.qr(a, mode=kept, pivoting=pivoting, check_finite=check_finite, **options)
    q, known = y[0], y[1]
    if mode == "r":
        y = (with_zeros(known, *np.shape(a)[-2:]), *y[2:])

    def pullback(dy):
        rows, columns = np.shape(a)[-2:]
        r = known[..., : q.shape[-1] if mode != "full" else min(rows, columns), :]
        order = y[-1] if pivoting else np.arange(columns)
        parts = dy[:-1] if pivoting else dy
        dq, dr = (None, *parts) if mode == "r" else parts
        if dq is not None and q.shape[-1] > r.shape[-2]:
            refuse_null_space(dq[..., columns:])
            dq = dq[..., :columns]
        if dr is not None:
            dr = dr[..., : r.shape[-2], :]
        x = np.asarray(a)[..., order]
        moved = qr_cotangent(x, q[..., : r.shape[-2]], r, dq, dr)
        return (None if moved is None else project(moved[..., np.argsort(order)], a),)

    return y, pullback


def with_zeros(r, rows, columns):
    """Return a triangular factor with as many rows as its matrix has, zeros below."""
    return np.concatenate([r, np.zeros((*r.shape[:-2], rows - r.shape[-2], columns), r.dtype)], -2)


def refuse_null_space(dvectors):
    """Refuse cotangents of vectors that span a null space."""
    if np.any(dvectors != 0):
        raise LinAlgError(NULL_SPACE)


@rule(sl.rq)
@stacked(sl.rq, 2)
def _(a: ArrayLike, overwrite_a=False, lwork=None, mode="full", check_finite=True):
    rows, columns = np.shape(a)[-2:]
    options = {} if lwork is None else {"lwork": lwork}
    kept = "economic" if mode == "r" else mode
    y = sl.rq(a, mode=kept, check_finite=check_finite, **options)
    if rows > columns:
        raise NotImplementedError(
            "scipy.linalg.rq has no rule for more rows than columns: use `qr` of `a[::-1].T`, "
            "whose factors are these in reverse, transposed"
        )
    factors = y
    if mode == "r":
        r = y[0][..., -rows:]
        y = np.concatenate([np.zeros((*r.shape[:-1], columns - rows), r.dtype), r], axis=-1)

    def pullback(dy):
        r, q = factors[0][..., -rows:], factors[1][..., -rows:, :]
        dr, dq = (dy, None) if mode == "r" else dy
        if dq is not None:
            refuse_null_space(dq[..., :-rows, :])
            dq = dq[..., -rows:, :]
        dr = None if dr is None else dr[..., -rows:]
        # the adjoint with its columns in reverse has the decomposition Q R
        turned = adjoint(np.asarray(a))[..., ::-1]
        q, r = adjoint(q)[..., ::-1], adjoint(r)[..., ::-1, ::-1]
        dq = None if dq is None else adjoint(dq)[..., ::-1]
        dr = None if dr is None else adjoint(dr)[..., ::-1, ::-1]
        moved = qr_cotangent(turned, q, r, dq, dr)
        return (None if moved is None else project(adjoint(moved[..., ::-1]), a),)

    return y, pullback


@rule(sl.polar)
@stacked(sl.polar, 2)
def _(a: ArrayLike, side="right"):
    rows, columns = np.shape(a)
    if (rows < columns) if side == "right" else (rows > columns):
        raise NotImplementedError(
            "scipy.linalg.polar has a rule where the positive factor has the shorter side: use "
            "the other `side`"
        )
    w, s, vh = sl.svd(a, full_matrices=False)
    right = side == "right"
    y = w @ vh, (adjoint(vh) * s) @ vh if right else (w * s) @ adjoint(w)

    def pullback(dy):
        du, dp = dy
        u, v = (w @ vh, adjoint(vh)) if right else (adjoint(w @ vh), w)
        if du is None:
            du = np.zeros_like(u)
        elif not right:
            du = adjoint(du)
        dp = np.zeros_like(y[1]) if dp is None else dp
        if np.any(s <= s[:1] * len(s) * np.finfo(s.dtype).eps):
            raise LinAlgError("the polar factors of a singular matrix have no gradient")
        # u^H du is skew, and solves a Sylvester equation with p
        turning = adjoint(u) @ du - dp @ y[1]
        inner = adjoint(v) @ (turning - adjoint(turning)) @ v / (s[:, None] + s)
        rest = (du - u @ (adjoint(u) @ du)) @ (v / s)
        da = u @ (dp + v @ inner @ adjoint(v)) + rest @ adjoint(v)
        return (project(da if right else adjoint(da), a),)

    return y, pullback
