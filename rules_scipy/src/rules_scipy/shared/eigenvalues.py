"""Characteristic values of Mathieu's and of spheroidal functions, by their parameter.

Both are eigenvalues of matrices `diag(d) + q V` in a basis of cosines, sines or Legendre functions.
The derivative is `v V v` by the unit eigenvector. As it is computed by `eigh`, which has a rule, it
has derivatives of any order.
"""

import numpy as np

from rulescore import stop_gradient

MARGIN = (
    16  # rows behind the last one that matters, from which on the entries of a vector fall fast
)


def entrywise(f):
    """Return a function of numbers that also takes arrays."""

    def of_arrays(*xs):
        shape = np.broadcast_shapes(*map(np.shape, xs))
        if not shape:
            return f(*xs)
        rows = zip(*[np.ravel(np.broadcast_to(x, shape)) for x in xs], strict=True)
        return np.reshape(np.array([f(*row) for row in rows]), shape)

    return of_arrays


def slope(diagonal, perturbation, q, value):
    """Return the derivative of an eigenvalue of `diag(diagonal) + q * perturbation`.

    It is that next to SciPy's value, which far out may be another one than it should be; where it
    is none, `nan`.
    """
    values, vectors = np.linalg.eigh(np.diag(diagonal) + q * perturbation)
    distances = np.abs(stop_gradient(values) - value)
    index = np.argmin(distances)
    vector = vectors[:, index]
    found = vector @ perturbation @ vector
    return found if distances[index] <= 1e-6 * (1 + abs(value)) else found * np.nan


@entrywise
def mathieu_a_slope(m, q, value):
    """Return the derivative by `q` of the characteristic value of an even function (DLMF 28.4)."""
    return mathieu_slope(m, q, value, 0 if m % 2 == 0 else 1)


@entrywise
def mathieu_b_slope(m, q, value):
    """Return the derivative by `q` of the characteristic value of an odd function (DLMF 28.4)."""
    return mathieu_slope(m, q, value, 2 if m % 2 == 0 else -1)


def mathieu_slope(m, q, value, first):
    """Return the derivative by `q`, in the basis of which `first` is the first frequency.

    The sign of an odd one is that of the first entry of the perturbation.
    """
    known = stop_gradient(q)
    if not np.isfinite(known) or m < abs(first):
        return q * np.nan
    size = MARGIN + int(m + 2 * np.sqrt(abs(known)))
    frequencies = abs(first) + 2.0 * np.arange(size)
    perturbation = np.eye(size, k=1) + np.eye(size, k=-1)
    if first == 0:
        perturbation[0, 1] = perturbation[1, 0] = np.sqrt(2.0)
    elif first in (1, -1):
        perturbation[0, 0] = first
    return slope(frequencies**2, perturbation, q, stop_gradient(value))


@entrywise
def mean_square(m, n, square, value):
    """Return the mean of `x**2` weighted by the square of an angular spheroidal function.

    It is the derivative of the characteristic value by the square of the parameter, which is
    negative for oblate functions, in the basis of Legendre functions (DLMF 14.10.3).
    """
    known = stop_gradient(square)
    if not np.isfinite(known) or not 0 <= m <= n:
        return square * np.nan
    size = MARGIN + int(n + 2 * np.sqrt(abs(known)))
    degrees = m + np.arange(2.0 * size)
    beside = np.sqrt((degrees[1:] ** 2 - m * m) / (4 * degrees[1:] ** 2 - 1))
    times_x = np.diag(beside, 1) + np.diag(beside, -1)
    parity = slice(int(n - m) % 2, 2 * size - 2, 2)
    perturbation = (times_x @ times_x)[parity, parity]
    return slope((degrees * (degrees + 1))[parity], perturbation, square, stop_gradient(value))
