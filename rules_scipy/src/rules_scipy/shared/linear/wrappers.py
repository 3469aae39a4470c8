"""Wrappers of BLAS and LAPACK: one for each precision, which may write to its arguments."""

import numpy as np

DTYPES = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


def each_precision(module, *names, letters="sdcz"):
    """Give the routines of each precision, with their names and types of numbers."""
    for name in names:
        for letter in letters:
            full = f"{module.__name__}.{letter}{name}"
            yield getattr(module, letter + name), full, np.dtype(DTYPES[letter])


def columns(x, dtype):
    """Return what a wrapper reads of an argument: a vector is a column."""
    if not isinstance(x, np.ndarray) or x.dtype != dtype:
        x = np.asarray(x)
        x = (x.real if dtype.kind == "f" else x).astype(dtype, copy=False)
    return x[:, None] if x.ndim == 1 else x


def like(dx, x):
    """Return a cotangent in the shape of an argument, which may be a vector for a column."""
    shape = x.shape if isinstance(x, np.ndarray) else np.shape(x)
    return dx if dx.shape == shape else dx.reshape(shape)


def refuse_overwriting(name, dtype, x):
    """Refuse to write to an argument, as a wrapper does where the layout allows it."""
    if isinstance(x, np.ndarray) and x.dtype == dtype and x.flags.f_contiguous:
        raise NotImplementedError(f"{name} has no rule that overwrites an argument: leave it out")


def triangle(a, lower, unit=False):
    """Return a triangle of a matrix, with or without the diagonal."""
    return np.tril(a, -1 if unit else 0) if lower else np.triu(a, 1 if unit else 0)
