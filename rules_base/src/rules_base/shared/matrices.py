"""Stacks of matrices: what the rules of linear algebra take apart and put together."""

import numpy as np

from rules_base.shared.axes import on_the_diagonal
from rulescore import Array, Numeric

ArrayLike = Numeric | list | tuple


def as_array(x):
    """Return a number, list or tuple as an array, and an array of any library as it is."""
    return x if isinstance(x, Array) else np.asarray(x)[()]  # a scalar mixes with any library


def conjugate(x):
    """Return the conjugate of `x`, which is `x` itself where it is real."""
    x = as_array(x)
    return np.conj(x) if x.dtype.kind == "c" else x  # some libraries lack `np.iscomplexobj`


def zero_filled(dy):
    """Return a cotangent as products of its library take it.

    An array of pydata sparse has a value for all entries that it does not store, such as 1 for a
    cotangent of ones. Its products need 0, so such an array is stored in whole.
    """
    if type(dy) is np.ndarray or not getattr(dy, "fill_value", 0):
        return dy
    return type(dy).from_numpy(dy.todense(), fill_value=0)


def adjoint(a):
    """Return the conjugate transposes of a stack of matrices, not copied where they are real."""
    return np.swapaxes(conjugate(a), -1, -2)


def columns(d):
    """Return vectors as diagonal matrices act on columns: `a * columns(d) == a @ diag(d)`."""
    return d[..., None, :]


def rows(d):
    """Return vectors as diagonal matrices act on rows: `rows(d) * a == diag(d) @ a`."""
    return d[..., None]


def diagonal(a):
    """Return the diagonals of a stack of matrices."""
    return np.diagonal(a, axis1=-2, axis2=-1)


def diagonal_matrix(d):
    """Return a stack of diagonal matrices."""
    n = d.shape[-1]
    return on_the_diagonal(n, n, d) * columns(d)


def coincide(values):
    """Return which pairs of eigenvalues or singular values are equal but for rounding.

    LAPACK's error is that of the largest value, times the machine precision and the size.
    """
    gaps = np.abs(columns(values) - rows(values))
    if values.shape[-1] == 0:
        return gaps == 0
    largest = np.max(np.abs(values), axis=-1, keepdims=True)
    return gaps <= values.shape[-1] * np.finfo(values.dtype).eps * rows(largest)


def triangle_of_hermitian(a, lower=True):
    """Return the cotangent of the one triangle of a Hermitian matrix that LAPACK reads.

    `a` is a stack of cotangents of all the entries, as if each could move by itself. The triangle
    that is not read has none, the one that is read stands for both, and the imaginary part of
    the diagonal is not read.
    """
    both = a + adjoint(a)
    half = np.real(diagonal(a))
    strict = np.tril(both, -1) if lower else np.triu(both, 1)
    return strict + diagonal_matrix(half)


def hermitian_of_triangle(a, lower=True):
    """Return the Hermitian matrices that LAPACK reads from one triangle of `a`."""
    strict = np.tril(a, -1) if lower else np.triu(a, 1)
    return strict + adjoint(strict) + diagonal_matrix(np.real(diagonal(a)))
