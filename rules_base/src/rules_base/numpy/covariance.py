"""Covariances and correlations of variables, each of which is a row of observations."""

from types import NoneType

import numpy as np

from rules_base.shared.axes import as_read, given, like
from rules_base.shared.nesting import SEQUENCE, ArrayLike, as_array, in_form_of, unstacked
from rulescore import RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.covariance", may_raise=False)


@rule(np.cov)
def _(
    x: ArrayLike, *, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None
):
    y, back = covariance(x, None, rowvar, bias, ddof, fweights, aweights, dtype)

    def pullback(dy):
        return (back(dy)[0],)

    return y, pullback


@rule(np.cov)
def _(
    x: ArrayLike,
    y: ArrayLike | NoneType,
    rowvar=True,
    bias=False,
    ddof=None,
    fweights=None,
    *,
    aweights=None,
    dtype=None,
):
    out, back = covariance(x, y, rowvar, bias, ddof, fweights, aweights, dtype)

    def pullback(dout):
        return back(dout)[:2]

    return out, pullback


@rule(np.cov)
def _(
    x: ArrayLike,
    y: ArrayLike | NoneType,
    rowvar: object,
    bias: object,
    ddof: object,
    fweights: object,
    aweights: ArrayLike,
    *,
    dtype=None,
):
    out, back = covariance(x, y, rowvar, bias, ddof, fweights, as_array(aweights), dtype)

    def pullback(dout):
        dx, dy, dweights = back(dout)
        return dx, dy, None, None, None, None, unstacked(dweights, aweights)

    return out, pullback


def covariance(x, y, rowvar, bias, ddof, fweights, aweights, dtype):
    """Return the covariance, and what gives the cotangents of `x`, `y` and `aweights`."""
    cov = np.cov(x, y, rowvar, bias, ddof, fweights, aweights, **given(dtype=dtype))
    freed = (0 if bias else 1) if ddof is None else ddof

    def back(dcov):
        rows = rows_of(x, y, rowvar, dtype)
        dcov = np.reshape(dcov, (rows.shape[0],) * 2)
        if fweights is None and aweights is None:
            drows, dweights = covariance_back(dcov, rows, freed), None
        else:
            whole = np.reshape(cov, dcov.shape)
            drows, dweights = weighted_back(dcov, whole, rows, freed, fweights, aweights)
        return *apart(drows, x, y, rowvar), dweights

    return cov, back


def rows_of(x, y, rowvar, dtype):
    """Return the variables of `x`, and below them those of `y` if given, as rows of a matrix."""
    own = [as_rows(x, rowvar)] if y is None else [as_rows(x, rowvar), as_rows(y, rowvar)]
    return as_read(own[0] if y is None else np.concatenate(own), dtype)


def as_rows(x, rowvar):
    """Return the variables of `x` as rows of a matrix."""
    x = as_array(x)
    rows = np.reshape(x, (1, -1)) if x.ndim < 2 else x
    return rows if rowvar or x.ndim < 2 else rows.T


def apart(drows, x, y, rowvar):
    """Return the cotangents of `x` and `y` from that of their variables as rows."""
    if y is None:
        return unrowed(drows, x, rowvar), None
    n = as_rows(x, rowvar).shape[0]
    return unrowed(drows[:n], x, rowvar), unrowed(drows[n:], y, rowvar)


def unrowed(drows, x, rowvar):
    """Return the cotangent of `x` from that of its variables as rows."""
    array = as_array(x)
    drows = drows if rowvar or array.ndim < 2 else drows.T
    return in_form_of(x, np.reshape(drows, array.shape), array)


def covariance_back(dcov, rows, ddof):
    """Return the cotangent of `rows`, whose covariance has the cotangent `dcov`."""
    centered = rows - np.mean(rows, axis=1, keepdims=True)
    return (dcov + np.conjugate(dcov.T)) @ centered / (rows.shape[1] - ddof)


def weighted_back(dcov, cov, rows, ddof, fweights, aweights):
    """Return the cotangents of `rows` and of `aweights` in the weighted covariance `cov`.

    The sum of weighted products is divided by `total - ddof * squares / total`, where `squares`
    is the sum of the weights times `aweights`, or by `total - ddof` without `aweights`.
    """
    counts = 1.0 if fweights is None else np.asarray(fweights, **like(rows))
    if isinstance(aweights, SEQUENCE):
        aweights = np.asarray(aweights, **like(rows))
    weights = counts if aweights is None else counts * aweights
    total = np.sum(weights)
    squares = total if aweights is None else np.sum(weights * aweights)
    divisor = total - ddof * squares / total
    centered = rows - np.expand_dims(rows @ weights, -1) / total
    drows = (dcov + np.conjugate(dcov.T)) @ (centered * weights) / divisor
    if aweights is None:
        return drows, None
    of_products = np.real(np.sum(np.conjugate(centered) * (dcov @ centered), axis=0))
    of_divisor = -np.real(np.vdot(dcov, cov))
    slope = 1 - ddof * (2 * aweights - squares / total) / total
    return drows, project(counts * (of_products + of_divisor * slope) / divisor, aweights)


@rule(np.corrcoef)
def _(x: ArrayLike, *, rowvar=True, dtype=None):
    def pullback(dy):
        return (apart(correlation_back(dy, rows_of(x, None, rowvar, dtype)), x, None, rowvar)[0],)

    return np.corrcoef(x, None, rowvar, **given(dtype=dtype)), pullback


@rule(np.corrcoef)
def _(x: ArrayLike, y: ArrayLike | NoneType, rowvar=True, *, dtype=None):
    def pullback(dy):
        return apart(correlation_back(dy, rows_of(x, y, rowvar, dtype)), x, y, rowvar)

    return np.corrcoef(x, y, rowvar, **given(dtype=dtype)), pullback


def correlation_back(dy, rows):
    """Return the cotangent of `rows`, whose correlations have the cotangent `dy`."""
    dy = np.reshape(dy, (rows.shape[0],) * 2)
    centered = rows - np.mean(rows, axis=1, keepdims=True)
    norm = np.sqrt(np.sum(np.abs(centered) ** 2, axis=1, keepdims=True))
    unit = centered / norm
    dunit = (dy + np.conjugate(dy.T)) @ unit
    along = np.sum(np.real(np.conjugate(unit) * dunit), axis=1, keepdims=True)
    return (dunit - unit * along) / norm
