"""Joining arrays: each part's cotangent is its slice of the whole's."""

import numpy as np

from rules_base.shared.axes import reshaped, shape_of
from rules_base.shared.batches import all_of
from rules_base.shared.forward import linear_in_first
from rules_base.shared.nesting import unstacked
from rulescore import Array, Numeric, RuleSet, project
from rulescore.batching import behind

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.arrays.joining", may_raise=False)


@rule.linear(np.concatenate)
def _(dy, arrays: list | tuple, axis=0, *, dtype=None):
    return slices(dy, arrays, axis)


def slices(dy, arrays, axis, widened=None):
    """Return the slice of `dy` that each of the joined `arrays` has, in order.

    What is joined may have been `widened` before, by a function such as `np.atleast_2d`.
    """
    if axis is None:
        dy, axis, widened = np.reshape(dy, (-1,)), 0, as_vector
    before = (slice(None),) * (axis % dy.ndim)
    parts, start = [], 0
    for x in arrays:
        joined = x if widened is None else widened(x)
        stop = start + (joined.shape if type(joined) is np.ndarray else shape_of(joined))[axis]
        part = dy[(*before, slice(start, stop))] if before else dy[start:stop]
        if joined is not x:
            part = reshaped(part, shape_of(x))
        parts.append(part if type(x) is np.ndarray else unstacked(part, x))
        start = stop
    return parts


def as_vector(x):
    """Return the entries of `x` in one row."""
    return np.reshape(x, (-1,))


@rule.linear(np.stack)
def _(dy, arrays: list | tuple, axis=0, *, dtype=None):
    first = np.moveaxis(dy, axis, 0) if axis else dy
    parts = []
    for i, x in enumerate(arrays):
        parts.append(first[i] if type(x) is np.ndarray else unstacked(first[i], x))
    return parts


@rule.linear(np.vstack)
def _(dy, arrays: list | tuple):
    return slices(dy, arrays, 0, np.atleast_2d)


@rule.linear(np.hstack)
def _(dy, arrays: list | tuple):
    return slices(dy, arrays, 0 if dy.ndim == 1 else 1, np.atleast_1d)


@rule.linear(np.dstack)
def _(dy, arrays: list | tuple):
    return slices(dy, arrays, 2, np.atleast_3d)


@rule.linear(np.column_stack)
def _(dy, arrays: list | tuple):
    return slices(dy, arrays, 1, as_columns)


def as_columns(x):
    """Return `x` as a matrix, a vector as one column."""
    return np.reshape(x, (-1, 1)) if np.ndim(x) < 2 else x


@rule.linear(np.append)
def _(dy, x: Numeric, values: Numeric, axis=None):
    return tuple(slices(dy, [x, values], axis))


@rule.linear(np.append)
def _(dy, x: Numeric, values: list | tuple, axis=None):
    dx, dvalues = slices(dy, [x, np.array(values)], axis)
    return dx, unstacked(dvalues, values)


@rule.linear(np.block)
def _(dy, blocks: list):
    return taken_apart(dy, blocks)


def taken_apart(dy, blocks):
    """Return the cotangents of nested blocks: the innermost lists were joined along the last axis.

    Arrays of fewer axes than the whole got axes of length one in front.
    """
    if not isinstance(blocks, list):
        return np.reshape(dy, np.shape(blocks))
    axis = dy.ndim - depth(blocks)
    dblocks, start = [], 0
    for block in blocks:
        stop = start + block_shape(block, dy.ndim)[axis]
        part = dy[(slice(None),) * axis + (slice(start, stop),)]
        dblocks.append(taken_apart(part, block))
        start = stop
    return dblocks


def block_shape(blocks, ndim):
    """Return the shape of `np.block(blocks)`, part of a result with `ndim` axes."""
    if not isinstance(blocks, list):
        shape = np.shape(blocks)
        return [1] * (ndim - len(shape)) + list(shape)
    shapes = [block_shape(block, ndim) for block in blocks]
    axis = ndim - depth(blocks)
    return [sum(s[a] for s in shapes) if a == axis else n for a, n in enumerate(shapes[0])]


def depth(blocks):
    """Return how deep the lists are nested, which is the same everywhere."""
    return 1 + depth(blocks[0]) if isinstance(blocks, list) else 0


def declare_split(f):
    """Declare the rule of `np.split` and its kin: join the parts again."""

    @rule(f)
    def _(x: Array, sections=None, axis=0):
        ys = f(x, sections, axis)

        def pullback(dys):
            return (joined(dys, ys, x, axis),)

        return ys, pullback


def declare_fixed_split(f, axis_of):
    """Declare the rule of `np.hsplit` and its kin, whose axis depends on the number of axes."""

    @rule(f)
    def _(x: Array, sections=None):
        ys = f(x, sections)

        def pullback(dys):
            return (joined(dys, ys, x, axis_of(x)),)

        return ys, pullback


def joined(dys, ys, x, axis):
    """Return the cotangent of `x` from those of its parts, `None` for zeros."""
    parts = [np.zeros_like(y) if d is None else d for d, y in zip(dys, ys, strict=True)]
    return project(np.concatenate(parts, axis), x)


for f in (np.split, np.array_split):
    declare_split(f)
linear_in_first(rule, Array, np.split, np.array_split, np.vsplit, np.hsplit, np.dsplit)
declare_fixed_split(np.vsplit, lambda x: 0)
declare_fixed_split(np.hsplit, lambda x: 1 if x.ndim > 1 else 0)
declare_fixed_split(np.dsplit, lambda x: 2)

if hasattr(np, "unstack"):
    linear_in_first(rule, Array, np.unstack)

    @rule(np.unstack)
    def _(x: Array, *, axis=0):
        ys = np.unstack(x, axis=axis)

        def pullback(dys):
            parts = [np.zeros_like(y) if d is None else d for d, y in zip(dys, ys, strict=True)]
            return (project(np.stack(parts, axis), x),)

        return ys, pullback


@rule.linear(np.concatenate)
def _(dy, x: Array, axis=0):
    return np.stack(slices(dy, x, axis))


@rule.linear(np.stack)
def _(dy, x: Array, axis=0):
    return np.moveaxis(dy, axis, 0)


@rule.linear(np.vstack)
def _(dy, x: Array):
    return np.reshape(dy, x.shape)


@rule.linear(np.hstack)
def _(dy, x: Array):
    return np.stack(slices(dy, x, 0 if dy.ndim == 1 else 1, np.atleast_1d))


@rule.linear(np.dstack)
def _(dy, x: Array):
    return np.stack(slices(dy, x, 2, np.atleast_3d))


@rule.linear(np.column_stack)
def _(dy, x: Array):
    return np.stack(slices(dy, x, 1, as_columns))


# -- of batches


@rule.batched(np.concatenate)
def _(xs: list | tuple, axis=0):
    parts = all_of(xs)
    if parts is None:
        return NotImplemented
    if axis is None:
        return np.concatenate([np.reshape(x, (len(x), -1)) for x in parts], 1)
    return np.concatenate(parts, behind(axis, parts[0]))


@rule.batched(np.stack)
def _(xs: list | tuple, axis=0):
    parts = all_of(xs)
    if parts is None or not -parts[0].ndim <= axis < parts[0].ndim:
        return NotImplemented
    return np.stack(parts, axis % parts[0].ndim + 1)


@rule.batched(np.hstack)
def _(xs: list | tuple):
    parts = all_of(xs)
    if parts is None:
        return NotImplemented
    parts = [x if x.ndim > 1 else np.reshape(x, (len(x), 1)) for x in parts]
    return np.concatenate(parts, 1 if parts[0].ndim == 2 else 2)


@rule.batched(np.vstack)
def _(xs: list | tuple):
    parts = all_of(xs)
    if parts is None:
        return NotImplemented
    return np.concatenate([x if x.ndim > 2 else np.reshape(x, (len(x), 1, -1)) for x in parts], 1)


@rule.batched(np.column_stack)
def _(xs: list | tuple):
    parts = all_of(xs)
    if parts is None:
        return NotImplemented
    return np.concatenate([x if x.ndim > 2 else np.reshape(x, (len(x), -1, 1)) for x in parts], 2)
