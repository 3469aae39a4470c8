"""Products of arrays: inner, outer and tensor products, cross products and convolutions."""

from functools import lru_cache

import numpy as np

from rules_base.numpy.matmul import matmul_left, matmul_right
from rules_base.shared.axes import size_of
from rules_base.shared.matrices import ArrayLike, adjoint, as_array, conjugate
from rulescore import RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.products")


@rule(np.inner)
def _(a: ArrayLike, b: ArrayLike):
    def pullback(dy):
        if np.ndim(dy) == 0 or np.ndim(a) == 0 or np.ndim(b) == 0:
            return project(dy * np.conj(b), a), project(dy * np.conj(a), b)
        return tensordot_cotangents(dy, a, b, (-1, -1))

    return np.inner(a, b), pullback


@rule(np.vdot)
def _(a: ArrayLike, b: ArrayLike):
    # vdot conjugates its first argument, so that the gradient is conjugated there
    def pullback(dy):
        da = np.conj(dy) * np.reshape(b, np.shape(a))
        return project(da, a), project(dy * np.reshape(a, np.shape(b)), b)

    return np.vdot(a, b), pullback


def outer_cotangents(dy, a, b):
    """Return the cotangents of both arguments of an outer product of the raveled arguments."""
    da = np.matmul(dy, conjugate(np.ravel(b)))
    db = np.matmul(conjugate(np.ravel(a)), dy)
    return (
        project(np.reshape(da, np.shape(a)), a),
        project(np.reshape(db, np.shape(b)), b),
    )


@rule(np.outer)
def _(a: ArrayLike, b: ArrayLike):
    def pullback(dy):
        return outer_cotangents(dy, a, b)

    return np.outer(a, b), pullback


@rule(np.linalg.outer)
def _(a: ArrayLike, b: ArrayLike):
    def pullback(dy):
        return outer_cotangents(dy, a, b)

    return np.linalg.outer(a, b), pullback


@rule(np.tensordot)
def _(a: ArrayLike, b: ArrayLike, axes=2):
    def pullback(dy):
        return tensordot_cotangents(dy, a, b, axes)

    return np.tensordot(a, b, axes), pullback


@rule(np.linalg.tensordot)
def _(a: ArrayLike, b: ArrayLike, *, axes=2):
    def pullback(dy):
        return tensordot_cotangents(dy, a, b, axes)

    return np.linalg.tensordot(a, b, axes=axes), pullback


def tensordot_cotangents(dy, a, b, axes):
    """Return the cotangents of both arguments of `np.tensordot(a, b, axes)`.

    The free axes of the result are contracted with the other argument's, and the axes of the
    product are brought back to where they come from.
    """
    x, z = as_array(a), as_array(b)
    if isinstance(axes, int | np.integer):
        summed_a, summed_b = tuple(range(x.ndim - axes, x.ndim)), tuple(range(axes))
    else:
        summed_a, summed_b = [(k,) if np.ndim(k) == 0 else tuple(k) for k in axes]
    of_a, of_b = tensordot_plan(summed_a, summed_b, x.ndim, z.ndim)
    da = np.tensordot(dy, conjugate(z), of_a[:2])
    db = np.tensordot(conjugate(x), dy, of_b[:2])
    return project(np.transpose(da, of_a[2]), a), project(np.transpose(db, of_b[2]), b)


@lru_cache(maxsize=4096)
def tensordot_plan(summed_a, summed_b, ndim_a, ndim_b):
    """Return, for both arguments, the axes to contract and the order to bring the rest into."""
    summed_a, summed_b = [k % ndim_a for k in summed_a], [k % ndim_b for k in summed_b]
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
    def pullback(dy):
        # axes of the result come in pairs: the outer of `a`, the inner of `b`
        ndim = max(np.ndim(a), np.ndim(b))
        of_a = (1,) * (ndim - np.ndim(a)) + np.shape(a)
        of_b = (1,) * (ndim - np.ndim(b)) + np.shape(b)
        pairs = np.reshape(dy, [n for pair in zip(of_a, of_b, strict=True) for n in pair])
        every = list(range(ndim))
        outer, inner = list(range(0, 2 * ndim, 2)), list(range(1, 2 * ndim, 2))
        da = np.tensordot(pairs, conjugate(np.reshape(b, of_b)), (inner, every))
        db = np.tensordot(pairs, conjugate(np.reshape(a, of_a)), (outer, every))
        return (
            project(np.reshape(da, np.shape(a)), a),
            project(np.reshape(db, np.shape(b)), b),
        )

    return np.kron(a, b), pullback


@rule(np.cross)
def _(a: ArrayLike, b: ArrayLike, axisa=-1, axisb=-1, axisc=-1, axis=None):
    def pullback(dy):
        axes = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
        return cross_cotangents(dy, a, b, *axes)

    return np.cross(a, b, axisa, axisb, axisc, axis), pullback


@rule(np.linalg.cross)
def _(a: ArrayLike, b: ArrayLike, *, axis=-1):
    def pullback(dy):
        return cross_cotangents(dy, a, b, axis, axis, axis)

    return np.linalg.cross(a, b, axis=axis), pullback


def cross_cotangents(dy, a, b, axisa, axisb, axisc):
    """Return the cotangents of both arguments of `a × b`: `conj(b) × dy` and `dy × conj(a)`."""
    x = np.moveaxis(as_array(a), axisa, -1)
    z = np.moveaxis(as_array(b), axisb, -1)
    if x.shape[-1] == 2 and z.shape[-1] == 2:
        dy = np.expand_dims(dy, -1) * np.array([0.0, 0.0, 1.0], dtype=np.result_type(dy))
    else:
        dy = np.moveaxis(dy, axisc, -1)
    da = np.cross(conjugate(in_space(z)), dy)[..., : x.shape[-1]]
    db = np.cross(dy, conjugate(in_space(x)))[..., : z.shape[-1]]
    return moved_back(da, axisa, a), moved_back(db, axisb, b)


def in_space(x):
    """Return vectors of the plane or of space as vectors of space."""
    if x.shape[-1] == 3:
        return x
    return np.concatenate([x, np.zeros_like(x[..., :1])], -1)


@rule(np.convolve)
def _(a: ArrayLike, v: ArrayLike, mode="full"):
    y = np.convolve(a, v, mode)

    def pullback(dy):
        n, m = size_of(a), size_of(v)
        start = {n + m - 1: 0, max(n, m): (min(n, m) - 1) // 2}.get(size_of(y), min(n, m) - 1)
        full = padded(dy, start, n + m - 1)
        da = np.correlate(full, np.ravel(v), "valid")
        dv = np.correlate(full, np.ravel(a), "valid")
        return (
            project(np.reshape(da, np.shape(a)), a),
            project(np.reshape(dv, np.shape(v)), v),
        )

    return y, pullback


@rule(np.correlate)
def _(a: ArrayLike, v: ArrayLike, mode="valid"):
    y = np.correlate(a, v, mode)

    def pullback(dy):
        n, m = size_of(a), size_of(v)
        middle = (m - 1) // 2 if m <= n else n // 2
        start = {n + m - 1: 0, max(n, m): middle}.get(size_of(y), min(n, m) - 1)
        full = padded(dy, start, n + m - 1)
        da = np.convolve(full, np.ravel(v), "valid")
        dv = np.conj(np.correlate(full, np.ravel(a), "valid"))[::-1]
        return (
            project(np.reshape(da, np.shape(a)), a),
            project(np.reshape(dv, np.shape(v)), v),
        )

    return y, pullback


def padded(dy, start, length):
    """Return `dy` with zeros around it: a vector of `length` in which it begins at `start`."""
    return np.pad(dy, (start, length - start - size_of(dy)))


@rule(np.linalg.matmul)
def _(a: ArrayLike, b: ArrayLike):
    def pullback(dy):
        x, z = as_array(a), as_array(b)
        return project(matmul_left(dy, x, z), a), project(matmul_right(dy, x, z), b)

    return np.linalg.matmul(a, b), pullback


@rule(np.vecdot)
def _(a: ArrayLike, b: ArrayLike, *, axis=-1):
    def pullback(dy):
        return vecdot_cotangents(dy, a, b, axis)

    return np.vecdot(a, b, axis=axis), pullback


@rule(np.linalg.vecdot)
def _(a: ArrayLike, b: ArrayLike, *, axis=-1):
    def pullback(dy):
        return vecdot_cotangents(dy, a, b, axis)

    return np.linalg.vecdot(a, b, axis=axis), pullback


def vecdot_cotangents(dy, a, b, axis):
    """Return the cotangents of `sum(conj(a) * b, axis)`, whose first argument is conjugated."""
    dy = np.expand_dims(dy, -1)
    x, z = np.moveaxis(as_array(a), axis, -1), np.moveaxis(as_array(b), axis, -1)
    return moved_back(conjugate(dy) * z, axis, a), moved_back(dy * x, axis, b)


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
        def pullback(dy):
            da = outer_of_stacks(dy, conjugate(as_array(v)), a)
            dv = np.matvec(adjoint(as_array(a)), dy)
            return project(da, a), project(dv, v)

        return np.matvec(a, v), pullback

    @rule(np.vecmat)
    def _(v: ArrayLike, a: ArrayLike):
        # vecmat conjugates the vector
        def pullback(dy):
            da = outer_of_stacks(as_array(v), dy, a)
            dv = np.matvec(as_array(a), conjugate(dy))
            return project(dv, v), project(da, a)

        return np.vecmat(v, a), pullback
