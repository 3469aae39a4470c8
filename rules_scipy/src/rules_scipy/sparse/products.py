"""Products of matrices: `@`, `dot`, and `*` of `spmatrix`, on both sides."""

import operator

import numpy as np
from scipy import sparse as sp

from rules_scipy.sparse.values import KINDS, Sparse, coordinates, filled, moved, whole
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.products")
DOTS = {kind.dot for kind in KINDS}
Dense = np.ndarray


def adjoint(a):
    """Return the conjugated transpose of a matrix."""
    return a.T.conj() if np.iscomplexobj(a) else a.T


def as_columns(x):
    """Return a vector as a matrix of one column."""
    return x[:, None] if np.ndim(x) == 1 else x


def two_dimensional(*xs):
    """Raise `NotImplementedError` for products of more dimensions than two."""
    if any(np.ndim(x) > 2 for x in xs):
        raise NotImplementedError(
            "products of sparse arrays have rules for vectors and matrices: reshape them"
        )


def with_rows(a, left, right):
    """Return an array of the pattern of `a`, of what `left @ right.conj().T` has there."""
    rows, columns = coordinates(a)
    found = np.sum(left[rows] * np.conj(right[columns]), axis=1)
    return filled(a, np.where(rows < 0, 0, found) if a.format == "dia" else found)


def from_left(f, a, b):
    """Return the value and the pullback of the product of a sparse and a dense array."""
    two_dimensional(a, b)

    def by_sparse(dy):
        if a.ndim == 1:
            (index,) = coordinates(a)
            return filled(a, b.conj()[index] @ dy if b.ndim == 2 else b.conj()[index] * dy)
        wide = (dy, b) if b.ndim == 2 else (np.reshape(dy, (-1, 1)), b[:, None])
        return project(with_rows(a, *wide), a)

    def by_dense(dy):
        if a.ndim == 1:
            vector = a.toarray().conj()
            return project(np.outer(vector, dy) if b.ndim == 2 else vector * dy, b)
        return project(adjoint(a) @ dy, b)

    return f(a, b), (by_sparse, by_dense)


def from_right(f, b, a):
    """Return the value and the pullback of the product of a dense and a sparse array."""
    two_dimensional(a, b)

    def by_dense(dy):
        if a.ndim == 1:
            vector = a.toarray().conj()
            return project(np.outer(dy, vector) if b.ndim == 2 else vector * dy, b)
        return project(dy @ adjoint(a), b)

    def by_sparse(dy):
        if a.ndim == 1:
            (index,) = coordinates(a)
            return filled(a, dy @ b.conj()[:, index] if b.ndim == 2 else b.conj()[index] * dy)
        if b.ndim == 2:
            return project(with_rows(a, b.T.conj(), dy.T.conj()), a)
        wide = b.conj()[:, None], np.reshape(np.conj(dy), (-1, 1))
        return project(with_rows(a, *wide), a)

    return f(b, a), (by_dense, by_sparse)


def by_list(a, b):
    """Return the value and the pullback of the product with a list of numbers, or of rows."""
    y, (by_sparse, by_dense) = from_left(operator.matmul, a, np.array(b))
    return y, (by_sparse, lambda dy: by_dense(dy).tolist())


def of_two(f, a, b):
    """Return the value and the pullback of the product of two sparse matrices."""
    if a.ndim != 2 or b.ndim != 2:
        raise NotImplementedError("products of sparse vectors have no rule: reshape them")

    def by_a(dy):
        return project(moved(dy.tocsr() @ adjoint(b).tocsr(), a), a)

    def by_b(dy):
        return project(moved(adjoint(a).tocsr() @ dy.tocsr(), b), b)

    return whole(f, a, b), (by_a, by_b)


@rule(operator.matmul)
def _(a: Sparse, b: Dense):
    return from_left(operator.matmul, a, b)


@rule(operator.matmul)
def _(b: Dense, a: Sparse):
    return from_right(operator.matmul, b, a)


@rule(operator.matmul)
def _(a: Sparse, b: list):
    return by_list(a, b)


@rule(operator.matmul)
def _(b: list, a: Sparse):
    y, (by_dense, by_sparse) = from_right(operator.matmul, np.array(b), a)
    return y, (lambda dy: by_dense(dy).tolist(), by_sparse)


@rule(operator.matmul)
def _(a: Sparse, b: Sparse):
    return of_two(operator.matmul, a, b)


@rule(operator.mul)
def _(a: sp.spmatrix, b: Dense):
    return from_left(operator.matmul, a, b)


@rule(operator.mul)
def _(b: Dense, a: sp.spmatrix):
    return from_right(operator.matmul, b, a)


@rule(operator.mul)
def _(a: sp.spmatrix, b: sp.spmatrix):
    return of_two(operator.matmul, a, b)


for dot in DOTS:

    @rule(dot)
    def _(a: Sparse, b: Dense):
        return from_left(operator.matmul, a, b)

    @rule(dot)
    def _(a: Sparse, b: list):
        return by_list(a, b)

    @rule(dot)
    def _(a: Sparse, b: Sparse):
        return of_two(operator.matmul, a, b)
