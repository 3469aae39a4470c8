"""Matrix products of vectors, matrices and stacks of matrices: `@`, matmul and dot."""

import operator

import numpy as np

from rules_base.shared.axes import conjugate
from rules_base.shared.batches import require_equal
from rules_base.shared.matrices import zero_filled
from rulescore import Array, Numeric, RuleSet, project
from rulescore.batching import aligned

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.matmul", may_raise=False)


@rule(np.matmul, operator.matmul)
def _(a: Array, b: Array):
    def da(dy):
        return project(matmul_left(dy, a, b), a)

    def db(dy):
        return project(matmul_right(dy, a, b), b)

    return a @ b, (da, db)


def matmul_left(dy, a, b):
    """Return the cotangent of `a` in `a @ b`, before batch axes are summed."""
    dy = zero_filled(dy)
    if b.dtype.kind == "c":
        b = conjugate(b)
    if a.ndim == 2 and b.ndim == 2:
        return dy @ b.T
    if b.ndim == 1:
        return dy * b if a.ndim == 1 else dy[..., None] * b
    if a.ndim == 1:
        return np.matmul(b, np.expand_dims(dy, -1))[..., 0]
    if a.ndim == 2 and b.ndim > 2:
        batch = tuple(range(b.ndim - 2))
        return np.tensordot(dy, b, ((*batch, dy.ndim - 1), (*batch, b.ndim - 1)))
    return np.matmul(dy, b.T if b.ndim == 2 else np.swapaxes(b, -1, -2))


def matmul_right(dy, a, b):
    """Return the cotangent of `b` in `a @ b`, before batch axes are summed."""
    dy = zero_filled(dy)
    if a.dtype.kind == "c":
        a = conjugate(a)
    if a.ndim == 2 and b.ndim == 2:
        return a.T @ dy
    if a.ndim == 1:
        return dy * a if b.ndim == 1 else a[:, None] * dy[..., None, :]
    if b.ndim == 1:
        if a.ndim == 2:
            return np.matmul(dy, a)
        rows = tuple(range(a.ndim - 1))
        return np.tensordot(dy, a, (rows, rows))
    if b.ndim == 2 and a.ndim > 2:
        rows = tuple(range(a.ndim - 1))
        return np.tensordot(a, dy, (rows, rows))
    return np.matmul(a.T if a.ndim == 2 else np.swapaxes(a, -1, -2), dy)


@rule(np.dot, np.ndarray.dot)
def _(a: Numeric, b: Numeric):
    if type(a) is np.ndarray is type(b) and a.ndim and 0 < b.ndim <= 2:

        def left_of_matmul(dy):
            return project(matmul_left(dy, a, b), a)

        def right_of_matmul(dy):
            return project(matmul_right(dy, a, b), b)

        return np.dot(a, b), (left_of_matmul, right_of_matmul)

    def da(dy):
        is_scaled = is_number(a) or is_number(b)
        return project(dy * np.conjugate(b) if is_scaled else dot_left(dy, a, b), a)

    def db(dy):
        is_scaled = is_number(a) or is_number(b)
        return project(dy * np.conjugate(a) if is_scaled else dot_right(dy, a, b), b)

    return np.dot(a, b), (da, db)


def is_number(x):
    """Return whether `x` has no axes."""
    return x.ndim == 0 if isinstance(x, (np.ndarray, Array)) else True


def dot_left(dy, a, b):
    """Return the cotangent of the array `a` in `np.dot(a, b)` with an array."""
    if b.ndim <= 2:
        return matmul_left(dy, a, b)
    own = a.ndim - 1
    others = (*range(b.ndim - 2), b.ndim - 1)
    return np.tensordot(dy, conjugate(b), (tuple(range(own, dy.ndim)), others))


def dot_right(dy, a, b):
    """Return the cotangent of the array `b` in `np.dot(a, b)` with an array."""
    if b.ndim <= 2:
        return matmul_right(dy, a, b)
    own = tuple(range(a.ndim - 1))
    summed = np.tensordot(conjugate(a), dy, (own, own))  # the contracted axis comes first
    return np.moveaxis(summed, 0, -2)


@rule.forward(np.matmul, operator.matmul)
def _(a: Array, b: Array):
    return a @ b, (lambda da: da @ b, lambda db: a @ db)


@rule.forward(np.dot, np.ndarray.dot)
def _(a: Numeric, b: Numeric):
    return np.dot(a, b), (lambda da: np.dot(da, b), lambda db: np.dot(a, db))


# -- of batches


@rule.batched(np.matmul, operator.matmul)
def _(a: Array, b: Array):
    return product_of_batches(a, b)


@rule.batched(np.dot, np.ndarray.dot)
def _(a: Numeric, b: Numeric):
    if np.ndim(a) < 2 or np.ndim(b) < 2:  # a number has a part in the dtype, as in `np.dot`
        parts = aligned(a, b)
        return np.multiply(*(np.asarray(x) if np.ndim(x) == 0 else x for x in parts))
    return product_of_batches(a, b) if a.ndim <= 3 and b.ndim <= 3 else NotImplemented


def product_of_batches(a, b):
    """Return the products of vectors, matrices, or stacks of them, one for each of the batch."""
    if len(b) == 1 and b.ndim <= 3:  # one product of matrices for the whole batch
        rows = a if a.ndim == 2 else np.reshape(a, (-1, a.shape[-1]))
        y = rows @ b[0]
        return y if a.ndim == 2 else np.reshape(y, a.shape[:-1] + b.shape[2:])
    if len(a) == 1 and a.ndim <= 3 and b.ndim == 2:
        return b @ np.swapaxes(a[0], -1, -2) if a.ndim == 3 else b @ a[0]
    if a.ndim == 2 and b.ndim == 2:
        require_equal(a.shape[1], b.shape[1])
        return np.einsum("ni,ni->n", a, b)
    left = np.expand_dims(a, 1) if a.ndim == 2 else a
    right = np.expand_dims(b, 2) if b.ndim == 2 else b
    y = np.matmul(*aligned(left, right))
    if b.ndim == 2:
        return y[..., 0]
    return y[..., 0, :] if a.ndim == 2 else y
