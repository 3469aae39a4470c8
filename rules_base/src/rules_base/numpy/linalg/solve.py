"""Inverses, determinants and linear systems of equations.

The formulas are those of Giles (2008), "An extended collection of matrix derivative results for
forward and reverse mode algorithmic differentiation", for complex matrices with adjoints in the
place of transposes; of Golub and Pereyra (1973) for the pseudo-inverse and least squares.
"""

import numpy as np

from rules_base.shared.axes import given, like, on_the_diagonal, size_of, truncates
from rules_base.shared.batches import of_stacks
from rules_base.shared.cofactors import (
    cofactors,
    cofactors_by_singular_values,
    cofactors_near_singular,
    moved_cofactors,
    scaled,
    twice_moved_cofactors,
)
from rules_base.shared.matrices import (
    ArrayLike,
    adjoint,
    as_array,
    conjugate,
    hermitian_of_triangle,
    rows,
    triangle_of_hermitian,
)
from rulescore import Array, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.linalg.solve")
rule.constant(np.linalg.matrix_rank)


@rule(np.linalg.inv)
def _(a: ArrayLike):
    y = np.linalg.inv(a)

    def pullback(dy):
        return (project(inv_cotangent(dy, y), a),)

    return y, pullback


@rule.forward(np.linalg.inv)
def _(a: ArrayLike):
    y = np.linalg.inv(a)
    return y, (lambda da: -y @ da @ y,)


@rule.forward(np.linalg.det)
def _(a: ArrayLike):
    y = np.linalg.det(a)

    def pushforward(da):
        return np.sum(conjugate(cofactors(as_array(a), y)) * da, axis=(-2, -1))

    return y, pushforward


@rule.forward(np.linalg.solve)
def _(a: ArrayLike, b: ArrayLike):
    y = np.linalg.solve(a, b)
    are_vectors = np.ndim(b) == 1

    def da(da):
        return -(as_array(da) @ rows(y))[..., 0] if are_vectors else -(as_array(da) @ y)

    def db(db):
        return np.broadcast_to(db, y.shape)

    def solution(s):
        return np.linalg.solve(a, rows(s))[..., 0] if are_vectors else np.linalg.solve(a, s)

    return y, ((da, db), solution)


def inv_cotangent(dy, y):
    """Return the cotangent of the matrix that `y` is the inverse of."""
    return -adjoint(y) @ dy @ adjoint(y)


@rule(np.linalg.det)
def _(a: ArrayLike):
    y = np.linalg.det(a)

    def pullback(dy):
        return (project(scaled(dy, cofactors(as_array(a), y)), a),)

    return y, pullback


@rule(cofactors_near_singular)
def _(a: np.ndarray, found: np.ndarray):
    y = cofactors_near_singular(a, found)  # whose second derivative is not that of `found`
    return y, lambda dy: (project(moved_cofactors(dy, a), a), None)


@rule.forward(cofactors_near_singular)
def _(a: np.ndarray, found: np.ndarray):
    y = cofactors_near_singular(a, found)
    return y, (lambda da: moved_cofactors(da, a), lambda df: 0 * df)


@rule(cofactors_by_singular_values)
def _(a: np.ndarray):
    def pullback(dy):
        return (project(moved_cofactors(dy, a), a),)

    return cofactors_by_singular_values(a), pullback


@rule.forward(cofactors_by_singular_values)
def _(a: np.ndarray):
    return cofactors_by_singular_values(a), (lambda da: moved_cofactors(da, a),)


@rule(moved_cofactors)
def _(da: np.ndarray, a: np.ndarray):
    def by_direction(dy):
        return project(moved_cofactors(dy, a), da)

    def by_matrix(dy):
        return project(twice_moved_cofactors(dy, da, a), a)

    return moved_cofactors(da, a), (by_direction, by_matrix)


@rule.forward(moved_cofactors)
def _(da: np.ndarray, a: np.ndarray):
    def along_direction(moved):
        return moved_cofactors(moved, a)

    def along_matrix(moved):
        return twice_moved_cofactors(moved, da, a)

    return moved_cofactors(da, a), (along_direction, along_matrix)


@rule(np.linalg.slogdet)
def _(a: ArrayLike):
    y = np.linalg.slogdet(a)

    def pullback(dy):
        dsign, dlogabsdet = dy
        scale = 0.0 if dlogabsdet is None else dlogabsdet
        if dsign is not None and np.iscomplexobj(y.sign):
            scale = scale + 1j * np.imag(np.conj(y.sign) * dsign)
        unused = (scale == 0) & (y.sign == 0)
        scale = scale[..., None, None] if np.ndim(scale) else scale
        unused = unused[..., None, None] if np.ndim(unused) else unused
        # a zero in `dy` is a strong zero: a matrix that does not matter may be singular
        n = np.shape(a)[-1]
        safe = np.where(unused, on_the_diagonal(n, n, a), a)
        return (project(scale * adjoint(np.linalg.inv(safe)), a),)

    return y, pullback


@rule.forward(np.linalg.slogdet)
def _(a: ArrayLike):
    y = np.linalg.slogdet(a)

    def pushforward(da):
        relative = np.trace(np.linalg.solve(a, as_array(da)), axis1=-2, axis2=-1)
        turning = y.sign * (1j * np.imag(relative)) if np.iscomplexobj(y.sign) else 0 * y.sign
        return turning, np.real(relative)

    return y, pushforward


@rule(np.linalg.solve)
def _(a: ArrayLike, b: ArrayLike):
    y = np.linalg.solve(a, b)
    is_one = np.ndim(y) == 1  # one vector for one matrix
    are_vectors = np.ndim(b) == 1  # one vector for each matrix

    def adjoint_solution(dy):
        return np.linalg.solve(adjoint(as_array(a)), rows(dy) if are_vectors and not is_one else dy)

    def da(db):
        if is_one:
            return project(-rows(db) * conjugate(y), a)
        return project(-db @ adjoint(rows(y) if are_vectors else y), a)

    def db(db):
        return project(db[..., 0] if are_vectors and not is_one else db, b)

    return y, (adjoint_solution, (da, db))


@rule.linear(np.linalg.trace)
def _(dy, x: ArrayLike, *, offset=0, dtype=None):
    if dtype is not None and truncates(as_array(x), dtype):
        return None
    return on_diagonal(dy[..., None, None] if np.ndim(dy) else dy, x, offset)


@rule.linear(np.linalg.diagonal)
def _(dy, x: ArrayLike, *, offset=0):
    # the diagonal starts in the row `-offset`, or in the column `offset`
    n = np.shape(x)[-2]
    before = min(max(-offset, 0), n)
    widths = [(0, 0)] * (np.ndim(dy) - 1) + [(before, n - before - np.shape(dy)[-1])]
    return on_diagonal(rows(np.pad(dy, widths)), x, offset)


def on_diagonal(dy, x, offset):
    """Return matrices of the shape of `x` with `dy`, a value for each row, on a diagonal."""
    return np.where(on_the_diagonal(*np.shape(x)[-2:], dy, offset), dy, 0)


@rule.linear(np.linalg.matrix_transpose)
def _(dy, x: ArrayLike):
    return np.swapaxes(dy, -1, -2)


@rule(np.linalg.tensorinv)
def _(a: ArrayLike, ind=2):
    y = np.linalg.tensorinv(a, ind)

    def pullback(dy):
        shape = np.shape(a)
        n = int(np.prod(shape[:ind]))
        da = inv_cotangent(np.reshape(dy, (n, n)), np.reshape(y, (n, n)))
        return (project(np.reshape(da, shape), a),)

    return y, pullback


@rule(np.linalg.tensorsolve)
def _(a: ArrayLike, b: ArrayLike, axes=None):
    y = np.linalg.tensorsolve(a, b, axes)

    ndim = np.ndim(a)
    last = [] if axes is None else [k % ndim for k in axes]
    order = [k for k in range(ndim) if k not in last] + last

    def adjoint_solution(dy):
        matrix = np.reshape(np.transpose(as_array(a), order), (size_of(b), size_of(y)))
        return np.linalg.solve(adjoint(matrix), np.ravel(dy))

    def da(db):
        da = np.reshape(np.outer(-db, conjugate(y)), np.shape(b) + np.shape(y))
        da = np.reshape(da, [np.shape(a)[k] for k in order])
        return project(np.transpose(da, [order.index(k) for k in range(ndim)]), a)

    def db(db):
        return project(np.reshape(db, np.shape(b)), b)

    return y, (adjoint_solution, (da, db))


@rule(np.linalg.pinv)
def _(a: ArrayLike, rcond=None, hermitian=False, **options):
    y = np.linalg.pinv(a, rcond, hermitian, **options)

    def pullback(dy):
        # the rank is taken to be constant (Golub and Pereyra)
        x = hermitian_of_triangle(as_array(a), True) if hermitian else as_array(a)
        yh, dyh = adjoint(y), adjoint(dy)
        rest = dyh @ y @ yh
        other = yh @ y @ dyh
        da = rest - x @ (y @ rest) + other - (other @ y) @ x - yh @ dy @ yh
        return (project(triangle_of_hermitian(da) if hermitian else da, a),)

    return y, pullback


@rule(np.linalg.lstsq)
def _(a: ArrayLike, b: ArrayLike, rcond=None):
    y = np.linalg.lstsq(a, b, **given(rcond=rcond))

    def pullback(dy):
        dx, dresiduals, _, ds = dy
        x, rank = y[0], y[2]
        da, db = 0.0, 0.0
        if dx is not None:
            matrix = as_array(a)
            inverse = pseudo_inverse(matrix, rank, rcond)
            is_unique = not like(matrix) and rank == matrix.shape[1]
            da, db = least_squares_cotangents(dx, matrix, as_array(b), x, inverse, is_unique)
        if dresiduals is not None and size_of(dresiduals):
            residual = as_array(b) - as_array(a) @ x
            dresidual = 2 * np.reshape(dresiduals, np.shape(x)[1:]) * residual
            da = da - outer(dresidual, x)
            db = db + dresidual
        if ds is not None:
            u, _, vh = np.linalg.svd(as_array(a), full_matrices=False)
            da = da + (u * ds) @ vh
        da, db = np.broadcast_to(da, np.shape(a)), np.broadcast_to(db, np.shape(b))
        return project(da, a), project(db, b)

    return y, pullback


def outer(y, x):
    """Return `y x^H` for vectors, or for matrices of vectors in columns."""
    return np.outer(y, conjugate(x)) if np.ndim(x) == 1 else y @ adjoint(x)


def least_squares_tangent(da, db, a, b, x, inverse):
    """Return the tangent of the shortest `x` that minimizes `|b - a x|`.

    Arguments:
        inverse: the pseudo-inverse of `a`, whose rank is taken to be constant (Golub and Pereyra).
    """
    dah, inverse_h = adjoint(da), adjoint(inverse)
    outside = inverse @ (inverse_h @ (dah @ (b - a @ x)))
    null = dah @ (inverse_h @ x)
    return inverse @ (db - da @ x) + outside + null - inverse @ (a @ null)


@rule.forward(np.linalg.pinv)
def _(a: ArrayLike, rcond=None, hermitian=False, **options):
    y = np.linalg.pinv(a, rcond, hermitian, **options)

    def pushforward(da):
        da = hermitian_of_triangle(as_array(da), True) if hermitian else as_array(da)
        x, dah, yh = as_array(a), adjoint(da), adjoint(y)
        x = hermitian_of_triangle(x, True) if hermitian else x
        outside, null = y @ yh @ dah, dah @ yh @ y
        return outside - outside @ x @ y + null - y @ x @ null - y @ da @ y

    return y, pushforward


@rule.forward(np.linalg.lstsq)
def _(a: ArrayLike, b: ArrayLike, rcond=None):
    y = np.linalg.lstsq(a, b, **given(rcond=rcond))

    def pushforward(da, db):
        x, residuals, rank, _ = y
        matrix, right = as_array(a), as_array(b)
        u, _, vh = np.linalg.svd(matrix, full_matrices=False)
        inverse = pseudo_inverse(matrix, rank, rcond)
        da = np.zeros_like(matrix) if da is None else as_array(da)
        db = np.zeros_like(right) if db is None else as_array(db)
        dx = least_squares_tangent(da, db, matrix, right, x, inverse)
        moved = np.conj(right - matrix @ x) * (db - da @ x)
        dresiduals = 2 * np.real(np.sum(moved, axis=0)) if residuals.size else 0 * residuals
        ds = np.real(np.sum(np.conj(u) * (da @ adjoint(vh)), axis=0))
        return dx, np.reshape(dresiduals, residuals.shape), None, ds

    return y, pushforward


def least_squares_cotangents(dx, a, b, x, inverse, is_unique):
    """Return the cotangents of `a` and `b` for the shortest `x` that minimizes `|b - a x|`.

    Arguments:
        inverse: the pseudo-inverse of `a`, whose rank is taken to be constant (Golub and Pereyra).
        is_unique: whether there is no other `x`.
    """
    db = adjoint(inverse) @ dx
    da = outer(b - a @ x, inverse @ db) - outer(db, x)
    if not is_unique:
        da = da + outer(adjoint(inverse) @ x, dx - inverse @ (a @ dx))
    return da, db


def pseudo_inverse(a, rank, rcond):
    """Return the pseudo-inverse that `np.linalg.lstsq` solves with.

    It has derivatives where singular values are repeated, too: singular vectors have none there.
    """
    if like(a):  # other libraries have no `pinv`
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        counts = np.arange(s.shape[0], **like(s)) < rank
        return (adjoint(vh) * np.where(counts, 1 / np.where(counts, s, 1), 0)) @ adjoint(u)
    eps = np.finfo(np.result_type(a, 0.0) if a.dtype.kind in "iub" else a.dtype).eps
    limit = eps * max(np.shape(a)) if rcond is None else rcond
    return np.linalg.pinv(a, limit if limit >= 0 else eps)


# -- of batches

for _f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.pinv):
    rule.batched(_f)(of_stacks(_f))


@rule.batched(np.linalg.solve)
def _(a: Array, b: Array):
    if a.ndim != 3 or b.ndim not in (2, 3):
        return NotImplemented
    return np.linalg.solve(a, b) if b.ndim == 3 else np.linalg.solve(a, b[..., None])[..., 0]
