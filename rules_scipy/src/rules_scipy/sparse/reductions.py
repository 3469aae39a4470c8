"""Sums, means, traces and norms."""

import numpy as np
from scipy.sparse import linalg as spl

from rules_scipy.sparse.rearranging import methods
from rules_scipy.sparse.values import (
    Sparse,
    coordinates,
    filled,
    refuse_matrix,
    stored,
    summed,
    unshared,
)
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.reductions")


def at_places(dy, axis, a):
    """Return the numbers of a cotangent of sums at the places that were added up."""
    coords = coordinates(a)
    if axis is None or a.ndim == 1 or isinstance(axis, tuple):
        if isinstance(axis, tuple) and len(axis) < a.ndim:
            return at_places(dy, axis[0], a)
        found = np.broadcast_to(np.reshape(dy, (1,)), coords[0].shape)
    else:
        found = dy[coords[1 - axis % 2]]
    return np.where(coords[0] < 0, 0.0, found) if a.format == "dia" else found


def added_up(f, a, axis, scale):
    """Return the value and the pullback of a sum or mean."""
    if a.ndim > 2:
        raise NotImplementedError(
            "sums of sparse arrays have a rule for vectors and matrices: reshape them"
        )
    y = refuse_matrix(f(unshared(a)))
    return y, lambda dy: (project(filled(a, scale * at_places(dy, axis, a)), a),)


def refuse_out(out):
    """Raise `NotImplementedError` for an array to write to."""
    if out is not None:
        raise NotImplementedError("sums of sparse arrays have no rule for out: leave it out")


for total in methods("sum"):

    @rule(total)
    def _(a: Sparse, axis=None, dtype=None, out=None, *, _f=total):
        refuse_out(out)
        return added_up(lambda b: _f(b, axis, dtype), a, axis, 1)


for mean in methods("mean"):

    @rule(mean)
    def _(a: Sparse, axis=None, dtype=None, out=None, *, _f=mean):
        refuse_out(out)
        shape = a.shape
        axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        size = int(np.prod([shape[k] for k in axes]))
        return added_up(lambda b: _f(b, axis, dtype), a, axis, 1 / size)


for trace in methods("trace"):

    @rule(trace)
    def _(a: Sparse, offset=0, *, _f=trace):
        def pullback(dy):
            rows, columns = coordinates(a)
            on = (rows >= 0) & (columns - rows == offset)
            return (project(filled(a, np.where(on, dy, 0.0)), a),)

        return _f(unshared(a), offset), pullback


@rule(spl.norm)
def _(x: Sparse, ord=None, axis=None):
    y = spl.norm(unshared(x), ord, axis)
    a = summed(x.tocoo() if x.format == "dia" else x)
    along, order = axes_of_norm(axis, x.ndim)

    def pullback(dy):
        values = stored(a)
        size = np.abs(values)
        phase = np.where(size == 0, 0.0, values / np.where(size == 0, 1.0, size))
        if ord in (("fro", "f", None) if along is None else (2, None)):
            at = at_places(y, along, a)
            slope = np.where(at == 0, 0.0, values / np.where(at == 0, 1.0, at))
        elif along is not None and ord == 1:
            slope = phase
        elif along is None and ord in (1, np.inf):
            slope = phase * largest_sums(a, size, order[0 if ord == 1 else 1])
        else:
            raise NotImplementedError(
                f"scipy.sparse.linalg.norm has no rule for ord={ord!r} and axis={axis!r}: use "
                "`np.linalg.norm` of `toarray()`"
            )
        return (project(filled(a, slope * at_places(dy, along, a)), x),)

    return y, pullback


def axes_of_norm(axis, ndim):
    """Return the axis of a vector norm, or `None` and both axes of a matrix norm in order."""
    axes = tuple(range(ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple([k % ndim for k in axes])
    return (axes[0], axes) if len(axes) == 1 else (None, axes)


def largest_sums(a, size, axis):
    """Return which numbers are in a column (or row) of the largest sum; ties share."""
    sums = np.bincount(coordinates(a)[1 - axis], np.asarray(size), a.shape[1 - axis])
    ties = sums == np.max(sums, initial=0.0)
    return (ties / np.sum(ties))[coordinates(a)[1 - axis]]


rule.constant(largest_sums, axes_of_norm)
