"""Norms of vectors and matrices, and the condition number.

A norm has a kink where a vector vanishes, or a matrix has a vanishing singular value: the
gradient is 0 there, where the norm has its minimum. Where several entries (columns, singular
values) are the largest at once they share the gradient.
"""

import numpy as np

from rules_base.numpy.linalg.solve import inv_cotangent
from rules_base.numpy.reductions import reduced
from rules_base.shared.axes import zeros_kept
from rules_base.shared.batches import flat
from rules_base.shared.matrices import ArrayLike, as_array, columns
from rules_base.shared.norms import over_norm
from rulescore import Array, RuleSet, project
from rulescore.batching import behind

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.linalg.norms")


@rule(np.linalg.norm)
def _(x: ArrayLike, ord=None, axis=None, keepdims=False):
    y = np.linalg.norm(x, ord, axis, keepdims)

    def pullback(dy):
        return (project(norm_cotangent(dy, as_array(x), y, ord, axis, keepdims), x),)

    return y, pullback


@rule(np.linalg.norm)
def _(x: ArrayLike, ord: float, axis=None, keepdims=False):
    y = np.linalg.norm(x, ord, axis, keepdims)

    def pullback(dy):
        array = as_array(x)
        dx = project(norm_cotangent(dy, array, y, ord, axis, keepdims), x)
        if isinstance(ord, int | np.integer):
            return dx, None  # a choice
        return dx, order_cotangent(dy, array, y, ord, axis, keepdims)

    return y, pullback


@rule.forward(np.linalg.norm)
def _(x: ArrayLike, *, ord=None, axis=None, keepdims=False):
    y = np.linalg.norm(x, ord, axis, keepdims)

    def pushforward(dx):
        return norm_tangent(as_array(dx), as_array(x), y, ord, axis, keepdims)

    return y, pushforward


@rule.forward(np.linalg.norm)
def _(x: ArrayLike, ord: int | str | None, axis=None, keepdims=False):
    y = np.linalg.norm(x, ord, axis, keepdims)

    def of_vectors(dx):
        return norm_tangent(as_array(dx), as_array(x), y, ord, axis, keepdims)

    return y, (of_vectors, None)


def norm_tangent(dx, x, y, ord, axis, keepdims):
    """Return the tangent of `y = np.linalg.norm(x, ord, axis, keepdims)`."""
    slope = norm_cotangent(np.ones_like(y), x, y, ord, axis, keepdims)
    return np.real(reduced(slope, dx, y, axis, keepdims))


@rule(np.linalg.vector_norm)
def _(x: ArrayLike, *, axis=None, keepdims=False, ord=2):
    y = np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)

    def pullback(dy):
        axes = axes_of(as_array(x), axis)
        dnorm, norm = widen(dy, axes, keepdims), widen(y, axes, keepdims)
        dx = vector_norm_cotangent(dnorm, norm, as_array(x), ord, axes)
        return (project(zeros_kept(dx, dnorm, norm), x),)

    return y, pullback


@rule(np.linalg.matrix_norm)
def _(x: ArrayLike, *, keepdims=False, ord="fro"):
    y = np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)

    def pullback(dy):
        return (project(norm_cotangent(dy, as_array(x), y, ord, (-2, -1), keepdims), x),)

    return y, pullback


@rule(np.linalg.cond)
def _(x: ArrayLike, p=None):
    y = np.linalg.cond(x, p)

    def pullback(dy):
        matrix = as_array(x)
        singular = np.isinf(y)
        if np.any(singular & (dy != 0)):
            raise np.linalg.LinAlgError("the condition number of a singular matrix has no gradient")
        # a zero in `dy` is a strong zero: a matrix that does not matter may be singular
        if np.any(singular):
            singular = np.reshape(singular, (*np.shape(singular), 1, 1))
            matrix = np.where(singular, np.eye(*matrix.shape[-2:], dtype=matrix.dtype), matrix)
        if p is None or p in (2, -2):
            return (project(cond_cotangent(dy, matrix, p), x),)
        inverse = np.linalg.inv(matrix)
        norm, norm_of_inverse = (np.linalg.norm(m, p, (-2, -1)) for m in (matrix, inverse))
        dmatrix = norm_cotangent(dy * norm_of_inverse, matrix, norm, p, (-2, -1), False)
        dinverse = norm_cotangent(dy * norm, inverse, norm_of_inverse, p, (-2, -1), False)
        return (project(dmatrix + inv_cotangent(dinverse, inverse), x),)

    return y, pullback


def axes_of(x, axis):
    """Return the axes that a reduction of `x` along `axis` is over."""
    if axis is None:
        return tuple(range(x.ndim))
    return tuple(axis) if isinstance(axis, tuple | list) else (axis,)


def widen(dy, axes, keepdims):
    """Return the cotangent, or the value, of a reduction with the reduced axes kept."""
    return dy if keepdims or np.ndim(dy) == 0 else np.expand_dims(dy, axes)


def norm_cotangent(dy, x, y, ord, axis, keepdims):
    """Return the cotangent of `x` in `y = np.linalg.norm(x, ord, axis, keepdims)`."""
    if isinstance(x, np.ndarray) and not x.size:
        return np.zeros_like(x, dtype=np.result_type(x, np.float16))
    if ord is None and axis is None:
        return zeros_kept(x * over_norm(dy, y), dy, y)
    axes = axes_of(x, axis)
    dy, y = widen(dy, axes, keepdims), widen(y, axes, keepdims)
    return zeros_kept(lanes_cotangent(dy, x, y, ord, axes), dy, y)


def lanes_cotangent(dy, x, y, ord, axes):
    """Return the cotangent of `x` in its norm `y` along `axes`, which `dy` and `y` have kept."""
    if ord is None or ord in ("fro", "f"):
        return vector_norm_cotangent(dy, y, x, 2, axes)
    if len(axes) == 1:
        return vector_norm_cotangent(dy, y, x, ord, axes)
    if ord in (1, -1, np.inf, -np.inf):
        summed, other = axes if ord in (1, -1) else axes[::-1]
        sums = np.sum(np.abs(x), axis=summed, keepdims=True)
        extremum = np.max if ord > 0 else np.min
        hits = sums == extremum(sums, axis=other, keepdims=True)
        return share(dy, hits, other) * np.sign(x)
    return spectral_cotangent(dy, x, ord, axes)


def vector_norm_cotangent(dy, y, x, ord, axes):
    """Return the cotangent of `x` in its vector norm `y` of order `ord` along `axes`."""
    if ord == 0:
        return np.zeros_like(x, dtype=np.result_type(x, np.float16))
    if ord == 1 and not isinstance(ord, float):
        return dy * np.sign(x)
    if ord in (np.inf, -np.inf):
        return share(dy, np.abs(x) == y, axes) * np.sign(x)
    if ord == 2 and not isinstance(ord, float):
        return x * over_norm(dy, y)
    safe = y + (y == 0)  # where `y` is 0 so is `x`
    ratio = np.where(x == 0, 1, np.abs(x)) / safe
    if ord == 2:  # which may be differentiated
        return x * over_norm(dy, y) * ratio ** (ord - 2)
    slope = np.where((x == 0) | (y == 0), 0, ratio ** (ord - 1)) * np.sign(x)
    if 1 < ord < 2:  # the second derivative by an entry that is 0 is infinite
        slope = slope + np.where((x == 0) & (y != 0), np.real(x), 0) ** (ord - 1) / safe ** (
            ord - 1
        )
    return dy * slope


def order_cotangent(dy, x, y, ord, axis, keepdims):
    """Return the cotangent of the order of a vector norm `y`; that of a matrix norm is a choice."""
    axes = axes_of(x, axis)
    if len(axes) != 1:
        return None
    if ord == 0 or np.isinf(ord):
        return 0.0
    dy, y = widen(dy, axes, keepdims), widen(y, axes, keepdims)
    there = (x != 0) & (y != 0)
    ratio = np.where(there, np.abs(x), 1) / np.where(there, y, 1)
    return project(dy * y * ratio**ord * np.log(ratio) / ord, ord)


def spectral_cotangent(dy, x, ord, axes):
    """Return the cotangent of `x` in a norm of its singular values along two axes."""
    u, s, vh = np.linalg.svd(np.moveaxis(x, axes, (-2, -1)), full_matrices=False)
    ds = np.moveaxis(dy, axes, (-2, -1))[..., 0] if np.ndim(dy) else dy
    if ord != "nuc":
        extremum = np.max if ord > 0 else np.min
        ds = share(ds, s == extremum(s, axis=-1, keepdims=True), -1)
    return np.moveaxis((u * columns(np.where(s == 0, 0, ds))) @ vh, (-2, -1), axes)


def cond_cotangent(dy, x, p):
    """Return the cotangent of `x` in the quotient of its largest and smallest singular value."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    largest, smallest = s[..., :1], s[..., -1:]
    dy = np.reshape(dy, (*np.shape(dy), 1))
    of_largest = share(dy, s == largest, -1)
    of_smallest = share(dy, s == smallest, -1)
    if p == -2:
        ds = np.where(s == 0, 0, of_smallest / largest - of_largest * smallest / largest**2)
    else:
        ds = of_largest / smallest - of_smallest * largest / smallest**2
    return (u * columns(ds)) @ vh


def share(dy, hits, axes):
    """Return `dy` in equal shares for the entries of `hits` along `axes`, and 0 for the others."""
    count = np.sum(hits, axis=axes, keepdims=True)
    return np.where(hits, dy / np.where(count == 0, 1, count), 0)


@rule.batched(np.linalg.norm)
def _(x: Array, ord=None, axis=None, keepdims=False):
    if axis is not None:
        return np.linalg.norm(x, ord, behind(axis, x), keepdims)
    if keepdims or (ord is not None and x.ndim > 3):
        return NotImplemented
    return (
        np.linalg.norm(flat(x), axis=1)
        if ord is None
        else np.linalg.norm(x, ord, behind(None, x) if x.ndim == 3 else 1)
    )
