"""Matrices, and stacks of them: what the rules of linear algebra take apart and put together."""

import numpy as np
from scipy.linalg import LinAlgError

from rulescore import Numeric

ArrayLike = Numeric | list | tuple


def given(**options):
    """Return the options that were given: older versions of SciPy do not have them all."""
    return {name: x for name, x in options.items() if x is not None and x is not False}


def conjugate(x):
    """Return the conjugate of `x`, which is `x` itself where it is real."""
    if isinstance(x, np.ndarray):
        return x.conj() if x.dtype.kind == "c" else x
    return np.conj(x) if np.iscomplexobj(x) else x


def transpose(a):
    """Return the transposes of a stack of matrices."""
    return a.swapaxes(-1, -2) if isinstance(a, np.ndarray) else np.swapaxes(a, -1, -2)


def adjoint(a):
    """Return the conjugate transposes of a stack of matrices."""
    return transpose(conjugate(a))


def diagonal(a):
    """Return the diagonals of a stack of matrices."""
    return np.diagonal(a, axis1=-2, axis2=-1)


def diagonal_matrix(d):
    """Return a stack of diagonal matrices."""
    return np.eye(d.shape[-1]) * d[..., None, :]


def outer(y, x):
    """Return `y x^H` for vectors, or for matrices of vectors in columns."""
    return np.outer(y, conjugate(x)) if x.ndim == 1 else y @ adjoint(x)


def of_hermitian(da, lower=True):
    """Return the cotangent of the triangle that is read of a Hermitian matrix."""
    both = da + adjoint(da)
    strict = np.tril(both, -1) if lower else np.triu(both, 1)
    return strict + diagonal_matrix(np.real(diagonal(da)))


def of_symmetric(da, lower=True):
    """Return the cotangent of the triangle that is read of a symmetric matrix, maybe complex."""
    both = da + transpose(da)
    strict = np.tril(both, -1) if lower else np.triu(both, 1)
    return strict + diagonal_matrix(diagonal(da))


HERMITIAN = ("her", "hermitian", "pos", "positive", "positive definite")
SYMMETRIC = ("sym", "symmetric")


def of_structure(da, assume_a, lower):
    """Return the cotangent of those entries of a matrix that are read where it has a structure."""
    if assume_a is None or assume_a == "general":
        return da
    if assume_a in HERMITIAN:
        return of_hermitian(da, lower)
    if assume_a in SYMMETRIC:
        return of_symmetric(da, lower)
    if assume_a == "upper triangular":
        return np.triu(da)
    if assume_a == "lower triangular":
        return np.tril(da)
    if assume_a == "diagonal":
        return diagonal_matrix(diagonal(da))
    if assume_a == "tridiagonal":
        return np.triu(np.tril(da, 1), -1)
    return da


def read_of_structure(da, assume_a, lower):
    """Return the tangent of a matrix of which only those entries are read that a structure has."""
    strict = np.tril(da, -1) if lower else np.triu(da, 1)
    if assume_a in HERMITIAN:
        return strict + adjoint(strict) + diagonal_matrix(np.real(diagonal(da)))
    if assume_a in SYMMETRIC:
        return strict + transpose(strict) + diagonal_matrix(diagonal(da))
    return of_structure(da, assume_a, lower)


def coincide(values):
    """Return which pairs of eigenvalues or singular values are equal but for rounding."""
    gaps = np.abs(values[..., None, :] - values[..., :, None])
    largest = np.max(np.abs(values), axis=-1, keepdims=True, initial=0.0)
    return gaps <= values.shape[-1] * np.finfo(values.dtype).eps * largest[..., None]


def over_gaps(m, w, dv, what):
    """Return `m_ij / (w_j - w_i)`, with zeros on the diagonal.

    Raises `LinAlgError` where values coincide and `dv` is not zero for their vectors.
    """
    gaps, equal = w[..., None, :] - w[..., :, None], coincide(w)
    used = np.any(dv != 0, axis=-2)
    others = ~np.eye(w.shape[-1], dtype=bool)
    if np.any(equal & others & (used[..., None, :] | used[..., :, None])):
        raise LinAlgError(
            f"the {what}vectors of a repeated {what}value have no gradient: only the space that "
            "they span is determined"
        )
    return np.where(equal, 0, m / np.where(equal, 1, gaps))


def refuse_phase(turning, dv, what):
    """Raise `LinAlgError` where a cotangent depends on the phases of complex vectors."""
    size = np.sqrt(np.sum(np.abs(dv) ** 2))
    if np.any(np.abs(turning) > 64 * np.sqrt(np.finfo(dv.dtype).eps) * size):
        raise LinAlgError(
            f"the gradient depends on the phase of complex {what}vectors, which is not determined"
        )


def svd_of(a):
    """Return the singular values and vectors of `a`.

    Raises `LinAlgError` for infinities and nans, with which LAPACK may not end.
    """
    if not np.all(np.isfinite(a)):
        raise LinAlgError("a matrix with infinities or nans has no gradient")
    return np.linalg.svd(a, full_matrices=False)


def refuse_singular(a, what):
    """Raise `LinAlgError` where one of a stack of matrices is singular, but for rounding."""
    a = np.asarray(a)
    if not (a.size and np.all(np.isfinite(a))):
        return
    s = np.linalg.svd(a, compute_uv=False)
    if np.any(s[..., -1] <= a.shape[-1] * np.finfo(s.dtype).eps * s[..., 0]):
        raise LinAlgError(f"{what} of a singular matrix has no gradient: its slope is infinite")
