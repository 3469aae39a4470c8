"""Rolling, flipping, repeating and triangles: every entry of the result is one of `x`."""

import numpy as np

from rules_base.numpy.arrays.indexing import from_positions
from rules_base.shared.axes import inexact_type, like, size_of, truncates
from rules_base.shared.batches import of_stacks, over_axes
from rulescore import Array, Numeric, RuleSet, project
from rulescore.batching import behind

rule = RuleSet(
    "rules_base", examples="rules_base.examples.numpy.arrays.rearranging", may_raise=False
)


@rule.linear(np.roll)
def _(dy, x: Array, shift=None, axis=None):
    return np.roll(dy, np.negative(shift).tolist(), axis)


@rule.linear(np.flip)
def _(dy, x: Array, axis=None):
    return np.flip(dy, axis)


@rule.linear(np.fliplr)
def _(dy, x: Array):
    return np.fliplr(dy)


@rule.linear(np.flipud)
def _(dy, x: Array):
    return np.flipud(dy)


@rule.linear(np.rot90)
def _(dy, x: Array, k=1, axes=(0, 1)):
    return np.rot90(dy, -k, axes)


@rule.linear(np.moveaxis)
def _(dy, x: Array, source=None, destination=None):
    return np.moveaxis(dy, destination, source)


@rule.linear(np.rollaxis)
def _(dy, x: Array, axis=0, start=0):
    axis_ = axis % x.ndim
    start_ = start + x.ndim if start < 0 else start
    return np.moveaxis(dy, start_ - (axis_ < start_), axis_)


@rule.linear(np.tile)
def _(dy, x: Numeric, reps=1):
    shape = np.shape(x)
    times = tuple(np.atleast_1d(reps))
    shape = (1,) * (len(times) - len(shape)) + shape
    times = (1,) * (len(shape) - len(times)) + times
    parts = np.reshape(dy, [n for pair in zip(times, shape, strict=True) for n in pair])
    return np.reshape(np.sum(parts, axis=tuple(range(0, parts.ndim, 2))), np.shape(x))


@rule.linear(np.repeat, np.ndarray.repeat, np.generic.repeat)
def _(dy, x: Numeric, repeats=1, axis=None):
    if axis is None:
        return from_positions(dy, x, np.repeat(np.arange(size_of(x)), repeats))
    shape = np.shape(x) or (1,)
    axis_ = axis % len(shape)
    if np.ndim(repeats) == 0:
        split = (*shape[: axis_ + 1], int(repeats), *shape[axis_ + 1 :])
        return np.reshape(np.sum(np.reshape(dy, split), axis=axis_ + 1), np.shape(x))
    times = np.broadcast_to(repeats, x.shape[axis_])
    starts = np.cumsum(times) - times
    some = times > 0
    dx = np.zeros_like(x, dtype=inexact_type(dy))
    if some.any():
        sums = np.add.reduceat(dy, starts[some], axis_)
        dx[(slice(None),) * axis_ + (some,)] = sums
    return dx


@rule.linear(np.resize)
def _(dy, x: Array, new_shape=None):
    if x.size == 0:
        return np.zeros_like(x, dtype=inexact_type(dy))
    return from_positions(dy, x, np.resize(np.arange(x.size), new_shape))


@rule.linear(np.tril)
def _(dy, x: Array, k=0):
    return np.tril(dy, k)


@rule.linear(np.triu)
def _(dy, x: Array, k=0):
    return np.triu(dy, k)


@rule.linear(np.diag)
def _(dy, x: Array, k=0):
    return np.diagonal(dy, k) if x.ndim == 1 else on_diagonal(dy, x, k, 0, 1)


@rule.linear(np.diagflat)
def _(dy, x: Numeric, k=0):
    return np.reshape(np.diagonal(dy, k), np.shape(x))


@rule.linear(np.diagonal, np.ndarray.diagonal)
def _(dy, x: Array, offset=0, axis1=0, axis2=1):
    return on_diagonal(dy, x, offset, axis1, axis2)


@rule.linear(np.trace, np.ndarray.trace)
def _(dy, x: Array, offset=0, axis1=0, axis2=1, dtype=None, out: None = None):
    if dtype is not None and truncates(x, dtype):
        return None
    return on_diagonal(np.expand_dims(dy, -1), x, offset, axis1, axis2)


def on_diagonal(dy, x, offset, axis1, axis2):
    """Return zeros of the shape of `x` with `dy` on a diagonal, or one number all along it."""
    axes = (axis1, axis2)
    n_rows, n_columns = x.shape[axis1], x.shape[axis2]
    first = max(-offset, 0)
    n = max(min(n_rows - first, n_columns - max(offset, 0)), 0)
    if isinstance(x, np.ndarray):
        dx = np.zeros_like(x, dtype=inexact_type(dy))
        along = np.arange(n)
        np.moveaxis(dx, axes, (-2, -1))[..., along + first, along + max(offset, 0)] = dy
        return dx
    dy = dy + np.zeros(n, **like(x))
    by_row = np.pad(dy, [(0, 0)] * (dy.ndim - 1) + [(first, n_rows - n - first)])
    across, down = np.arange(n_columns, **like(x)), np.arange(n_rows, **like(x))
    hits = across - down[:, None] == offset
    return np.moveaxis(np.where(hits, by_row[..., None], 0.0), (-2, -1), axes)


def declare_atleast(f):
    """Declare the rule of `np.atleast_1d` and its kin: reshape back."""

    @rule(f)
    def _(*xs: Numeric):
        def pullback(dy):
            dys = (dy,) if len(xs) == 1 else dy
            return tuple(
                [
                    None if d is None else project(np.reshape(d, np.shape(x)), x)
                    for d, x in zip(dys, xs, strict=True)
                ]
            )

        return f(*xs), pullback


for f in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    declare_atleast(f)


@rule(np.broadcast_arrays)
def _(*xs: Numeric, subok=False):
    def pullback(dy):
        return tuple([project(d, x) for d, x in zip(dy, xs, strict=True)])

    return np.broadcast_arrays(*xs, subok=subok), pullback


@rule(np.unwrap)
def _(p: Array, discont=None, axis=-1, *, period=2 * np.pi):
    def pullback(dy):
        return (project(dy, p),)  # what it adds is a multiple of the period

    return np.unwrap(p, discont, axis, period=period), pullback


@rule(np.real_if_close)
def _(x: Array, tol=100):
    def pullback(dy):
        return (project(dy, x),)

    return np.real_if_close(x, tol), pullback


# -- of batches

for _f in (np.tril, np.triu):
    rule.batched(_f)(of_stacks(_f))
rule.batched(np.flip)(over_axes(np.flip))


@rule.batched(np.moveaxis)
def _(x: Array, source=None, destination=None):
    return np.moveaxis(x, behind(source, x), behind(destination, x))


@rule.batched(np.roll)
def _(x: Array, shift=None, axis=None):
    if axis is None and x.ndim > 2:
        return NotImplemented  # it rolls the flat entry
    return np.roll(x, shift, 1 if axis is None else behind(axis, x))


@rule.batched(np.repeat, np.ndarray.repeat)
def _(x: Array, repeats=None, axis=None):
    if axis is None:
        return np.repeat(np.reshape(x, (len(x), -1)), repeats, 1)
    return np.repeat(x, repeats, behind(axis, x))


@rule.batched(np.tile)
def _(x: Array, reps=None):
    reps = (reps,) if isinstance(reps, int) else tuple(reps)
    missing = len(reps) + 1 - x.ndim
    x = np.reshape(x, (len(x), *(1,) * max(missing, 0), *x.shape[1:]))
    return np.tile(x, (1, *(1,) * max(-missing, 0), *reps))


@rule.batched(np.diag)
def _(x: Array, k=0):
    return np.diagonal(x, k, 1, 2) if x.ndim == 3 else NotImplemented


@rule.batched(np.diagonal, np.ndarray.diagonal)
def _(x: Array, offset=0, axis1=0, axis2=1):
    return np.diagonal(x, offset, behind(axis1, x), behind(axis2, x))


@rule.batched(np.trace, np.ndarray.trace)
def _(x: Array, offset=0, axis1=0, axis2=1):
    return np.trace(x, offset, behind(axis1, x), behind(axis2, x))
