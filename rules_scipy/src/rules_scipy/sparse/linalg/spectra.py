"""A few eigenvalues and singular values, and the vectors of symmetric matrices."""

import numpy as np
from scipy import sparse as sp
from scipy.sparse import linalg as spl

from rules_scipy.sparse.linalg.iterative import by_matrix
from rules_scipy.sparse.values import Sparse
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.sparse.linalg.spectra", may_raise=True)
Matrix = Sparse | np.ndarray
NEAR = 1e-9  # of the largest magnitude


@rule(spl.eigsh)
def _(A: Matrix, k=6, M=None, *, return_eigenvectors=True, **options):
    if M is not None:
        raise NotImplementedError("scipy.sparse.linalg.eigsh has no rule for M")
    w, v = spl.eigsh(A, k, **options)
    y = w, v
    if not return_eigenvectors:  # SciPy has them in an order of its own
        y = spl.eigsh(A, k, return_eigenvectors=False, **options)
        at = np.argsort(w)[np.argsort(np.argsort(y))]
        w, v = w[at], v[:, at]

    def pullback(dy):
        refuse_asymmetric(A)
        dw, dv = dy if return_eigenvectors else (dy, None)
        if dw is not None:
            refuse_repeated(w, "eigsh")
        z = np.zeros_like(v) if dw is None else v * dw
        return (by_matrix(A, *symmetric(z, v, dv, A, w, v)),)

    return y, pullback


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
    v = vectors[:, i : i + 1]
    if np.iscomplexobj(v) and abs(np.imag(np.vdot(v, d))) > 1e-6 * np.linalg.norm(d):
        raise np.linalg.LinAlgError("a cotangent depends on the phase of an eigenvector")
    size = len(d)
    shifted = sp.csc_array(a) - w[i] * sp.eye_array(size, format="csc")
    bordered = sp.block_array([[shifted, sp.csc_array(v)], [sp.csc_array(v.conj().T), None]])
    right = np.append(-(d - v[:, 0] * np.vdot(v, d)), 0.0)
    try:
        factors = spl.splu(bordered.tocsc())
    except RuntimeError:
        factors = None
    pivots = None if factors is None else np.abs(factors.U.diagonal())
    if pivots is None or np.min(pivots) <= NEAR * np.max(pivots):
        raise np.linalg.LinAlgError(
            "the vector of an eigenvalue that is repeated has no derivative"
        )
    return factors.solve(right.astype(factors.U.dtype))[:size]


@rule(spl.svds)
def _(A: Matrix, k=6, *, return_singular_vectors=True, **options):
    u, s, vh = spl.svds(A, k, **options)
    if return_singular_vectors not in (True, False):
        raise NotImplementedError("scipy.sparse.linalg.svds has a rule for all vectors or none")

    def pullback(dy):
        ds = dy
        if return_singular_vectors:
            if dy[0] is not None or dy[2] is not None:
                raise NotImplementedError(
                    "of scipy.sparse.linalg.svds only the singular values carry a gradient"
                )
            ds = dy[1]
        if ds is None:
            return (None,)
        refuse_repeated(s, "svds")
        return (by_matrix(A, u * ds, np.conj(vh.T)),)

    return ((u, s, vh) if return_singular_vectors else s), pullback
