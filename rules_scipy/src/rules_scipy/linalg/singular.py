"""Singular values, and their vectors.

Values that are repeated get what the formula says. Their vectors have no derivative, and a
cotangent of theirs raises `LinAlgError`. So does one that depends on the phases of complex vectors,
or on the basis of a null space.
"""

import numpy as np
from scipy import linalg as sl

from rules_scipy.shared.batches import of_stacks
from rules_scipy.shared.linear.matrices import (
    ArrayLike,
    adjoint,
    diagonal,
    diagonal_matrix,
    over_gaps,
    refuse_phase,
    svd_of,
)
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.linalg.singular")


def values_cotangent(u, s, vh, ds):
    """Return the cotangent of a matrix with the singular values `s`; 0 at the kink `s = 0`."""
    return (u * np.where(s == 0, 0, ds)[..., None, :]) @ vh


@rule(sl.svdvals)
def _(a: ArrayLike, overwrite_a=False, check_finite=True):
    def pullback(dy):
        return (project(values_cotangent(*svd_of(np.asarray(a)), dy), a),)

    return sl.svdvals(a, False, check_finite), pullback


@rule(sl.svd)
def _(
    a: ArrayLike,
    full_matrices=True,
    compute_uv=True,
    overwrite_a=False,
    check_finite=True,
    lapack_driver="gesdd",
):
    y = sl.svd(a, full_matrices, compute_uv, False, check_finite, lapack_driver)

    def pullback(dy):
        if not compute_uv:
            u, s, vh = svd_of(np.asarray(a))
            return (project(values_cotangent(u, s, vh, dy), a),)
        da = svd_cotangent(*y, *dy)
        return (None if da is None else project(da, a),)

    return y, pullback


def svd_cotangent(u, s, vh, du, ds, dvh):
    """Return the cotangent of a matrix for those of its decomposition (Townsend 2016)."""
    k = s.shape[-1]
    v, dv = adjoint(vh), None if dvh is None else adjoint(dvh)
    for d in (du, dv):
        if d is not None and np.any(d[..., k:] != 0):
            raise sl.LinAlgError(
                "the gradient depends on the basis of a null space, which is not determined: use "
                "full_matrices=False"
            )
    u, v = u[..., :k], v[..., :k]
    if du is None and dv is None:
        return None if ds is None else values_cotangent(u, s, adjoint(v), ds)
    du = np.zeros_like(u) if du is None else du[..., :k]
    dv = np.zeros_like(v) if dv is None else dv[..., :k]
    used = np.concatenate([du, dv], axis=-2)
    x, z = adjoint(u) @ du, adjoint(v) @ dv
    inner = (x - adjoint(x)) * s[..., None, :] + s[..., :, None] * (z - adjoint(z))
    inner = over_gaps(inner, s * s, used, "singular ")
    vanishing = s <= k * np.finfo(s.dtype).eps * s[..., :1]
    if np.any(vanishing & np.any(used != 0, axis=-2)):
        raise sl.LinAlgError("the singular vectors of a vanishing singular value have no gradient")
    if np.iscomplexobj(u):
        refuse_phase(np.imag(diagonal(x) + diagonal(z)), used, "singular ")
        inner = inner + diagonal_matrix(1j * np.imag(diagonal(x)) / np.where(s == 0, 1, s))
    if ds is not None:
        inner = inner + diagonal_matrix(np.where(s == 0, 0, ds))
    inverse = 1 / np.where(s == 0, 1, s)[..., None, :]
    da = u @ inner @ adjoint(v)
    da = da + ((du - u @ x) * inverse) @ adjoint(v)
    return da + (u * inverse) @ adjoint(dv - v @ z)


# -- of batches

rule.batched(sl.svd)(of_stacks(sl.svd, "full_matrices", "compute_uv", "overwrite_a"))
rule.batched(sl.svdvals)(of_stacks(sl.svdvals, "overwrite_a", "check_finite"))
