"""Noncentral distributions as mixtures of central ones (Johnson, Kotz, Balakrishnan: 29 to 31)."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import power_times
from rules_scipy.shared.incomplete import beta_by_first, beta_by_second, gamma_by_shape
from rules_scipy.shared.scaled_chi import by_freedom, scaled_chi


def _poisson(nc, size):
    """Return counts along a new axis, half of `nc`, and the rest of the logarithm of its power.

    A count has the weight `power_times(half, j, log)`.

    Arguments:
        nc: the noncentrality, twice the mean of the counts.
        size: how large the argument of the distribution is, as that of a chi-square one.
    """
    center = np.max(nc / 2 + np.sqrt(nc * size) / 2, initial=0.0)
    j = np.arange(int(center + 12 * np.sqrt(center) + 40))
    half = np.expand_dims(nc, -1) / 2
    return j, half, -half - sp.gammaln(j + 1)


def _weights(j, half, log):
    """Return weights that are up to 1, in proportion to `half**j * exp(log)`, and their scale."""
    scale = np.max(sp.xlogy(j, half) + log, axis=-1, keepdims=True)
    return power_times(half, j, log - scale), scale


def _mean(values, j, half, log):
    """Return the mean of values along the last axis, with the weights `half**j * exp(log)`."""
    weights, _ = _weights(j, half, log)
    return np.sum(values * weights, axis=-1) / np.sum(weights, axis=-1)


def _rate(j, half, log):
    """Return the mean count over twice `half`, also where that is 0."""
    weights, scale = _weights(j, half, log)
    fewer = j * power_times(half, np.maximum(j - 1, 0), log - scale)
    return np.sum(fewer, axis=-1) / (2 * np.sum(weights, axis=-1))


def chi2_by_freedom(x, df, nc):
    """Return the derivative of the noncentral chi-square distribution function by `df`."""
    x, df, nc = np.broadcast_arrays(x, df, nc)
    j, half, log = _poisson(nc, x)
    parts = gamma_by_shape(df[..., None] / 2 + j, x[..., None] / 2)
    return np.sum(power_times(half, j, log) * parts, axis=-1) / 2


def chi2_density(x, df, nc):
    """Return the noncentral chi-square density, as a sum of central ones."""
    x, df, nc = np.broadcast_arrays(x, df, nc)
    j, half, log = _poisson(nc, x)
    a, z = df[..., None] / 2 + j, x[..., None] / 2
    central = power_times(z, a - 1, -z - sp.gammaln(a))
    return np.sum(power_times(half, j, log) * central, axis=-1) / 2


def chi2_scores(x, df, nc):
    """Return the derivatives of the logarithm of the noncentral chi-square density."""
    x, df, nc = np.broadcast_arrays(x, df, nc)
    j, half, log = _poisson(nc, x)
    a, z = df[..., None] / 2 + j, x[..., None]
    log = log + sp.xlogy(a - 1, z / 2) - sp.gammaln(a)
    return (
        _mean((a - 1) / z, j, half, log) - 0.5,
        _mean(np.log(z / 2) - sp.psi(a), j, half, log) / 2,
        _rate(j, half, log) - 0.5,
    )


def f_by_freedoms(x, dfn, dfd, nc, density):
    """Return the derivatives of the noncentral F distribution function by `dfn` and `dfd`."""
    x, dfn, dfd, nc = np.broadcast_arrays(x, dfn, dfd, nc)
    total = dfd + dfn * x
    j, half, log = _poisson(nc, 0 * x)
    a, b = dfn[..., None] / 2 + j, dfd[..., None] / 2
    y, z = (dfn * x / total)[..., None], (dfd / total)[..., None]
    first = np.sum(power_times(half, j, log) * beta_by_first(a, b, y, z), axis=-1) / 2
    second = np.sum(power_times(half, j, log) * beta_by_second(a, b, y, z), axis=-1) / 2
    return first + density * x / dfn, second - density * x / dfd


def f_scores(x, dfn, dfd, nc):
    """Return the derivatives of the logarithm of the noncentral F density."""
    x, dfn, dfd, nc = np.broadcast_arrays(x, dfn, dfd, nc)
    total = dfd + dfn * x
    j, half, log = _poisson(nc, dfn * x * dfd / total)
    a, b = dfn[..., None] / 2 + j, dfd[..., None] / 2
    y, z = (dfn * x / total)[..., None], (dfd / total)[..., None]
    log = log + sp.xlogy(a - 1, y) - sp.betaln(a, b)
    by_y = _mean((a - 1) / y - (b - 1) / z, j, half, log) / total**2
    digamma = sp.psi(a + b)
    return (
        by_y * dfn * dfd - 2 * dfn / total,
        _mean(np.log(y) - sp.psi(a) + digamma, j, half, log) / 2
        + by_y * x * dfd + 1 / dfn - 2 * x / total,
        _mean(np.log(z) - sp.psi(b) + digamma, j, half, log) / 2
        - by_y * x * dfn + 1 / dfd - 2 / total,
        _rate(j, half, log) - 0.5,
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
