"""Cofactors of stacks of matrices, which may be singular, and the derivatives of them."""

import numpy as np

from rules_base.shared.axes import on_the_diagonal
from rules_base.shared.matrices import adjoint, columns, conjugate, diagonal, diagonal_matrix


def scaled(factor, matrices):
    """Return `factor * matrices`, with one factor for each matrix of a stack."""
    return (factor[..., None, None] if np.ndim(factor) else factor) * matrices


def cofactors(a, determinant):
    """Return the conjugated cofactors of `a`: the gradient of the determinant.

    They are `det(a) * inv(a)^H` where `a` is regular. Where one of the stack is not, they are
    found from the singular values, in which they are finite. Where one is nearly singular, their
    derivative is: in that of the product, large terms would cancel.
    """
    if np.any(determinant == 0):
        return cofactors_by_singular_values(a)
    inverse = np.linalg.inv(a)
    found = scaled(conjugate(determinant), adjoint(inverse))
    return cofactors_near_singular(a, found) if is_nearly_singular(a, inverse) else found


def is_nearly_singular(a, inverse):
    """Return whether the digits that are lost in `inverse @ a` are half of all, in any scaling."""
    cancelling = np.sum(abs(inverse) * np.swapaxes(abs(a), -1, -2), axis=-1)
    return np.any(cancelling > np.finfo(inverse.dtype).eps ** -0.5)


def cofactors_near_singular(a, found):
    """Return the conjugated cofactors that were found, as a function of the matrix."""
    return found


def cofactors_by_singular_values(a):
    """Return the conjugated cofactors of matrices that may be singular."""
    u, s, vh = np.linalg.svd(a)
    n = s.shape[-1]
    others = np.where(on_the_diagonal(n, n, s), 1, columns(s))
    return scaled(phase_of(u, vh), (u * columns(np.prod(others, axis=-1))) @ vh)


def phase_of(u, vh):
    """Return the conjugated determinant of the unitary factors."""
    return conjugate(np.linalg.det(u) * np.linalg.det(vh))


def moved_cofactors(da, a):
    """Return the derivative of the conjugated cofactors of `a` in a direction.

    It is its own transpose, as a second derivative. Between singular vectors it is that of a
    diagonal matrix, in which each cofactor is a product of entries.
    """
    u, s, vh = np.linalg.svd(a)
    inner = scaled(phase_of(u, vh), vh @ adjoint(da) @ u)
    others = products_but_two(s)
    own = np.sum(others * columns(diagonal(inner)), axis=-1)
    return u @ (diagonal_matrix(own) - others * inner) @ vh


def products_but_two(s):
    """Return a matrix of the products of all entries but two, with a diagonal of zeros."""
    n = s.shape[-1]
    found = np.zeros((*s.shape, n), s.dtype)
    for i, j in zip(*np.triu_indices(n, 1), strict=True):
        kept = (np.arange(n) != i) & (np.arange(n) != j)
        found[..., i, j] = found[..., j, i] = np.prod(s[..., kept], axis=-1)
    return found


def twice_moved_cofactors(da, db, a):
    """Return the derivative of `moved_cofactors` by `a`: two directions are symmetric in it.

    A determinant is a polynomial, so that this is one of the minors, and has derivatives of all
    orders, which singular values do not have where they are zero or repeated.
    """
    n = a.shape[-1]
    if n == 1:
        return np.zeros_like(a)
    others = np.array([[k for k in range(n) if k != i] for i in range(n)])
    found = []
    for i in range(n):  # all minors at once would take much memory
        minor = (..., others[i][:, None], others[:, None, :])
        moved = moved_cofactors(db[minor], a[minor])
        signs = (-1.0) ** (np.arange(n) + i)
        found.append(signs.astype(a.real.dtype) * np.sum(conjugate(da[minor]) * moved, (-2, -1)))
    return np.stack(found, axis=-2)
