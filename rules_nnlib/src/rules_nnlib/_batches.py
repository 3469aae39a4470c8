"""What the batching rules share: arrays with an axis more than an entry has, in front.

The activations need no such rules: they have scalar rules, and so are elementwise.
"""

import numpy as np


def called(f, *xs, **options):
    """Return `f(*xs, **options)`, as arrays of another library have it that say so (NEP 18)."""
    for x in xs:
        own = None if isinstance(x, np.ndarray) else getattr(x, "__array_function__", None)
        if own is not None:
            return own(f, (type(x),), xs, options)
    return f(*xs, **options)


def behind(axis, x):
    """Return where an axis of an entry, or several, is in an array of the batch."""
    count = np.ndim(x) - 1
    if axis is None:
        return tuple(range(1, count + 1))
    if isinstance(axis, tuple | list):
        return tuple([behind(a, x) for a in axis])
    if not -count <= axis < count:
        raise np.exceptions.AxisError(axis, count)
    return int(axis) % count + 1


def with_axes(x, count):
    """Return a batch whose entries have axes of length 1 in front, so that it has `count` axes."""
    if not np.ndim(x):
        return x
    return np.reshape(x, (len(x), *(1,) * (count - np.ndim(x)), *np.shape(x)[1:]))


def paired(y_pred, y):
    """Return batches of predictions and targets of one shape; a number is repeated.

    Raises `ValueError` where the shapes of their entries differ, as for an entry.
    """
    shapes = [np.shape(x)[1:] for x in (y_pred, y)]
    if shapes[0] != shapes[1] and all(shapes):
        raise ValueError(f"a loss takes prediction and target of one shape, not {shapes}")
    shape = (max(len(x) for x in (y_pred, y) if np.ndim(x)), *max(shapes, key=len))
    return [
        np.broadcast_to(with_axes(x, len(shape)), shape) if np.ndim(x) else x for x in (y_pred, y)
    ]
