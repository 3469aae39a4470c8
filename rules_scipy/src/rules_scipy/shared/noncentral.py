"""Noncentral distributions as mixtures of central ones (Johnson, Kotz, Balakrishnan: 29 to 31)."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.incomplete import beta_by_first, beta_by_second, gamma_by_shape
from rules_scipy.shared.scaled_chi import by_freedom, scaled_chi


def _poisson(nc, size):
    """Return counts along a new axis, and the logarithms of their Poisson weights.

    Arguments:
        nc: the noncentrality, twice the mean of the counts.
        size: how large the argument of the distribution is, as that of a chi-square one.
    """
    center = np.max(nc / 2 + np.sqrt(nc * size) / 2, initial=0.0)
    j = np.arange(int(center + 12 * np.sqrt(center) + 40))
    half = np.expand_dims(nc, -1) / 2
    return j, sp.xlogy(j, half) - half - sp.gammaln(j + 1)


def _mean(values, log):
    """Return the mean of values along the last axis, by the logarithms of weights."""
    return np.sum(values * sp.softmax(log, axis=-1), axis=-1)


def chi2_by_freedom(x, df, nc):
    """Return the derivative of the noncentral chi-square distribution function by `df`."""
    x, df, nc = np.broadcast_arrays(x, df, nc)
    j, log = _poisson(nc, x)
    parts = gamma_by_shape(df[..., None] / 2 + j, x[..., None] / 2)
    return np.sum(np.exp(log) * parts, axis=-1) / 2


def chi2_density(x, df, nc):
    """Return the noncentral chi-square density, as a sum of central ones."""
    x, df, nc = np.broadcast_arrays(x, df, nc)
    j, log = _poisson(nc, x)
    a, z = df[..., None] / 2 + j, x[..., None] / 2
    return np.sum(np.exp(log + sp.xlogy(a - 1, z) - z - sp.gammaln(a)), axis=-1) / 2


def chi2_scores(x, df, nc):
    """Return the derivatives of the logarithm of the noncentral chi-square density."""
    x, df, nc = np.broadcast_arrays(x, df, nc)
    j, log = _poisson(nc, x)
    a, z = df[..., None] / 2 + j, x[..., None]
    log = log + sp.xlogy(a - 1, z / 2) - sp.gammaln(a)
    ratio = x / (2 * df)  # of the densities with `df + 2` and `df`, for no noncentrality
    by_nc = np.where(nc > 0, _mean(j, log) / np.where(nc > 0, nc, 1.0), ratio) - 0.5
    return (
        _mean((a - 1) / z, log) - 0.5,
        _mean(np.log(z / 2) - sp.psi(a), log) / 2,
        by_nc,
    )


def f_by_freedoms(x, dfn, dfd, nc, density):
    """Return the derivatives of the noncentral F distribution function by `dfn` and `dfd`."""
    x, dfn, dfd, nc = np.broadcast_arrays(x, dfn, dfd, nc)
    total = dfd + dfn * x
    j, log = _poisson(nc, 0 * x)
    a, b = dfn[..., None] / 2 + j, dfd[..., None] / 2
    y, z = (dfn * x / total)[..., None], (dfd / total)[..., None]
    first = np.sum(np.exp(log) * beta_by_first(a, b, y, z), axis=-1) / 2
    second = np.sum(np.exp(log) * beta_by_second(a, b, y, z), axis=-1) / 2
    return first + density * x / dfn, second - density * x / dfd


def f_scores(x, dfn, dfd, nc):
    """Return the derivatives of the logarithm of the noncentral F density."""
    x, dfn, dfd, nc = np.broadcast_arrays(x, dfn, dfd, nc)
    total = dfd + dfn * x
    j, log = _poisson(nc, dfn * x * dfd / total)
    a, b = dfn[..., None] / 2 + j, dfd[..., None] / 2
    y, z = (dfn * x / total)[..., None], (dfd / total)[..., None]
    log = log + sp.xlogy(a - 1, y) - sp.betaln(a, b)
    by_y = _mean((a - 1) / y - (b - 1) / z, log) / total**2
    digamma = sp.psi(a + b)
    ratio = (y * (a + b) / a)[..., 0] / 2  # of the first two terms, over `nc`
    return (
        by_y * dfn * dfd - 2 * dfn / total,
        _mean(np.log(y) - sp.psi(a) + digamma, log) / 2
        + by_y * x * dfd + 1 / dfn - 2 * x / total,
        _mean(np.log(z) - sp.psi(b) + digamma, log) / 2
        - by_y * x * dfn + 1 / dfd - 2 / total,
        np.where(nc > 0, _mean(j, log) / np.where(nc > 0, nc, 1.0), ratio) - 0.5,
    )  # fmt: skip


def _t_parts(x, df, nc):
    x, df, nc = np.broadcast_arrays(x, df, nc)
    s, weights = scaled_chi(df, 1 + np.abs(nc), np.abs(x))
    distance = x[..., None] * s - nc[..., None]
    return s, weights, distance, np.exp(-(distance**2) / 2) / np.sqrt(2 * np.pi), df[..., None]


def t_by_freedom(x, df, nc):
    """Return the derivative of the noncentral t distribution function by `df`."""
    s, weights, distance, _, v = _t_parts(x, df, nc)
    away = sp.ndtr(distance) - sp.ndtr(x - nc)[..., None]  # the weights' derivatives add up to 0
    return np.sum(weights * by_freedom(s, v) * away, axis=-1)


def t_by_noncentrality(x, df, nc):
    """Return the derivative of the noncentral t distribution function by `nc`."""
    _, weights, _, density, _ = _t_parts(x, df, nc)
    return -np.sum(weights * density, axis=-1)


def t_density_slopes(x, df, nc):
    """Return the derivatives of the noncentral t density."""
    s, weights, distance, density, v = _t_parts(x, df, nc)
    terms = weights * density * s
    return (
        -np.sum(terms * s * distance, axis=-1),
        np.sum(terms * by_freedom(s, v), axis=-1),
        np.sum(terms * distance, axis=-1),
    )
