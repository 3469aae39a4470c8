"""Products of arrays: inner, outer and tensor products, and cross products."""

from functools import lru_cache

import numpy as np

from rules_base.numpy.matmul import matmul_left, matmul_right
from rules_base.shared.batches import flat, require_equal
from rules_base.shared.forward import bilinear
from rules_base.shared.matrices import ArrayLike, adjoint, as_array, conjugate, zero_filled
from rulescore import Array, Numeric, RuleSet, project
from rulescore.batching import aligned

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.products", may_raise=False)


@rule(np.inner)
def _(a: ArrayLike, b: ArrayLike):
    def da(dy):
        if np.ndim(dy) == 0 or np.ndim(a) == 0 or np.ndim(b) == 0:
            return project(dy * np.conj(b), a)
        return tensordot_left(dy, a, b, (-1, -1))

    def db(dy):
        if np.ndim(dy) == 0 or np.ndim(a) == 0 or np.ndim(b) == 0:
            return project(dy * np.conj(a), b)
        return tensordot_right(dy, a, b, (-1, -1))

    return np.inner(a, b), (da, db)


@rule(np.vdot)
def _(a: ArrayLike, b: ArrayLike):
    # vdot conjugates its first argument, so that the gradient is conjugated there
    def da(dy):
        return project(np.conj(dy) * np.reshape(b, np.shape(a)), a)

    def db(dy):
        return project(dy * np.reshape(a, np.shape(b)), b)

    return np.vdot(a, b), (da, db)


def outer_left(dy, a, b):
    """Return the cotangent of `a` in the outer product of the raveled arguments."""
    return project(np.reshape(np.matmul(dy, conjugate(np.ravel(b))), np.shape(a)), a)


def outer_right(dy, a, b):
    """Return the cotangent of `b` in the outer product of the raveled arguments."""
    return project(np.reshape(np.matmul(conjugate(np.ravel(a)), dy), np.shape(b)), b)


@rule(np.outer)
def _(a: ArrayLike, b: ArrayLike):
    def da(dy):
        return outer_left(dy, a, b)

    def db(dy):
        return outer_right(dy, a, b)

    return np.outer(a, b), (da, db)


@rule(np.linalg.outer)
def _(a: ArrayLike, b: ArrayLike):
    def da(dy):
        return outer_left(dy, a, b)

    def db(dy):
        return outer_right(dy, a, b)

    return np.linalg.outer(a, b), (da, db)


@rule(np.tensordot)
def _(a: ArrayLike, b: ArrayLike, axes=2):
    def da(dy):
        return tensordot_left(dy, a, b, axes)

    def db(dy):
        return tensordot_right(dy, a, b, axes)

    return np.tensordot(a, b, axes), (da, db)


@rule(np.linalg.tensordot)
def _(a: ArrayLike, b: ArrayLike, *, axes=2):
    def da(dy):
        return tensordot_left(dy, a, b, axes)

    def db(dy):
        return tensordot_right(dy, a, b, axes)

    return np.linalg.tensordot(a, b, axes=axes), (da, db)


def tensordot_left(dy, a, b, axes):
    """Return the cotangent of `a` in `np.tensordot(a, b, axes)`.

    The free axes of the result are contracted with the other argument's, and the axes of the
    product are brought back to where they come from.
    """
    of_dy, of_b, order = tensordot_plan(summed_axes(a, b, axes), np.ndim(a), np.ndim(b))[0]
    da = np.tensordot(zero_filled(dy), conjugate(as_array(b)), (of_dy, of_b))
    return project(np.transpose(da, order), a)


def tensordot_right(dy, a, b, axes):
    """Return the cotangent of `b` in `np.tensordot(a, b, axes)`."""
    of_a, of_dy, order = tensordot_plan(summed_axes(a, b, axes), np.ndim(a), np.ndim(b))[1]
    db = np.tensordot(conjugate(as_array(a)), zero_filled(dy), (of_a, of_dy))
    return project(np.transpose(db, order), b)


def summed_axes(a, b, axes):
    """Return the axes of both arguments over which `np.tensordot(a, b, axes)` sums."""
    if isinstance(axes, int | np.integer):
        return tuple(range(np.ndim(a) - axes, np.ndim(a))), tuple(range(axes))
    summed_a, summed_b = [(k,) if np.ndim(k) == 0 else tuple(k) for k in axes]
    return summed_a, summed_b


@lru_cache(maxsize=4096)
def tensordot_plan(summed, ndim_a, ndim_b):
    """Return, for both arguments, the axes to contract and the order to bring the rest into."""
    summed_a, summed_b = [k % ndim_a for k in summed[0]], [k % ndim_b for k in summed[1]]
    free_a = [k for k in range(ndim_a) if k not in summed_a]
    free_b = [k for k in range(ndim_b) if k not in summed_b]
    count = len(free_a)
    ends = list(range(count, count + len(free_b)))
    # the axes of `np.tensordot(dy, b)` are the free ones of `a`, then those left of `b`
    origin_a = free_a + [summed_a[summed_b.index(k)] for k in sorted(summed_b)]
    origin_b = [summed_b[summed_a.index(k)] for k in sorted(summed_a)] + free_b
    return (
        (ends, free_b, [origin_a.index(k) for k in range(ndim_a)]),
        (free_a, list(range(count)), [origin_b.index(k) for k in range(ndim_b)]),
    )


@rule(np.kron)
def _(a: ArrayLike, b: ArrayLike):
    # axes of the result come in pairs: the outer of `a`, the inner of `b`
    ndim = max(np.ndim(a), np.ndim(b))

    def in_pairs(dy):
        pairs = zip(of_ndim(ndim, a), of_ndim(ndim, b), strict=True)
        return np.reshape(dy, [n for pair in pairs for n in pair])

    def da(pairs):
        others = conjugate(np.reshape(b, of_ndim(ndim, b)))
        da = np.tensordot(pairs, others, (list(range(1, 2 * ndim, 2)), list(range(ndim))))
        return project(np.reshape(da, np.shape(a)), a)

    def db(pairs):
        others = conjugate(np.reshape(a, of_ndim(ndim, a)))
        db = np.tensordot(pairs, others, (list(range(0, 2 * ndim, 2)), list(range(ndim))))
        return project(np.reshape(db, np.shape(b)), b)

    return np.kron(a, b), (in_pairs, (da, db))


def of_ndim(ndim, x):
    """Return the shape of `x` with axes of length one in front, `ndim` in all."""
    return (1,) * (ndim - np.ndim(x)) + np.shape(x)


@rule(np.cross)
def _(a: ArrayLike, b: ArrayLike, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axes = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)

    def da(dy):
        return cross_left(dy, a, b, *axes)

    def db(dy):
        return cross_right(dy, a, b, *axes)

    return np.cross(a, b, axisa, axisb, axisc, axis), (da, db)


@rule(np.linalg.cross)
def _(a: ArrayLike, b: ArrayLike, *, axis=-1):
    def da(dy):
        return cross_left(dy, a, b, axis, axis, axis)

    def db(dy):
        return cross_right(dy, a, b, axis, axis, axis)

    return np.linalg.cross(a, b, axis=axis), (da, db)


def cross_left(dy, a, b, axisa, axisb, axisc):
    """Return the cotangent of `a` in `a × b`: `conj(b) × dy`."""
    x, z = np.moveaxis(as_array(a), axisa, -1), np.moveaxis(as_array(b), axisb, -1)
    da = np.cross(conjugate(in_space(z)), normal(dy, x, z, axisc))
    return moved_back(da[..., : x.shape[-1]], axisa, a)


def cross_right(dy, a, b, axisa, axisb, axisc):
    """Return the cotangent of `b` in `a × b`: `dy × conj(a)`."""
    x, z = np.moveaxis(as_array(a), axisa, -1), np.moveaxis(as_array(b), axisb, -1)
    db = np.cross(normal(dy, x, z, axisc), conjugate(in_space(x)))
    return moved_back(db[..., : z.shape[-1]], axisb, b)


def normal(dy, x, z, axis):
    """Return `dy` as vectors of space: of two vectors of the plane it has the third entry."""
    if x.shape[-1] == 2 and z.shape[-1] == 2:
        return np.expand_dims(dy, -1) * np.array([0.0, 0.0, 1.0], dtype=np.result_type(dy))
    return np.moveaxis(dy, axis, -1)


def in_space(x):
    """Return vectors of the plane or of space as vectors of space."""
    if x.shape[-1] == 3:
        return x
    return np.concatenate([x, np.zeros_like(x[..., :1])], -1)


@rule(np.linalg.matmul)
def _(a: ArrayLike, b: ArrayLike):
    def da(dy):
        return project(matmul_left(dy, as_array(a), as_array(b)), a)

    def db(dy):
        return project(matmul_right(dy, as_array(a), as_array(b)), b)

    return np.linalg.matmul(a, b), (da, db)


@rule(np.vecdot)
def _(a: ArrayLike, b: ArrayLike, *, axis=-1):
    def da(dy):
        return vecdot_left(dy, a, b, axis)

    def db(dy):
        return vecdot_right(dy, a, b, axis)

    return np.vecdot(a, b, axis=axis), (da, db)


@rule(np.linalg.vecdot)
def _(a: ArrayLike, b: ArrayLike, *, axis=-1):
    def da(dy):
        return vecdot_left(dy, a, b, axis)

    def db(dy):
        return vecdot_right(dy, a, b, axis)

    return np.linalg.vecdot(a, b, axis=axis), (da, db)


def vecdot_left(dy, a, b, axis):
    """Return the cotangent of `a` in `sum(conj(a) * b, axis)`, which conjugates it."""
    z = np.moveaxis(as_array(b), axis, -1)
    return moved_back(conjugate(np.expand_dims(dy, -1)) * z, axis, a)


def vecdot_right(dy, a, b, axis):
    """Return the cotangent of `b` in `sum(conj(a) * b, axis)`."""
    return moved_back(np.expand_dims(dy, -1) * np.moveaxis(as_array(a), axis, -1), axis, b)


def moved_back(dx, axis, x):
    """Return the cotangent of `x`, given that of `x` with `axis` moved to the end."""
    dx = project(dx, np.moveaxis(as_array(x), axis, -1))
    return None if dx is None else project(np.moveaxis(dx, -1, axis), x)


def outer_of_stacks(dy, v, matrix):
    """Return the sum of the outer products `dy v^T` over the axes along which `matrix` is one."""
    if np.ndim(matrix) == 2:
        stack = tuple(range(np.ndim(dy) - 1))
        if np.shape(dy)[:-1] == np.shape(v)[:-1]:
            return np.tensordot(dy, v, (stack, stack))
    return np.expand_dims(dy, -1) * np.expand_dims(v, -2)


if hasattr(np, "matvec"):  # NumPy 2.2

    @rule(np.matvec)
    def _(a: ArrayLike, v: ArrayLike):
        def da(dy):
            return project(outer_of_stacks(dy, conjugate(as_array(v)), a), a)

        def dv(dy):
            return project(np.matvec(adjoint(as_array(a)), dy), v)

        return np.matvec(a, v), (da, dv)

    @rule(np.vecmat)
    def _(v: ArrayLike, a: ArrayLike):
        # vecmat conjugates the vector
        def dv(dy):
            return project(np.matvec(as_array(a), conjugate(dy)), v)

        def da(dy):
            return project(outer_of_stacks(as_array(v), dy, a), a)

        return np.vecmat(v, a), (dv, da)


bilinear(rule, ArrayLike, np.inner, np.vdot, np.outer, np.linalg.outer, np.kron)
bilinear(rule, ArrayLike, np.tensordot, np.linalg.tensordot, np.cross, np.linalg.cross)
bilinear(rule, ArrayLike, np.linalg.matmul, np.vecdot, np.linalg.vecdot)
if hasattr(np, "matvec"):
    bilinear(rule, ArrayLike, np.matvec, np.vecmat)


# -- of batches


@rule.batched(np.inner)
def _(a: Array, b: Array):
    return contracted(a, b, ((-1,), (-1,)))


@rule.batched(np.vdot)
def _(a: Array, b: Array):
    left, right = flat(np.conjugate(a) if a.dtype.kind == "c" else a), flat(b)
    require_equal(left.shape[1], right.shape[1])
    return np.einsum("ni,ni->n", *np.broadcast_arrays(left, right))


@rule.batched(np.outer)
def _(a: Numeric, b: Numeric):
    return np.expand_dims(flat(a), 2) * np.expand_dims(flat(b), 1)


@rule.batched(np.tensordot)
def _(a: Array, b: Array, axes=2):
    if isinstance(axes, int):
        if axes > min(a.ndim, b.ndim) - 1:
            raise ValueError(f"shape-mismatch for sum: an operand has no {axes} axes")
        axes = tuple(range(a.ndim - 1 - axes, a.ndim - 1)), tuple(range(axes))
    left, right = [(x,) if isinstance(x, int) else tuple(x) for x in axes]
    return contracted(a, b, (left, right))


def contracted(a, b, axes):
    """Return the sums over axes of the entries of two batches, as `np.tensordot` has them."""
    letters = iter("abcdefghijklmopqrstuvwxyz")  # without that of the batch
    of_a = [next(letters) for _ in a.shape[1:]]
    of_b = [next(letters) for _ in b.shape[1:]]
    summed = []
    for i, j in zip(*axes, strict=True):
        require_equal(a.shape[1:][i], b.shape[1:][j])
        of_b[j] = of_a[i]
        summed.append(of_a[i])
    kept = "".join([c for c in of_a + of_b if c not in summed])
    count = max(len(a), len(b))
    parts = []
    for x, labels in ((a, of_a), (b, of_b)):
        parts.append("".join(labels) if len(x) < count else "n" + "".join(labels))
    operands = [x[0] if len(x) < count else x for x in (a, b)]
    return np.einsum(f"{','.join(parts)}->n{kept}", *operands, optimize=True)


@rule.batched(np.cross)
def _(a: Array, b: Array):
    return np.cross(*aligned(a, b))
