"""What rules along axes share: reduced axes put back, and the dtype and sign of cotangents."""

import math

import numpy as np

from rulescore import Array


def inexact_type(dy):
    """Return the dtype to hold `dy` in: its own, or float64 where that is not an inexact one."""
    dtype = np.result_type(dy)
    return dtype if dtype.kind in "fc" else np.dtype(np.float64)


def inexact(x):
    """Return NumPy's integers as float64: their differences and products wrap around."""
    if isinstance(x, Array | np.generic) and x.dtype.kind in "iub":
        return x.astype(np.float64)
    return x


def conjugate(x):
    """Return the conjugate of an array, which is the array itself where it is real."""
    return x.conj() if isinstance(x, np.ndarray) else np.conjugate(x)


def shape_of(x):
    """Return the shape of a number or an array: `np.shape`, quicker."""
    return x.shape if isinstance(x, np.ndarray) else np.shape(x)


def size_of(x):
    """Return the number of entries of a number, a list or an array: `np.size`, but left lazy."""
    return x.size if isinstance(x, Array) else np.size(x)


def reshaped(x, shape, order="C"):
    """Reshape `x`, naming the order only where it is not the usual one: few libraries take it."""
    if isinstance(x, np.ndarray):
        return x.reshape(shape, order=order)
    return np.reshape(x, shape) if order == "C" else np.reshape(x, shape, order=order)


def like(x):
    """Return the options by which NumPy makes an array of the library that `x` is of (NEP 35)."""
    return {"like": x} if isinstance(x, Array) and not isinstance(x, np.ndarray) else {}


def on_the_diagonal(rows, columns, x, offset=0):
    """Return which entries of a matrix are on a diagonal, as an array of the library of `x`."""
    if not like(x):
        return np.eye(rows, columns, offset, dtype=bool)
    places = np.arange(rows, **like(x))  # few libraries answer `np.eye(like=x)`
    return np.expand_dims(places + offset, -1) == np.arange(columns, **like(x))


def backwards(x, axis):
    """Return the entries of `x` in reverse order along `axis`."""
    if x.ndim == 1:
        return x[::-1]
    return x[(slice(None),) * (axis % x.ndim) + (slice(None, None, -1),)]


def given(**options):
    """Return the options that were given: few libraries of foreign arrays take all of NumPy's."""
    return {name: x for name, x in options.items() if x is not None and x is not np._NoValue}


def truncates(x, dtype):
    """Return whether an inexact `x` becomes integers where NumPy computes in `dtype`.

    What is made of them moves in jumps: there is no slope, as with `astype(int)`.
    """
    return dtype is not None and np.dtype(dtype).kind in "biu" and np.result_type(x).kind in "fc"


def as_read(x, dtype):
    """Return `x` as NumPy reads it where it computes in `dtype`: a real one takes the real part."""
    if dtype is None or np.dtype(dtype).kind == "c" or not np.iscomplexobj(x):
        return x
    return np.real(x)


def restored(dy, x, axis, keepdims):
    """Return `dy` with the reduced axes of `x` back in place, of length one.

    `keepdims` may be what NumPy's own functions hand on where it was not given.
    """
    if (keepdims and keepdims is not np._NoValue) or axis is None or np.ndim(x) == 0:
        return dy
    if isinstance(axis, int) and isinstance(dy, np.ndarray):
        return dy[(slice(None),) * (axis % (dy.ndim + 1)) + (None,)]
    return np.expand_dims(dy, axis)


def spread(dy, x, axis, keepdims):
    """Return `dy` repeated along the reduced axes, in the shape of `x`."""
    if axis is None and isinstance(x, np.ndarray) and not keepdims and x.size <= SMALL:
        return np.full(x.shape, dy)
    return np.broadcast_to(restored(dy, x, axis, keepdims), shape_of(x))


def zeros_kept(dx, dy, y):
    """Return `dx`, and 0 where `dy` is 0: a strong zero, which wins over nan and infinity.

    They can have spread to `dx` only where the values `y` are not all finite.
    """
    if isinstance(y, float | np.floating):
        if math.isfinite(y):
            return dx
    elif isinstance(y, np.ndarray | np.generic) and np.isfinite(y).all():
        return dx
    # only where it wins: elsewhere the derivative of `dx` by `dy` is its factor, at 0, too
    return np.where((dy == 0) & ~np.isfinite(dx), 0.0, dx)


SMALL = 10_000  # up to so many entries, writing them is no slower than making a broadcast view


def count(x, axis):
    """Return how many entries of `x` each entry of a reduction over `axis` is made of."""
    if axis is None:
        return x.size if isinstance(x, np.ndarray) else size_of(x)
    shape = shape_of(x)
    n = 1
    for a in axis if isinstance(axis, tuple) else (axis,):
        n *= shape[a]
    return n
