"""Inverses, determinants, systems of equations and norms."""

import numpy as np
from scipy import linalg as sl

from rules_scipy.linalg.factored import (
    determinant,
    factored,
    factored_transpose,
    regular_cofactors,
    solution,
)
from rules_scipy.shared.batches import of_stacks, of_systems
from rules_scipy.shared.held import hold_later
from rules_scipy.shared.linear.matrices import (
    HERMITIAN,
    SYMMETRIC,
    ArrayLike,
    adjoint,
    conjugate,
    diagonal,
    diagonal_matrix,
    given,
    of_hermitian,
    of_structure,
    outer,
    svd_of,
    transpose,
)
from rules_scipy.shared.linear.stacks import stacked
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.basic")
rule.constant(sl.bandwidth, sl.ishermitian, sl.issymmetric)

FLIPPED = {"upper triangular": "lower triangular", "lower triangular": "upper triangular"}


@rule(sl.inv)
def _(a: ArrayLike, overwrite_a=False, check_finite=True, *, assume_a=None, lower=False):
    y = sl.inv(a, False, check_finite, **given(assume_a=assume_a, lower=lower))

    def pullback(dy):
        if assume_a == "diagonal":
            return (project(of_diagonal(y, dy), a),)
        da = -adjoint(y) @ dy @ adjoint(y)
        return (project(of_structure(da, assume_a, lower), a),)

    return y, pullback


def of_diagonal(y, dy):
    """Return the cotangent of a matrix whose diagonal is inverted; SciPy copies the other entries.

    They are zero in a diagonal matrix, and their slope is not.
    """
    others = dy - diagonal_matrix(diagonal(dy))
    return others - diagonal_matrix(np.conj(diagonal(y)) ** 2 * diagonal(dy))


@rule(sl.solve)
def _(
    a: ArrayLike,
    b: ArrayLike,
    lower=False,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    assume_a=None,
    transposed=False,
):
    factors = None
    if not (transposed and (np.iscomplexobj(a) or np.iscomplexobj(b))):
        factors = factored(a, b, assume_a, lower, check_finite)
    if factors is not None:
        return solution(factors, a, b, 1 if transposed else 0)
    options = given(lower=lower, assume_a=assume_a, transposed=transposed)
    y = sl.solve(a, b, check_finite=check_finite, **options)
    vectors = np.ndim(b) == 1 and np.ndim(a) > 2  # one for each matrix of a stack

    def adjoint_solution(dy):
        dy = dy[..., None] if vectors else dy
        matrix = np.asarray(a)
        if assume_a in HERMITIAN and not transposed:
            return sl.solve(matrix, dy, lower=lower, assume_a=assume_a)
        if assume_a in HERMITIAN + SYMMETRIC:
            return sl.solve(conjugate(matrix), dy, lower=lower, assume_a=assume_a)
        if transposed:
            return sl.solve(conjugate(matrix), dy, **given(assume_a=assume_a))
        return sl.solve(adjoint(matrix), dy, **given(assume_a=FLIPPED.get(assume_a, assume_a)))

    def by_a(db):
        da = -outer(db, y[..., None] if vectors else y)
        return project(of_structure(transpose(da) if transposed else da, assume_a, lower), a)

    def by_b(db):
        return project(db[..., 0] if vectors else db, b)

    return y, (adjoint_solution, (by_a, by_b))


@rule(sl.solve_triangular)
@stacked(sl.solve_triangular, 2, 12)
def _(
    a: ArrayLike,
    b: ArrayLike,
    trans=0,
    lower=False,
    unit_diagonal=False,
    overwrite_b=False,
    check_finite=True,
):
    y = sl.solve_triangular(a, b, trans, lower, unit_diagonal, False, check_finite)
    kind = {0: "N", 1: "T", 2: "C"}.get(trans, trans)

    def adjoint_solution(dy):
        matrix = conjugate(np.asarray(a)) if kind == "T" else np.asarray(a)
        return sl.solve_triangular(matrix, dy, "C" if kind == "N" else "N", lower, unit_diagonal)

    def by_a(db):
        da = -outer(db, y)
        da = transpose(da) if kind == "T" else adjoint(da) if kind == "C" else da
        offset = 1 if unit_diagonal else 0
        return project(np.tril(da, -offset) if lower else np.triu(da, offset), a)

    def by_b(db):
        return project(db, b)

    return y, (adjoint_solution, (by_a, by_b))


@rule(sl.det)
def _(a: ArrayLike, overwrite_a=False, check_finite=True):
    factors = factored_transpose(a, check_finite)
    y = sl.det(a, False, check_finite) if factors is None else determinant(factors, a)

    def pullback(dy):
        return (project(np.expand_dims(dy, (-1, -2)) * cofactors(a, y, factors), a),)

    return y, pullback


def cofactors(a, y, factors):
    """Return the conjugated cofactors of `a`, from singular values where it is singular.

    Where it is nearly singular, their derivative is: in that of the product, large terms would
    cancel.
    """
    x = np.asarray(a)
    if np.any(y == 0):
        return cofactors_by_singular_values(x)
    if factors is None:
        found = np.expand_dims(conjugate(y), (-1, -2)) * adjoint(np.linalg.inv(a))
    else:
        found = regular_cofactors(factors, a, y)
    return cofactors_near_singular(x, found) if is_nearly_singular(x, found, y) else found


def is_nearly_singular(a, cofactors, y):
    """Return whether half of all digits are lost in the expansions of a determinant by rows."""
    lost = np.sum(abs(cofactors) * abs(a), axis=-1) / abs(np.expand_dims(y, -1))
    return np.any(lost > np.finfo(cofactors.dtype).eps ** -0.5)


def cofactors_near_singular(a, found):
    """Return the conjugated cofactors that were found, as a function of the matrix."""
    return found


def cofactors_by_singular_values(a):
    """Return the conjugated cofactors of a matrix that may be singular."""
    u, s, vh = svd_of(a)
    others = np.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :])
    return phase_of(u, vh) * ((u * np.prod(others, axis=-1)[..., None, :]) @ vh)


def phase_of(u, vh):
    """Return the conjugated determinant of the unitary factors."""
    return conjugate(np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def products_but_two(s):
    """Return a matrix of the products of all entries but two, with a diagonal of zeros."""
    n = s.shape[-1]
    found = np.zeros((*s.shape, n), s.dtype)
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        kept = (np.arange(n) != i) & (np.arange(n) != j)
        found[..., i, j] = found[..., j, i] = np.prod(s[..., kept], axis=-1)
    return found


def moved_cofactors(da, a):
    """Return the derivative of the conjugated cofactors in a direction; it is its own transpose."""
    u, s, vh = svd_of(a)
    inner = phase_of(u, vh) * (vh @ adjoint(da) @ u)
    but_two = products_but_two(s)
    on_diagonal = np.sum(but_two * diagonal(inner)[..., None, :], axis=-1)
    return u @ (diagonal_matrix(on_diagonal) - but_two * inner) @ vh


def twice_moved_cofactors(da, db, a):
    """Return the derivative of `moved_cofactors` by `a`: two directions are symmetric in it.

    A determinant is a polynomial, so that this is one of the minors, and has derivatives of all
    orders, which singular values do not have where they are zero or repeated.
    """
    n = a.shape[-1]
    if n == 1:
        return np.zeros_like(a)
    others = np.array([[k for k in range(n) if k != i] for i in range(n)])
    found = []
    for i in range(n):  # all minors at once would take much memory
        minor = (..., others[i][:, None], others[:, None, :])
        moved = moved_cofactors(db[minor], a[minor])
        signs = (-1.0) ** (np.arange(n) + i)
        found.append(signs.astype(a.real.dtype) * np.sum(conjugate(da[minor]) * moved, (-2, -1)))
    return np.stack(found, axis=-2)


@rule(moved_cofactors)
def _(da: np.ndarray, a: np.ndarray):
    def by_matrix(dy):
        return project(twice_moved_cofactors(dy, da, a), a)

    return moved_cofactors(da, a), (lambda dy: project(moved_cofactors(dy, a), da), by_matrix)


@rule(cofactors_by_singular_values)
def _(a: np.ndarray):
    return cofactors_by_singular_values(a), lambda dy: (project(moved_cofactors(dy, a), a),)


@rule(cofactors_near_singular)
def _(a: np.ndarray, found: np.ndarray):
    y = cofactors_near_singular(a, found)  # whose second derivative is not that of `found`
    return y, lambda dy: (project(moved_cofactors(dy, a), a), None)


def pinv_cotangent(dy, x, y):
    """Return the cotangent of `x`, with the pseudo-inverse `y` (Golub and Pereyra 1973)."""
    yh, dyh = adjoint(y), adjoint(dy)
    rest, other = dyh @ y @ yh, yh @ y @ dyh
    return rest - x @ (y @ rest) + other - (other @ y) @ x - yh @ dy @ yh


@rule(sl.pinv)
def _(a: ArrayLike, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    y = sl.pinv(a, atol=atol, rtol=rtol, return_rank=return_rank, check_finite=check_finite)

    def pullback(dy):
        inverse, dinverse = (y[0], dy[0]) if return_rank else (y, dy)
        if dinverse is None:
            return (None,)
        return (project(pinv_cotangent(dinverse, np.asarray(a), inverse), a),)

    return y, pullback


@rule(sl.pinvh)
def _(a: ArrayLike, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    y = sl.pinvh(a, atol, rtol, lower, return_rank, check_finite)

    def pullback(dy):
        inverse, dinverse = (y[0], dy[0]) if return_rank else (y, dy)
        if dinverse is None:
            return (None,)
        x = np.asarray(a)
        half = np.tril(x, -1) if lower else np.triu(x, 1)
        whole = half + adjoint(half) + diagonal_matrix(np.real(diagonal(x)))
        return (project(of_hermitian(pinv_cotangent(dinverse, whole, inverse), lower), a),)

    return y, pullback


@rule(sl.lstsq)
@stacked(sl.lstsq, 2, 12)
def _(
    a: ArrayLike,
    b: ArrayLike,
    cond=None,
    overwrite_a=False,
    overwrite_b=False,
    check_finite=True,
    lapack_driver=None,
):
    y = sl.lstsq(a, b, cond, False, False, check_finite, lapack_driver)
    held = hold_later(inverse_of_rank, a, y[2])

    def cotangents(dy):
        dx, dresidues, _, ds = dy
        matrix, x = np.asarray(a), y[0]
        residual = np.asarray(b) - matrix @ x
        da, db = np.zeros_like(matrix), np.zeros_like(residual)
        if dx is not None:  # Golub and Pereyra 1973
            inverse = pseudo_inverse(held, a)
            db = adjoint(inverse) @ dx
            null = dx - inverse @ (matrix @ dx)
            da = outer(residual, inverse @ db) - outer(db, x) + outer(adjoint(inverse) @ x, null)
        if dresidues is not None and np.size(dresidues):
            moved = 2 * dresidues * residual
            da, db = da - outer(moved, x), db + moved
        if ds is not None:
            u, s, vh = svd_of(matrix)
            da = da + (u * np.where(s == 0, 0, ds)) @ vh
        return da, db

    def by_a(shared):
        return project(shared[0], a)

    def by_b(shared):
        return project(shared[1], b)

    return y, (cotangents, (by_a, by_b))


def inverse_of_rank(a, rank):
    """Return the pseudo-inverse of a matrix, from as many singular values as its rank."""
    u, s, vh = svd_of(np.asarray(a))
    return adjoint(vh[:rank]) @ (adjoint(u[:, :rank]) / s[:rank, None])


def pseudo_inverse(held, a):
    """Return the pseudo-inverse of `a` that is held, or that of another matrix."""
    return held.parts_for(a, *held.of[1:])


@rule(pseudo_inverse)
def _(held: object, a: ArrayLike):
    y = pseudo_inverse(held, a)

    def by_a(dy):
        return project(pinv_cotangent(dy, np.asarray(a), y), a)

    return y, (None, by_a)


@rule(sl.norm)
def _(a: ArrayLike, ord=None, axis=None, keepdims=False, check_finite=True):
    y = sl.norm(a, ord, axis, keepdims, check_finite)

    def pullback(dy):
        x = np.asarray(a)
        axes = tuple(range(x.ndim)) if axis is None else np.atleast_1d(axis)
        axes = tuple(int(k) % x.ndim for k in axes)
        wide = np.asarray(dy) if keepdims else np.expand_dims(dy, axes)
        value = np.asarray(y) if keepdims else np.expand_dims(y, axes)
        if ord is None or ord == "fro" or (ord == 2 and len(axes) == 1):
            slope = x / np.where(value == 0, np.inf, value)
        elif len(axes) == 1:
            slope = vector_slope(x, value, ord, axes)
        else:
            slope = matrix_slope(x, ord, axes)
        return (project(wide * slope, a),)

    return y, pullback


def vector_slope(x, value, ord, axes):
    """Return the derivative of a vector norm; ties of a largest or smallest entry are shared."""
    size = np.abs(x)
    phase = np.where(size == 0, 0, x / np.where(size == 0, 1, size))
    if ord in (np.inf, -np.inf):
        ties = size == value
        return phase * ties / np.sum(ties, axis=axes, keepdims=True)
    if ord == 0:
        return np.zeros_like(x)
    ratio = size / np.where(value == 0, 1, value)
    # a norm is zero of zeros, and of any zero where its order is negative
    flat = (size == 0) | (value == 0)
    slope = phase * np.where(flat, 0, np.where(flat, 1, ratio) ** (ord - 1.0))
    if 1 < ord < 2:  # the second derivative by an entry that is 0 is infinite
        slope = slope + np.where((size == 0) & (value != 0), np.real(x), 0) ** (ord - 1.0)
    return slope


def matrix_slope(x, ord, axes):
    """Return the derivative of a matrix norm."""
    if ord in (1, -1, np.inf, -np.inf):
        inner, across = axes if abs(ord) == 1 else axes[::-1]
        sums = np.sum(np.abs(x), axis=inner, keepdims=True)
        extreme = np.max if ord > 0 else np.min  # not the value: LAPACK adds up in another order
        ties = sums == extreme(sums, axis=across, keepdims=True)
        size = np.abs(x)
        phase = np.where(size == 0, 0, x / np.where(size == 0, 1, size))
        return phase * ties / np.sum(ties, axis=across, keepdims=True)
    moved = np.moveaxis(x, axes, (-2, -1))
    u, s, vh = svd_of(moved)
    if ord == "nuc":
        weights = 1.0 * (s > 0)
    else:
        ties = s == (s[..., :1] if ord == 2 else s[..., -1:])
        weights = ties / np.sum(ties, axis=-1, keepdims=True) * (s > 0)
    return np.moveaxis((u * weights[..., None, :]) @ vh, (-2, -1), axes)


# -- of batches

for _f in (sl.inv, sl.det):
    rule.batched(_f)(of_stacks(_f, "overwrite_a", "check_finite"))
rule.batched(sl.pinv)(of_stacks(sl.pinv))
for _f in (sl.solve, sl.solve_triangular):
    rule.batched(_f)(of_systems(_f))
