"""Fitting a polynomial: least squares with a Vandermonde matrix.

The coefficients `c` minimize `|w (y - V c)|`, where `V` holds the powers of `x`. The rule is that
of least squares (Golub and Pereyra 1973), from there back to `x`, `y` and the weights.
"""

import numpy as np

from rules_base.numpy.linalg.solve import least_squares_cotangents
from rules_base.shared.axes import like
from rules_base.shared.matrices import ArrayLike, as_array, conjugate
from rulescore import RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.polyfit")


@rule(np.polyfit)
def _(
    x: ArrayLike, y: ArrayLike, deg: object, rcond=None, full=False, w: type(None) = None, cov=False
):
    fit = np.polyfit(x, y, deg, rcond, full, w, cov)

    def pullback(dfit):
        dx, dy, _ = fit_cotangents(dfit, fit, x, y, deg, rcond, full, w, cov)
        return dx, dy, None

    return fit, pullback


@rule(np.polyfit)
def _(
    x: ArrayLike, y: ArrayLike, deg: object, rcond: object, full: object, w: ArrayLike, cov=False
):
    fit = np.polyfit(x, y, deg, rcond, full, w, cov)

    def pullback(dfit):
        dx, dy, dw = fit_cotangents(dfit, fit, x, y, deg, rcond, full, w, cov)
        return dx, dy, None, None, None, dw

    return fit, pullback


def fit_cotangents(dfit, fit, x, y, deg, rcond, full, w, cov):
    """Return the cotangents of `x`, `y` and the weights in the results of `np.polyfit`.

    Raises `LinAlgError` where the fit is not unique, and `NotImplementedError` for a cotangent of
    the covariance or of the singular values, which have no rule.
    """
    dresiduals = None
    if full:
        dfit, dresiduals, _, dvalues, _ = dfit
        fit = fit[0]
        refuse(dvalues, "singular values")
    elif cov:
        dfit, dcovariance = dfit
        fit = fit[0]
        refuse(dcovariance, "covariance")
    if dfit is None:
        dfit = np.zeros_like(fit)
    points, values = as_array(x) + 0.0, as_array(y) + 0.0
    weights = np.ones(points.shape, **like(points)) if w is None else as_array(w)
    powers = np.vander(points, int(deg) + 1)
    weighted = weights[:, None] * powers
    values_in_columns = np.reshape(values, (points.shape[0], -1))
    target = weights[:, None] * values_in_columns
    coefficients = np.reshape(fit, (int(deg) + 1, -1))
    dcoefficients = np.reshape(dfit, coefficients.shape)
    dweighted, dtarget = least_squares_cotangents(
        dcoefficients, weighted, target, coefficients, unique_inverse(weighted, rcond), True
    )
    if dresiduals is not None and np.size(dresiduals):
        dresidual = 2 * dresiduals * (target - weighted @ coefficients)
        dtarget = dtarget + dresidual
        dweighted = dweighted - dresidual @ conjugate(coefficients.T)
    slopes = np.arange(int(deg), 0, -1) * powers[:, 1:]
    dpowers = weights[:, None] * dweighted
    dx = np.sum(dpowers[:, :-1] * conjugate(slopes), axis=1)
    dy = np.reshape(weights[:, None] * dtarget, values.shape)
    dw = None
    if w is not None:
        dw = np.sum(dweighted * conjugate(powers), axis=1)
        dw = project(dw + np.sum(dtarget * conjugate(values_in_columns), axis=1), w)
    return project(dx, x), project(dy, y), dw


def unique_inverse(a, rcond):
    """Return the pseudo-inverse of `a`; raise `LinAlgError` if the rank of `a` is low."""
    scaled = a / np.sqrt(np.sum(np.abs(a) ** 2, axis=0))
    limit = a.shape[0] * np.finfo(a.dtype).eps if rcond is None else rcond
    values = np.linalg.svd(scaled, compute_uv=False)
    if a.shape[0] < a.shape[1] or np.any(values <= limit * values[0]):
        raise np.linalg.LinAlgError("the fit of a polynomial that is not unique has no gradient")
    return np.linalg.pinv(a, 0.0)


def refuse(cotangent, what):
    """Raise `NotImplementedError` where a result without a rule has a cotangent."""
    if cotangent is not None and np.any(cotangent):
        raise NotImplementedError(
            f"the {what} of np.polyfit has no rule: compute it from the coefficients"
        )
