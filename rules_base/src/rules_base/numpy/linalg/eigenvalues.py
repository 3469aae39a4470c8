"""Eigenvalues and eigenvectors.

Where `A V = V diag(w)`, the differential of the eigenvalues is the diagonal of `C = V^-1 dA V`, and
that of the eigenvectors is `V (F * C)` with `F_ij = 1 / (w_j - w_i)`, plus what keeps the vectors
normalized (Giles 2008; Boeddeker et al. 2017 for complex matrices).

An eigenvector is known but for a factor. LAPACK makes its length 1 and one of its entries real, and
so does its differential here, as in ChainRules. The eigenvectors of a repeated eigenvalue have no
derivative: a cotangent of theirs raises `LinAlgError`, while the eigenvalues themselves get what
the formula says. Eigenvalues count as repeated where they differ by no more than rounding.
Where their eigenvectors coincide too, as of a polynomial's coinciding roots, both raise it.
`eigh` reads one triangle of its argument, and so the other gets a zero.
"""

import numpy as np

from rules_base.shared.axes import like, on_the_diagonal
from rules_base.shared.batches import of_stacks
from rules_base.shared.matrices import (
    ArrayLike,
    adjoint,
    as_array,
    coincide,
    columns,
    diagonal,
    diagonal_matrix,
    hermitian_of_triangle,
    rows,
    triangle_of_hermitian,
)
from rulescore import RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.linalg.eigenvalues")


@rule(np.linalg.eigh)
def _(a: ArrayLike, UPLO="L"):
    y = np.linalg.eigh(a, UPLO)

    def pullback(dy):
        dw, dv = dy
        lower = UPLO.upper() == "L"
        w, v = y
        if dw is None and dv is None:
            return (None,)
        if dv is None:
            da = (v * columns(dw)) @ adjoint(v)
        else:
            if np.iscomplexobj(v):
                # the tridiagonal form that LAPACK starts from leaves this row real
                entries = np.zeros_like(w, dtype=int) + (0 if lower else w.shape[-1] - 1)
                dv = with_phase(dv, v, entries)
            inner = over_gaps(adjoint(v) @ dv, w, dv)
            da = v @ (inner if dw is None else inner + diagonal_matrix(dw)) @ adjoint(v)
        return (project(triangle_of_hermitian(da, lower), a),)

    return y, pullback


@rule(np.linalg.eigvalsh)
def _(a: ArrayLike, UPLO="L"):
    def pullback(dy):
        v = np.linalg.eigh(a, UPLO).eigenvectors
        da = (v * columns(dy)) @ adjoint(v)
        return (project(triangle_of_hermitian(da, UPLO.upper() == "L"), a),)

    return np.linalg.eigvalsh(a, UPLO), pullback


@rule.forward(np.linalg.eigh)
def _(a: ArrayLike, UPLO="L"):
    y = np.linalg.eigh(a, UPLO)
    w, v = y

    def pushforward(da):
        lower = UPLO.upper() == "L"
        inner = adjoint(v) @ hermitian_of_triangle(as_array(da), lower) @ v
        dv = v @ over_gaps(inner, w, inner)
        if np.iscomplexobj(v) and v.shape[-1]:
            row = slice(0, 1) if lower else slice(-1, None)  # which LAPACK leaves real
            dv = dv - v * (1j * np.imag(dv[..., row, :]) / v[..., row, :])
        return np.real(diagonal(inner)), dv

    return y, pushforward


@rule.forward(np.linalg.eigvalsh)
def _(a: ArrayLike, UPLO="L"):
    def pushforward(da):
        v = np.linalg.eigh(a, UPLO).eigenvectors
        moved = adjoint(v) @ hermitian_of_triangle(as_array(da), UPLO.upper() == "L") @ v
        return np.real(diagonal(moved))

    return np.linalg.eigvalsh(a, UPLO), pushforward


@rule(np.linalg.eig)
def _(a: ArrayLike):
    y = np.linalg.eig(a)

    def pullback(dy):
        dw, dv = dy
        w, v = y
        if dw is None and dv is None:
            return (None,)
        refuse_merged(as_array(a), w, v, used_of(dw, dv))
        if dv is None:
            inner = rows(dw) * adjoint(v)
        else:
            inner = over_gaps(adjoint(v) @ normalized(dv, v), np.conj(w), dv)
            inner = (inner if dw is None else inner + diagonal_matrix(dw)) @ adjoint(v)
        return (project(np.linalg.solve(adjoint(v), inner), a),)

    return y, pullback


@rule(np.linalg.eigvals)
def _(a: ArrayLike):
    y = np.linalg.eigvals(a)

    def pullback(dy):
        w, v = np.linalg.eig(a)
        if np.any(depends(rows(w - y), rows(y))):
            raise np.linalg.LinAlgError("eig finds the eigenvalues in another order: call eig")
        refuse_merged(as_array(a), w, v, dy != 0)
        return (project(np.linalg.solve(adjoint(v), rows(dy) * adjoint(v)), a),)

    return y, pullback


@rule.forward(np.linalg.eig)
def _(a: ArrayLike):
    y = np.linalg.eig(a)
    w, v = y

    def pushforward(da):
        refuse_merged(as_array(a), w, v, np.ones(w.shape, bool))
        inner = np.linalg.solve(v, as_array(da) @ v)
        dv = v @ over_gaps(inner, w, inner)
        dv = dv - v * np.real(np.sum(np.conj(v) * dv, axis=-2, keepdims=True))
        if np.iscomplexobj(v) and v.shape[-1]:
            entry = rows_that_are_real(v)[..., None, :]
            real = np.take_along_axis(v, entry, axis=-2)
            if np.any((np.imag(real) != 0) | (np.real(real) == 0)):
                raise np.linalg.LinAlgError(
                    "the tangent depends on the phase of complex eigenvectors, which is not "
                    "determined"
                )
            dv = dv - v * (1j * np.imag(np.take_along_axis(dv, entry, axis=-2)) / real)
        return diagonal(inner), dv

    return y, pushforward


@rule.forward(np.linalg.eigvals)
def _(a: ArrayLike):
    y = np.linalg.eigvals(a)

    def pushforward(da):
        w, v = np.linalg.eig(a)
        if np.any(depends(rows(w - y), rows(y))):
            raise np.linalg.LinAlgError("eig finds the eigenvalues in another order: call eig")
        refuse_merged(as_array(a), w, v, np.ones(w.shape, bool))
        return diagonal(np.linalg.solve(v, as_array(da) @ v))

    return y, pushforward


def used_of(dw, dv):
    """Return on which eigenvalues, or their vectors, a cotangent depends."""
    if dv is None:
        return dw != 0
    used = np.any(dv != 0, axis=-2)
    return used if dw is None else used | (dw != 0)


def refuse_merged(a, w, v, used):
    """Raise `LinAlgError` where eigenvalues coincide, and their eigenvectors as well.

    Rounding then splits the eigenvalues by as much as their own error, which for entries of `a`
    with relative errors `eps` is `eps |u| |a| |v|`, with `u` the left eigenvector, `u v = 1`.
    Repeated eigenvalues with vectors of their own are not refused.
    """
    if w.shape[-1] < 2 or not np.any(used):
        return
    eps = np.finfo(w.dtype).eps
    u, size = np.abs(np.linalg.inv(v)), np.abs(v)
    merging = diagonal(u @ size) > 0.01 / np.sqrt(eps)
    n = w.shape[-1]
    gaps = np.abs(columns(w) - rows(w)) + np.where(on_the_diagonal(n, n, w), np.inf, 0.0)
    error = 16 * n * eps * diagonal(u @ np.abs(a) @ size)
    if np.any(used & merging & (np.min(gaps, axis=-1) <= error)):
        raise np.linalg.LinAlgError(
            "repeated eigenvalues without eigenvectors of their own, such as the coinciding roots "
            "of a polynomial, have no gradient"
        )


def over_gaps(m, w, dv):
    """Return `m_ij / (w_j - w_i)`, with zeros on the diagonal, for the eigenvalues `w`.

    Raises `LinAlgError` where eigenvalues coincide and `dv` is not zero for their eigenvectors.
    """
    gaps, equal = columns(w) - rows(w), coincide(w)
    used = np.any(dv != 0, axis=-2)
    n = w.shape[-1]
    ambiguous = equal & (columns(used) | rows(used)) & ~on_the_diagonal(n, n, w)
    if np.any(ambiguous):
        raise np.linalg.LinAlgError(
            "the eigenvectors of a repeated eigenvalue have no gradient: only the space that they "
            "span is determined"
        )
    return np.where(equal, 0, m / np.where(equal, 1, gaps))


def normalized(dv, v):
    """Return the cotangent of eigenvectors before they were made of length 1, one entry real."""
    along = np.real(np.sum(np.conj(dv) * v, axis=-2, keepdims=True))
    if np.iscomplexobj(v) and v.shape[-1]:
        dv = with_phase(dv, v, rows_that_are_real(v))
    return dv - along * v


def rows_that_are_real(v):
    """Return for each eigenvector the row of its largest entry among those LAPACK made real."""
    return np.argmax(np.where(np.imag(v) == 0, np.abs(v), -1.0), axis=-2)


def with_phase(dv, v, entries):
    """Return the cotangent of eigenvectors before they were turned to make some entries real.

    Arguments:
        dv, v: the cotangent and the eigenvectors, in columns.
        entries: for each column the index of the entry that is real.

    Raises `LinAlgError` where the entry is zero or not real, which leaves the phase undetermined,
    and `dv` depends on the phase.
    """
    turning = np.imag(np.sum(np.conj(dv) * v, axis=-2, keepdims=True))
    entry = np.take_along_axis(v, columns(entries), axis=-2)
    undetermined = (np.imag(entry) != 0) | (np.real(entry) == 0)
    if np.any(undetermined & depends(turning, dv)):
        raise np.linalg.LinAlgError(
            "the gradient depends on the phase of complex eigenvectors, which is not determined"
        )
    turn = 1j * turning / np.where(undetermined, 1, np.real(entry))
    here = rows(np.arange(v.shape[-2], **like(v))) == columns(entries)
    return dv + np.where(here & ~undetermined, turn, 0)


def depends(turning, dv):
    """Return whether `turning` is more than rounding beside the vectors `dv`, in columns."""
    size = np.sqrt(np.sum(np.abs(dv) ** 2, axis=-2, keepdims=True))
    return np.abs(turning) > 64 * np.sqrt(np.finfo(size.dtype).eps) * size


for _f in (np.linalg.eigh, np.linalg.eigvalsh):
    rule.batched(_f)(of_stacks(_f))  # `eig` gives complex numbers where one entry of them asks it
