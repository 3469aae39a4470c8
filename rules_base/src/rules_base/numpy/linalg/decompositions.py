"""Decompositions of matrices: Cholesky, QR and singular values.

Sources: Murray (2016), "Differentiation of the Cholesky decomposition"; Seeger et al. (2017),
"Auto-differentiating linear algebra", and Roberts and Roberts (2020) for QR of wide matrices;
Townsend (2016), "Differentiating the singular value decomposition", and Wan and Zhang (2019) for
the complex one.

Singular vectors of a repeated or vanishing singular value have no derivative: a cotangent of
theirs raises `LinAlgError`. Complex singular vectors are known but for a common phase, and bases
of a null space but for a rotation: a cotangent that depends on these raises `LinAlgError` too.
"""

import numpy as np

from rules_base.shared.axes import given, like, on_the_diagonal
from rules_base.shared.batches import of_stacks
from rules_base.shared.matrices import (
    ArrayLike,
    adjoint,
    as_array,
    coincide,
    columns,
    diagonal,
    diagonal_matrix,
    hermitian_of_triangle,
    rows,
    triangle_of_hermitian,
)
from rulescore import RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.linalg.decompositions")


@rule(np.linalg.cholesky)
def _(a: ArrayLike, *, upper=False):
    y = np.linalg.cholesky(a, upper=True) if upper else np.linalg.cholesky(a)

    def pullback(dy):
        if like(y) and not upper:
            factor, dfactor = lower_factor(y, dy)
        else:
            factor, dfactor = (adjoint(y), adjoint(dy)) if upper else (y, dy)
        product = adjoint(factor) @ dfactor
        half = diagonal_matrix(np.real(diagonal(product)) / 2)
        inverse = np.linalg.inv(factor)
        da = adjoint(inverse) @ (np.tril(product, -1) + half) @ inverse
        return (project(triangle_of_hermitian(da, not upper), a),)

    return y, pullback


@rule.forward(np.linalg.cholesky)
def _(a: ArrayLike, *, upper=False):
    y = np.linalg.cholesky(a, upper=True) if upper else np.linalg.cholesky(a)

    def pushforward(da):
        factor = adjoint(y) if upper else y
        inverse = np.linalg.inv(factor)
        m = inverse @ hermitian_of_triangle(as_array(da), not upper) @ adjoint(inverse)
        dfactor = factor @ (np.tril(m, -1) + diagonal_matrix(np.real(diagonal(m)) / 2))
        return adjoint(dfactor) if upper else dfactor

    return y, pushforward


def lower_factor(y, dy):
    """Return the lower factor and its cotangent, where the library may have given the upper one.

    Dask does, and takes no `upper`. A small matrix tells, that is computed with the rest.
    """
    known = np.linalg.cholesky(np.asarray([[2.0, 1.0], [1.0, 2.0]], like=y))
    factor = np.tril(y) + adjoint(np.triu(y, 1))
    return factor, np.where(known[1, 0] == 0, adjoint(dy), dy)


@rule(np.linalg.qr)
def _(a: ArrayLike, mode="reduced"):
    if mode not in ("reduced", "complete", "r"):
        raise NotImplementedError(f"np.linalg.qr has no rule for the mode {mode!r}: use 'reduced'")
    y = np.linalg.qr(a) if mode == "reduced" else np.linalg.qr(a, mode)

    def pullback(dy):
        if mode == "r":
            q, r = np.linalg.qr(a)
            return (project(qr_cotangent(as_array(a), q, r, None, dy), a),)
        return (project(qr_cotangent(as_array(a), *y, *dy), a),)

    return y, pullback


@rule.forward(np.linalg.qr)
def _(a: ArrayLike, mode="reduced"):
    if mode not in ("reduced", "r"):
        raise NotImplementedError(
            f"np.linalg.qr has no forward rule for the mode {mode!r}: use 'reduced'"
        )
    y = np.linalg.qr(a) if mode == "reduced" else np.linalg.qr(a, mode)

    def pushforward(da):
        q, r = np.linalg.qr(a) if mode == "r" else y
        dq, dr = qr_tangents(as_array(da), as_array(a), q, r)
        return dr if mode == "r" else (dq, dr)

    return y, pushforward


def qr_tangents(da, a, q, r):
    """Return the tangents of `q` and `r`, of a reduced decomposition."""
    k = r.shape[-2]
    first = r[..., :k]
    if np.any(is_singular(first)):
        raise np.linalg.LinAlgError(
            "Singular R in np.linalg.qr: a matrix whose columns (of a wide one the first) are not "
            "linearly independent has no tangent"
        )
    moved = adjoint(np.linalg.solve(adjoint(first), adjoint(da[..., :k])))
    inner = adjoint(q) @ moved
    strict = np.tril(inner, -1)
    turning = strict - adjoint(strict)
    if np.iscomplexobj(inner):
        turning = turning + diagonal_matrix(1j * np.imag(diagonal(inner)))
    dq = moved - q @ (inner - turning)
    dr = (inner - turning) @ first
    if r.shape[-1] > k:
        rest = adjoint(dq) @ a[..., k:] + adjoint(q) @ da[..., k:]
        dr = np.concatenate([dr, rest], axis=-1)
    return dq, dr


def qr_cotangent(a, q, r, dq, dr):
    """Return the cotangent of `a` for those of `q` and `r`, either of which may be `None`."""
    if dq is None and dr is None:
        return None
    n, length = a.shape[-1], r.shape[-2]
    if n > length:  # wide: Q R1 = A1 is square, and R2 = Q^H A2
        if dr is None:
            dr = np.zeros_like(r)
        dq = (0.0 if dq is None else dq) + a[..., length:] @ adjoint(dr[..., length:])
        first = tall_qr_cotangent(q, r[..., :length], dq, dr[..., :length])
        return np.concatenate([first, q @ dr[..., length:]], axis=-1)
    if q.shape[-1] > n and dq is not None:
        dq = within_range(q[..., :n], q[..., n:], dq[..., :n], dq[..., n:])
    return tall_qr_cotangent(q[..., :n], r[..., :n, :], dq, None if dr is None else dr[..., :n, :])


def tall_qr_cotangent(q, r, dq, dr):
    """Return the cotangent of a matrix with at least as many rows as columns."""
    m = 0.0
    if dr is not None:
        m = r @ adjoint(dr)
    if dq is not None:
        m = m - adjoint(dq) @ q
    strict = np.tril(m, -1)
    right = q @ (strict + adjoint(strict) + diagonal_matrix(np.real(diagonal(m))))
    if dq is not None:
        right = right + dq
    # a zero cotangent is a strong zero: a matrix that does not matter may be of any rank
    singular = is_singular(r)
    given_any = [np.any(d != 0, axis=(-2, -1), keepdims=True) for d in (dq, dr) if d is not None]
    message = (
        "Singular R in np.linalg.qr: a matrix whose columns (of a wide one the first) are not "
        "linearly independent has no gradient"
    )
    doubt = singular & np.any(np.concatenate(given_any, axis=-1), axis=-1, keepdims=True)
    safe = np.where(singular, on_the_diagonal(r.shape[-1], r.shape[-1], r), r)
    return unless((doubt, message), adjoint(np.linalg.solve(safe, adjoint(right))))


def is_singular(r):
    """Return whether triangular matrices are singular up to rounding, with two axes of length 1.

    An entry of the diagonal is compared with its column, whose scale does not matter.
    """
    size = np.sqrt(np.sum(np.abs(r) ** 2, axis=-2, keepdims=True))
    small = r.shape[-1] * np.finfo(size.dtype).eps * size
    return np.any(np.abs(columns(diagonal(r))) <= small, axis=(-2, -1), keepdims=True)


def within_range(basis, null, dbasis, dnull):
    """Return the cotangent of `basis` with that of `null`, any basis of the orthogonal space.

    `null` has to stay orthogonal to `basis`; how it turns within its own space is not determined.
    Raises `LinAlgError` where `dnull` depends on that.
    """
    turning = adjoint(null) @ dnull
    doubt = doubtful(turning - adjoint(turning), [dnull], "the basis of a null space")
    return unless(doubt, dbasis - null @ (adjoint(dnull) @ basis))


def doubtful(turning, cotangents, what):
    """Return whether `turning`, by which nothing may change, is more than rounding, and why not."""
    squares = [np.sum(np.abs(d) ** 2, axis=(-2, -1), keepdims=True) for d in cotangents]
    size = np.sqrt(sum(squares))
    doubt = np.abs(turning) > 64 * np.sqrt(np.finfo(size.dtype).eps) * size
    return doubt, f"the gradient depends on {what}, which is not determined"


def unless(doubt, da):
    """Return `da`, or raise `LinAlgError` where there is none; a lazy matrix is then all nan."""
    wrong, message = doubt
    if like(wrong):
        return np.where(np.any(wrong, axis=(-2, -1), keepdims=True), np.nan, da)
    if np.any(wrong):
        raise np.linalg.LinAlgError(message)
    return da


@rule(np.linalg.svd)
def _(a: ArrayLike, full_matrices=np._NoValue, compute_uv=True, hermitian=False):
    more = given(full_matrices=full_matrices, hermitian=hermitian or None)
    if not compute_uv:
        more["compute_uv"] = False
    y = np.linalg.svd(a, **more)

    def pullback(dy):
        if compute_uv:
            da = svd_cotangent(*y, *dy)
        else:
            reduced_too = given(full_matrices=False, hermitian=hermitian or None)
            u, _, vh = np.linalg.svd(a, **reduced_too)
            da = values_cotangent(u, y, vh, dy)
        if hermitian and da is not None:
            da = triangle_of_hermitian(da)
        return (project(da, a),)

    return y, pullback


@rule(np.linalg.svdvals)
def _(x: ArrayLike):
    y = np.linalg.svdvals(x)

    def pullback(dy):
        u, _, vh = np.linalg.svd(x, full_matrices=False)
        return (project(values_cotangent(u, y, vh, dy), x),)

    return y, pullback


@rule.forward(np.linalg.svd)
def _(a: ArrayLike, full_matrices=np._NoValue, compute_uv=True, hermitian=False):
    more = given(full_matrices=full_matrices, hermitian=hermitian or None)
    if not compute_uv:
        more["compute_uv"] = False
    elif np.iscomplexobj(a) or (full_matrices and np.shape(a)[-1] != np.shape(a)[-2]):
        raise NotImplementedError(
            "np.linalg.svd has no forward rule for complex vectors, whose phase is not determined, "
            "nor for bases of a null space: call it with full_matrices=False"
        )
    y = np.linalg.svd(a, **more)

    def pushforward(da):
        da = hermitian_of_triangle(as_array(da)) if hermitian else as_array(da)
        if compute_uv:
            return svd_tangents(da, *y)
        u, _, vh = np.linalg.svd(a, full_matrices=False, **given(hermitian=hermitian or None))
        return values_tangent(da, u, y, vh)

    return y, pushforward


@rule.forward(np.linalg.svdvals)
def _(x: ArrayLike):
    y = np.linalg.svdvals(x)

    def pushforward(dx):
        u, _, vh = np.linalg.svd(x, full_matrices=False)
        return values_tangent(as_array(dx), u, y, vh)

    return y, pushforward


def values_tangent(da, u, s, vh):
    """Return the tangent of the singular values; 0 at the kink `s = 0`."""
    ds = np.sum(np.conj(u) * (da @ adjoint(vh)), axis=-2)
    return np.where(s == 0, 0, np.real(ds))


def svd_tangents(da, u, s, vh):
    """Return the tangents of a real decomposition without bases of a null space."""
    v = adjoint(vh)
    inner = adjoint(u) @ da @ v
    every = np.any(inner != 0, axis=-2)
    left = over_gaps(inner * columns(s) + rows(s) * adjoint(inner), s, every)
    right = over_gaps(rows(s) * inner + adjoint(inner) * columns(s), s, every)
    du, dv = u @ left, v @ right
    inverse = columns(1 / np.where(s == 0, 1, s))
    if u.shape[-2] > s.shape[-1]:
        du = du + (da @ v - u @ inner) * inverse
    if v.shape[-2] > s.shape[-1]:
        dv = dv + (adjoint(da) @ u - v @ adjoint(inner)) * inverse
    return du, values_tangent(da, u, s, vh), adjoint(dv)


def values_cotangent(u, s, vh, ds):
    """Return the cotangent of a matrix with the singular values `s`; 0 at the kink `s = 0`."""
    return (u * columns(np.where(s == 0, 0, ds))) @ vh


def svd_cotangent(u, s, vh, du, ds, dvh):
    """Return the cotangent of a matrix for those of its decomposition, which may be `None`."""
    k = s.shape[-1]
    if du is None and dvh is None:
        return None if ds is None else values_cotangent(u[..., :k], s, vh[..., :k, :], ds)
    v, dv = adjoint(vh), None if dvh is None else adjoint(dvh)
    used = np.zeros_like(s, dtype=bool)
    for cotangent in (du, dv):
        if cotangent is not None:
            used = used | np.any(cotangent[..., :k] != 0, axis=-2)
    u, du = reduced(u, du, k)
    v, dv = reduced(v, dv, k)
    x = 0.0 if du is None else adjoint(u) @ du
    z = 0.0 if dv is None else adjoint(v) @ dv
    inner = over_gaps(skew(x) * columns(s) + rows(s) * skew(z), s, used)
    if np.iscomplexobj(u):
        inner = inner + phase_cotangent(x, z, s, [d for d in (du, dv) if d is not None])
    if ds is not None:
        inner = inner + diagonal_matrix(np.where(s == 0, 0, ds))
    da = u @ inner @ adjoint(v)
    inverse = columns(1 / np.where(s == 0, 1, s))
    if du is not None and u.shape[-2] > k:
        da = da + ((du - u @ x) * inverse) @ adjoint(v)
    if dv is not None and v.shape[-2] > k:
        da = da + (u * inverse) @ adjoint(dv - v @ z)
    return da


def reduced(u, du, k):
    """Return the first `k` singular vectors, and their cotangent with that of the others."""
    if du is None:
        return u[..., :k], None
    if u.shape[-1] == k:
        return u, du
    return u[..., :k], within_range(u[..., :k], u[..., k:], du[..., :k], du[..., k:])


def skew(x):
    """Return `x - x^H`, of which a missing `x` (the number 0) has none."""
    return x - adjoint(x) if np.ndim(x) else x


def phase_cotangent(x, z, s, cotangents):
    """Return what the phases of singular vectors, which `u` and `v` share, add on the diagonal."""
    of_u, of_v = (np.imag(diagonal(m)) if np.ndim(m) else 0.0 for m in (x, z))
    doubt = doubtful(rows(of_u + of_v), cotangents, "the phase of complex singular vectors")
    return unless(doubt, diagonal_matrix(1j * of_u / np.where(s == 0, 1, s)))


def over_gaps(m, s, used):
    """Return `m_ij / (s_j^2 - s_i^2)`, with zeros on the diagonal, for the singular values `s`."""
    gaps, equal = (columns(s) - rows(s)) * (columns(s) + rows(s)), coincide(s)
    n = s.shape[-1]
    ambiguous = equal & (columns(used) | rows(used)) & ~on_the_diagonal(n, n, s)
    vanishing = s <= s.shape[-1] * np.finfo(s.dtype).eps * s[..., :1]
    message = (
        "the singular vectors of a repeated or vanishing singular value have no gradient: "
        "only the space that they span is determined"
    )
    quotient = np.where(equal, 0, m / np.where(equal, 1, gaps))
    return unless((ambiguous | columns(used & vanishing), message), quotient)


for _f in (np.linalg.cholesky, np.linalg.qr, np.linalg.svd, np.linalg.svdvals):
    rule.batched(_f)(of_stacks(_f))
