"""What rules along axes share: reduced axes put back, and the dtype and sign of cotangents."""

import numpy as np


def inexact_type(dy):
    """Return the dtype to hold `dy` in: its own, or float64 where that is no inexact one."""
    dtype = np.result_type(dy)
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def conjugate(x):
    """Return the conjugate of an array, which is the array itself where it is real."""
    return x.conj() if isinstance(x, np.ndarray) else np.conjugate(x)


def reshaped(x, shape, order):
    """Reshape `x`, naming the order only where it is not the usual one: few libraries take it."""
    if isinstance(x, np.ndarray):
        return x.reshape(shape, order=order)
    return np.reshape(x, shape) if order == "C" else np.reshape(x, shape, order=order)


def given(**options):
    """Return the options that were given: few libraries of foreign arrays take all of NumPy's."""
    return {name: value for name, value in options.items() if value is not None}


def restored(dy, x, axis, keepdims):
    """Return `dy` with the reduced axes of `x` back in place, of length one."""
    if keepdims or axis is None or np.ndim(x) == 0:
        return dy
    if isinstance(axis, int) and isinstance(dy, np.ndarray):
        return dy[(slice(None),) * (axis % (dy.ndim + 1)) + (None,)]
    return np.expand_dims(dy, axis)


def spread(dy, x, axis, keepdims):
    """Return `dy` repeated along the reduced axes, in the shape of `x`."""
    if axis is None and isinstance(x, np.ndarray) and x.size < SMALL and np.ndim(dy) == 0:
        return np.full(x.shape, dy)
    return np.broadcast_to(restored(dy, x, axis, keepdims), np.shape(x))


SMALL = 1000  # below this many entries, writing them is faster than making a broadcast view


def count(x, axis):
    """Return how many entries of `x` each entry of a reduction over `axis` is made of."""
    shape = np.shape(x)
    if axis is None:
        return np.size(x)
    n = 1
    for a in axis if isinstance(axis, tuple) else (axis,):
        n *= shape[a]
    return n
