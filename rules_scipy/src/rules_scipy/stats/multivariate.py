"""Covariances, which SciPy takes apart into eigenvectors, and the von Mises-Fisher distribution.

A density depends on a covariance by `U @ U.T`, the inverse, and by the determinant. Both have
derivatives where eigenvalues are repeated too, as those of the identity are, and the eigenvectors
have none.
"""

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import ive
from scipy.stats._multivariate import _PSD, vonmises_fisher_gen

from rules_scipy.shared.linear.matrices import ArrayLike, of_symmetric
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.multivariate")


@rule(_PSD)
def _(M: ArrayLike, cond=None, rcond=None, lower=True, check_finite=True, allow_singular=True):
    psd = _PSD(M, cond, rcond, lower, check_finite, allow_singular)

    def pullback(dy):
        given = dict(dy.items())
        if given.get("V") is not None or given.get("eps") is not None:
            raise LinAlgError("the gradient depends on the null space of a covariance")
        da = np.zeros_like(psd.U)
        if given.get("log_pdet") is not None:
            da = da + given["log_pdet"] * (psd.U @ psd.U.T)
        if given.get("U") is not None:
            da = da - psd.U @ by_inverse(psd, given["U"]) @ psd.U.T
        da = of_symmetric(da, lower)
        whole = given.get("_M")
        return (project(da if whole is None else da + whole, M),)

    return psd, pullback


def by_inverse(psd, dfactor):
    """Return `U' G U` for the cotangent `G` of the inverse, where that of the factor is `2 G U`."""
    inner = psd.U.T @ dfactor / 2
    if not np.allclose(inner, inner.T, rtol=1e-9, atol=1e-9 * np.max(np.abs(inner), initial=0.0)):
        raise LinAlgError("the gradient depends on the basis of eigenvectors of a covariance")
    return inner


# of the von Mises-Fisher distribution, where a frozen one holds the dimension beside the
# concentration: the mean of the cosine is `I[d/2](kappa) / I[d/2-1](kappa)` (Mardia, Jupp, 10.3.1)


def mean_cosine(dim, kappa):
    """Return the mean of the cosine of the angle to the mean direction."""
    return ive(dim / 2, kappa) / ive(dim / 2 - 1, kappa)


def slope_of_cosine(dim, kappa):
    """Return its derivative by the concentration."""
    mean = mean_cosine(dim, kappa)
    return 1.0 - mean**2 - (dim - 1) / kappa * mean


@rule(mean_cosine)
def _(dim: int, kappa: object):
    def pullback(dy):
        return None, project(dy * slope_of_cosine(dim, kappa), kappa)

    return mean_cosine(dim, kappa), pullback


@rule(vonmises_fisher_gen._log_norm_factor)
def _(distribution: object, dim: int, kappa: object):
    def pullback(dy):
        return None, None, project(-dy * mean_cosine(dim, kappa), kappa)

    return vonmises_fisher_gen._log_norm_factor(distribution, dim, kappa), pullback


@rule(vonmises_fisher_gen._entropy)
def _(distribution: object, dim: int, kappa: object):
    def pullback(dy):
        return None, None, project(-dy * kappa * slope_of_cosine(dim, kappa), kappa)

    return vonmises_fisher_gen._entropy(distribution, dim, kappa), pullback
