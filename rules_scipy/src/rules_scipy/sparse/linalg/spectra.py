"""A few eigenvalues and singular values, and their vectors.

The vector of a simple eigenvalue moves as the system that is bordered by it says: with the
condition that it keeps its length, `A - w I` is regular. (Nelson, Simplified calculation of
eigenvector derivatives, 1976.)
"""

import numpy as np
from scipy import sparse as sp
from scipy.sparse import linalg as spl

from rules_scipy.sparse.linalg.iterative import by_matrix
from rules_scipy.sparse.values import Sparse
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.linalg.spectra")
Matrix = Sparse | np.ndarray
NEAR = 1e-9  # of the largest magnitude


@rule(spl.eigsh)
def _(A: Matrix, k=6, M=None, *, return_eigenvectors=True, **options):
    if M is not None:
        y, pulled = generalized(A, k, M, return_eigenvectors, options)
        return y, lambda dy: pulled(dy)[:1]
    y, w, v = in_order(A, k, None, return_eigenvectors, options)

    def pullback(dy):
        refuse_asymmetric(A)
        dw, dv = dy if return_eigenvectors else (dy, None)
        if dw is not None:
            refuse_repeated(w, "eigsh")
        z = np.zeros_like(v) if dw is None else v * dw
        return (by_matrix(A, *symmetric(z, v, dv, A, w, v)),)

    return y, pullback


@rule(spl.eigsh)
def _(A: Matrix, k: int, M: Matrix, *, return_eigenvectors=True, **options):
    return generalized(A, k, M, return_eigenvectors, options)


def generalized(A, k, M, with_vectors, options):
    """Return what `eigsh` gives for two matrices, and its pullback."""
    if isinstance(M, spl.LinearOperator):
        raise NotImplementedError(
            "scipy.sparse.linalg.eigsh has a rule for M that is a matrix: give a matrix in the "
            "place of an operator"
        )
    y, w, v = in_order(A, k, M, with_vectors, options)

    def pullback(dy):
        refuse_asymmetric(A)
        refuse_asymmetric(M)
        dw, dv = dy if with_vectors else (dy, None)
        dw = np.zeros(len(w)) if dw is None else dw
        if np.any(dw):
            refuse_repeated(w, "eigsh")
        by_a, by_m = v * dw, -v * (w * dw)
        if dv is not None:
            for i in range(len(w)):
                u, multiplier = moved_with(
                    sp.csc_array(A), sp.csc_array(M), w[i], v[:, i], dv[:, i]
                )
                unit = np.arange(len(w)) == i
                by_a = by_a - u[:, None] * unit
                by_m = by_m + (w[i] * u - np.real(multiplier) / 2 * v[:, i])[:, None] * unit
        return (
            by_matrix(A, np.hstack([by_a, v]) / 2, np.hstack([v, by_a])),
            None,
            by_matrix(M, np.hstack([by_m, v]) / 2, np.hstack([v, by_m])),
        )

    return y, pullback


def in_order(a, k, m, with_vectors, options):
    """Return what `eigsh` gives, and its values and vectors in that order."""
    if options.get("mode") == "buckling":
        raise NotImplementedError(
            'scipy.sparse.linalg.eigsh has no rule for mode="buckling", whose vectors have another '
            "length: use `mode='normal'`"
        )
    w, v = spl.eigsh(a, k, m, **options)
    if with_vectors:
        return (w, v), w, v
    y = spl.eigsh(a, k, m, return_eigenvectors=False, **options)  # in an order of its own
    at = np.argsort(w)[np.argsort(np.argsort(y))]
    return y, w[at], v[:, at]


def moved_with(a, m, w, v, d):
    """Return the cotangent that belongs to a vector of two matrices, and that of its length.

    The length is that by `m`, which is held.
    """
    refuse_phase(v, d)
    border = sp.csc_array((m @ v)[:, None])
    found = solve_bordered(a - w * m, border, np.append(d, 0.0))
    return found[:-1], found[-1]


def refuse_asymmetric(a):
    """Raise `LinAlgError` for a matrix that is not Hermitian, of which `eigsh` finds no values."""
    a = sp.csr_array(a)
    size = abs(a).max()
    if abs(a - a.conj().T).max() > NEAR * size:
        raise np.linalg.LinAlgError(
            "scipy.sparse.linalg.eigsh has been given a matrix that is not symmetric"
        )


rule.constant(refuse_asymmetric)


def refuse_repeated(w, name):
    """Raise `LinAlgError` where two of some values are equal, but for rounding."""
    if np.any(np.diff(np.sort(w)) <= NEAR * np.max(np.abs(w), initial=0.0)):
        raise np.linalg.LinAlgError(
            f"scipy.sparse.linalg.{name} has found a value twice, which has no derivative"
        )


def symmetric(z, v, dv, a, w, vectors):
    """Return factors of the cotangent of a symmetric matrix: both of its triangles have half.

    Arguments:
        z, v: what belongs to the values: vectors times cotangents, and vectors.
        dv: the cotangent of the vectors, or `None`.
        a, w, vectors: the matrix, its eigenvalues and vectors.
    """
    if dv is not None:
        moved = np.stack([solved(a, w, vectors, i, dv[:, i]) for i in range(len(w))], axis=1)
        z, v = np.hstack([z, moved]), np.hstack([v, vectors])
    return np.hstack([z, v]) / 2, np.hstack([v, z])


def solved(a, w, vectors, i, d):
    """Return the cotangent that belongs to one vector: the system of the others is solved.

    Raises `LinAlgError` where its eigenvalue is repeated.
    """
    v = vectors[:, i]
    refuse_phase(v, d)
    return -bordered(sp.csc_array(a), w[i], v, d - v * np.vdot(v, d), 0.0)


def refuse_phase(v, d):
    """Raise `LinAlgError` for a cotangent `d` that depends on the phase of a vector `v`."""
    if np.iscomplexobj(v) and abs(np.imag(np.vdot(v, d))) > 1e-6 * np.linalg.norm(d):
        raise np.linalg.LinAlgError("a cotangent depends on the phase of an eigenvector")


def bordered(a, w, v, d, dw):
    """Return the vector `u` for which `-u @ v.conj().T` is the cotangent of a matrix.

    Arguments:
        a, w, v: the matrix, an eigenvalue and its vector.
        d, dw: the cotangents of the vector and of the value.

    Raises `LinAlgError` where the eigenvalue is repeated.
    """
    shifted = a - w * sp.eye_array(len(v), format="csc")
    return solve_bordered(shifted, sp.csc_array(v[:, None]), np.append(d, -dw))[:-1]


def solve_bordered(shifted, border, d):
    """Solve the adjoint of a system that is bordered by a column, and its adjoint as a row."""
    system = sp.block_array([[shifted, border], [border.conj().T, None]]).conj().T
    try:
        factors = spl.splu(system.tocsc())
    except RuntimeError:
        factors = None
    refuse_singular_border(factors)
    return factors.solve(d.astype(system.dtype))


def refuse_singular_border(factors):
    """Raise `LinAlgError` where the system for the change of a vector is singular."""
    pivots = np.zeros(1) if factors is None else np.abs(factors.U.diagonal())
    if np.min(pivots) <= NEAR * np.max(pivots):
        raise np.linalg.LinAlgError(
            "the vector of an eigenvalue that is repeated has no derivative"
        )


rule.constant(refuse_singular_border)


@rule(spl.eigs)
def _(A: Matrix, k=6, M=None, *, return_eigenvectors=True, **options):
    if M is not None:
        raise NotImplementedError(
            "scipy.sparse.linalg.eigs has no rule for M: give it `splu(M).solve(A.toarray())` "
            "in the place of A"
        )
    w, v = spl.eigs(A, k, **options)
    y = w, v
    if not return_eigenvectors:  # SciPy has them in an order of its own
        y = spl.eigs(A, k, return_eigenvectors=False, **options)
        if np.isrealobj(A):  # and of two that are conjugate it may have the other one
            w, v = np.append(w, np.conj(w)), np.hstack([v, np.conj(v)])
        at = [np.argmin(np.abs(w - value)) for value in y]
        w, v = w[at], v[:, at]

    def pullback(dy):
        dw, dv = dy if return_eigenvectors else (dy, None)
        a = sp.csc_array(A)
        left = np.zeros(v.shape, complex)
        for i in range(len(w)):
            d = np.zeros(len(v)) if dv is None else dv[:, i]
            dvalue = 0.0 if dw is None else dw[i]
            if dvalue or np.any(d):
                refuse_phase(v[:, i], d)
                left[:, i] = bordered(a, w[i], v[:, i], d - v[:, i] * np.vdot(v[:, i], d), dvalue)
        return (by_matrix(A, -left, v),)

    return y, pullback


@rule(spl.svds)
def _(A: Matrix, k=6, *, return_singular_vectors=True, **options):
    u, s, vh = spl.svds(A, k, **options)
    if return_singular_vectors not in (True, False):
        raise NotImplementedError(
            "scipy.sparse.linalg.svds has a rule for all vectors or none: give "
            "return_singular_vectors=True or False"
        )

    def pullback(dy):
        du, ds, dvh = dy if return_singular_vectors else (None, dy, None)
        left, right = [np.zeros((size, 0)) for size in A.shape]
        if ds is not None:
            refuse_repeated(s, "svds")
            left, right = u * ds, np.conj(vh.T)
        if du is not None or dvh is not None:
            du = np.zeros_like(u) if du is None else du
            dv = np.zeros_like(vh.T) if dvh is None else np.conj(dvh.T)
            moved = of_singular_vectors(A, s, u, np.conj(vh.T), du, dv)
            left, right = np.hstack([left, moved[0]]), np.hstack([right, moved[1]])
        return (by_matrix(A, left, right),)

    return ((u, s, vh) if return_singular_vectors else s), pullback


def of_singular_vectors(a, s, u, v, du, dv):
    """Return factors of the cotangent of a matrix from those of its singular vectors.

    A pair of these, one above the other, is a vector of `[[0, A], [A.conj().T, 0]]`.
    """
    a = sp.csc_array(a)
    both = sp.block_array([[None, a], [a.conj().T, None]], format="csc")
    left, right = [-u * np.sqrt(0.5)], [v * np.sqrt(0.5)]
    pairs, dpairs = np.vstack([u, v]) * np.sqrt(0.5), np.vstack([du, dv]) * np.sqrt(2.0)
    for i in range(len(s)):
        z, d = pairs[:, i], dpairs[:, i]
        refuse_phase(z, d)
        w = bordered(both, s[i], z, d - z * np.vdot(z, d), 0.0)
        left.insert(i, -w[: len(u), None])
        right.append(w[len(u) :, None])
    return np.hstack(left), np.hstack(right)
