"""What batching rules share: axes behind that of the batch, which is in front.

An array of a batch has one axis more than one of its entries. It is as long as the batch, or of
length 1 where the array is the same for all entries. Universal functions need no such rules.
"""

import numpy as np

from rulescore import Array

OVERWRITES = ("overwrite_a", "overwrite_b")


def called(f, *xs, **options):
    """Return `f(*xs, **options)`, as arrays of another library have it that say so (NEP 18)."""
    for x in xs:
        own = None if isinstance(x, np.ndarray) else getattr(x, "__array_function__", None)
        if own is not None:
            return own(f, (type(x),), xs, options)
    return f(*xs, **options)


def behind(axis, x):
    """Return where an axis of an entry, or several, is in an array of the batch.

    All axes of the entry are meant by `None`. Raises `AxisError` where an entry has no such axis.
    """
    count = np.ndim(x) - 1
    if axis is None:
        return tuple(range(1, count + 1))
    if isinstance(axis, tuple | list):
        return tuple([behind(a, x) for a in axis])
    if not -count <= axis < count:
        raise np.exceptions.AxisError(axis, count)
    return int(axis) % count + 1


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


def of_stacks(f):
    """Return the body for a function of one matrix, of which SciPy takes stacks."""

    def body(a: Array, **options):
        if np.ndim(a) != 3 or any(map(options.get, OVERWRITES)):
            return NotImplemented
        return called(f, a, **options)

    return body
