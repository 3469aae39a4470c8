"""What batching rules share: axes behind that of the batch, which is in front.

An array of a batch has one axis more than one of its entries. It is as long as the batch, or of
length 1 where the array is the same for all entries.
"""

import numpy as np

from rulescore import Array, Numeric


def behind(axis, x):
    """Return where an axis of an entry, or several, is in an array of the batch.

    All axes of the entry are meant by `None`. Raises `AxisError` as NumPy does for an entry.
    """
    if axis is None:
        return tuple(range(1, np.ndim(x)))
    if isinstance(axis, tuple | list):
        return tuple([behind(a, x) for a in axis])
    count = np.ndim(x) - 1
    if not -count <= axis < count:
        raise np.exceptions.AxisError(axis, count)
    return int(axis) % count + 1


def flat(x):
    """Return an array whose entries are flat."""
    return np.reshape(x, (len(x) if isinstance(x, Array) else 1, -1))


def spread(*xs):
    """Return arrays and numbers as arrays that are all as long as the batch."""
    arrays = [x if isinstance(x, Array) else np.reshape(x, (1,)) for x in xs]
    count = max(map(len, arrays))
    return [x if len(x) == count else np.broadcast_to(x, (count, *np.shape(x)[1:])) for x in arrays]


def aligned(*xs):
    """Return arrays whose entries have as many axes as those of the one with most."""
    most = max(np.ndim(x) for x in xs)
    return [
        np.reshape(x, (len(x), *(1,) * (most - np.ndim(x)), *np.shape(x)[1:]))
        if isinstance(x, Array)
        else x
        for x in xs
    ]


def require_equal(one, other):
    """Raise `ValueError` where two axes that are summed over differ: `np.einsum` repeats one."""
    if one != other:
        raise ValueError(f"shape-mismatch for sum: {one} and {other}")


def all_of(entries):
    """Return the entries of a list or tuple, none of which is a list itself."""
    if not isinstance(entries, list | tuple) or any(isinstance(x, list | tuple) for x in entries):
        return None
    return spread(*entries)


def taken_from(more, options, default, name="axis"):
    """Return an option that is given by position or by name, and the others."""
    if more:
        return more[0], more[1:], options
    options = dict(options)
    return options.pop(name, default), (), options


# -- bodies of batching rules ------------------------------------------------------------------


def over_axes(f):
    """Return the body for a function that takes the entries along `axis` together."""

    def body(x: Numeric, *more, **options):
        axis, more, options = taken_from(more, options, None)
        if np.ndim(options.get("where", True)) >= np.ndim(x):
            return NotImplemented  # it is no mask of an entry
        return f(x, behind(axis, x), *more, **options)

    return body


def along_axis(f, default):
    """Return the body for a function along one axis; for `None` that of the flat entry."""

    def body(x: Numeric, *more, **options):
        axis, more, options = taken_from(more, options, default)
        if axis is None:
            return NotImplemented if options.get("keepdims") else f(flat(x), 1, *more, **options)
        return f(x, behind(axis, x), *more, **options) if np.ndim(x) > 1 else NotImplemented

    return body


def of_stacks(f, least=2):
    """Return the body for a function of stacks of matrices, or of what has `least` axes."""

    def body(x: Array, *more, **options):
        return f(x, *more, **options) if np.ndim(x) > least else NotImplemented

    return body


def of_entries(f):
    """Return the body for a function of an array, entry by entry."""

    def body(x: Numeric, *more, **options):
        return f(x, *more, **options)

    return body
