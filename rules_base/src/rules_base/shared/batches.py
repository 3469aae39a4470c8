"""Bodies of batching rules by how NumPy takes axes, and entries in one form."""

import numpy as np

from rulescore import Array, Numeric
from rulescore.batching import behind


def flat(x):
    """Return an array whose entries are flat."""
    return np.reshape(x, (len(x) if isinstance(x, Array) else 1, -1))


def spread(*xs):
    """Return arrays and numbers as arrays that are all as long as the batch."""
    arrays = [x if isinstance(x, Array) else np.reshape(x, (1,)) for x in xs]
    count = max(map(len, arrays))
    return [x if len(x) == count else np.broadcast_to(x, (count, *np.shape(x)[1:])) for x in arrays]


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
            return NotImplemented  # it is not a mask of an entry
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
