"""Bodies of batching rules by how SciPy takes several entries; universal functions need none."""

import numpy as np

from rulescore import Array
from rulescore.batching import behind, called

OVERWRITES = ("overwrite_a", "overwrite_b")
REFUSED = (*OVERWRITES, "return_rank")


def over_axes(f):
    """Return the body for a function that takes the entries along `axis` together."""

    def body(x: Array, axis=None):
        return called(f, x, axis=behind(axis, x))

    return body


def along_axis(f):
    """Return the body for a transform along one axis."""

    def body(x: Array, n=None, axis=-1, norm=None):
        return called(f, x, n, behind(axis, x), norm)

    return body


def along_axes(f, default=None):
    """Return the body for a transform along several axes: `default`, or all."""

    def body(x: Array, s=None, axes=default, norm=None):
        if np.ndim(x) < 2:
            return NotImplemented
        return called(f, x, s, many_behind(axes, s, x), norm)

    return body


def many_behind(axes, s, x):
    """Return where the axes of a transform are, which are the last ones if lengths are given."""
    if axes is None and s is not None:
        axes = tuple(range(-np.size(s), 0))
    return behind(axes, x)


def of_lines(f):
    """Return the body for a filter along one axis, by its options as `weights`, a width or a size.

    The options may not differ between entries.
    """

    def body(input: Array, weights, axis=-1, **options):
        if options.get("output") is not None:
            return NotImplemented
        return called(f, input, weights, axis=behind(axis, input), **options)

    return body


def of_stacks(f, *names):
    """Return the body for a function of one matrix, of which SciPy takes stacks.

    Arguments:
        f: the function.
        names: of its options that may be given by position.
    """

    def body(a: Array, first=None, second=None, third=None, **options):
        by_place = (first, second, third)
        if np.ndim(a) < 3 or any(x is not None for x in by_place[len(names) :]):
            return NotImplemented
        placed = zip(names, by_place, strict=False)
        options |= {name: x for name, x in placed if x is not None}
        if any(map(options.get, REFUSED)):
            return NotImplemented
        y = called(f, a, **options)
        return tuple(y) if isinstance(y, list) else y

    return body


def of_systems(f):
    """Return the body for a function that solves a system for a vector, or for several."""

    def body(a: Array, b: Array, **options):
        if any(map(options.get, OVERWRITES)):
            return NotImplemented
        return solved(lambda right: called(f, a, right, **options), a, b)

    return body


def solved(solve, a, b):
    """Return the solutions of systems: `b` has vectors, of which SciPy takes stacks as matrices."""
    if np.ndim(a) != 3 or np.ndim(b) not in (2, 3):
        return NotImplemented
    return solve(b) if np.ndim(b) == 3 else solve(np.expand_dims(b, -1))[..., 0]
