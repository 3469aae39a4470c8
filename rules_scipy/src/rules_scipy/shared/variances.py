"""The F distribution and Student's t: densities, and derivatives by degrees of freedom.

By many degrees of freedom `d` the derivative falls as `1 / d**2`, and those of the incomplete beta
function and of its argument, of which it is made, as `1 / d`: they cancel. There the derivative is
an integral of the density times the score, in which nothing does.
"""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import (
    log_beta,
    piecewise,
    power_slope,
    power_times,
    psi_difference,
    psi_remainder,
)
from rules_scipy.shared.incomplete import REACH, beta_by_first, beta_by_second, lowest
from rules_scipy.shared.quadrature import half_line

MANY, FAR_MORE = 50.0, 10.0


def f_density(dfn, dfd, x):
    """Return the density of the F distribution."""
    w = dfn * x / dfd
    far = w > 1
    inverse = 1 / np.where(far, w, 1.0)
    power = dfn / 2 - 1
    log = -power * np.log1p(np.where(far, inverse, w)) - (dfd / 2 + 1) * np.log1p(w)
    below = np.where(far, 1.0, w)
    return power_times(below, power, log - log_beta(dfn / 2, dfd / 2)) * dfn / dfd


def f_quantile_slope(dfn, dfd, y, x):
    """Return the derivative of the quantile `x` of a probability `y` by that."""

    def at_end(dfn, dfd, y, x):
        log = np.log(dfn / 2) + log_beta(dfn / 2, dfd / 2)
        return lowest(dfn / 2, log, y) * dfd / dfn

    def usual(dfn, dfd, y, x):
        return 1 / f_density(dfn, dfd, x)

    safe, other = (1.0, 1.0, 0.0, 0.0), (2.0, 1.0, 0.5, 1.0)
    return piecewise((x == 0) & (dfn < 2), (dfn, dfd, y, x), at_end, safe, usual, other)


def mass(dfn, dfd, x):
    """Return `x` times the density of the F distribution, also at 0 and infinity."""
    w = dfn * x / dfd
    log = -dfn / 2 * np.log1p(1 / w) - dfd / 2 * np.log1p(w) - log_beta(dfn / 2, dfd / 2)
    return np.exp(log)


def shares(dfn, dfd, x):
    """Return the beta variable of a variable with the F distribution, and 1 less that."""
    w = dfn * x / dfd
    return 1 / (1 + 1 / w), 1 / (1 + w)


def f_by_first(dfn, dfd, x):
    """Return the derivative of the F distribution function by `dfn`."""

    def near(dfn, dfd, x):
        y, z = shares(dfn, dfd, x)
        return beta_by_first(dfn / 2, dfd / 2, y, z) / 2 + mass(dfn, dfd, x) / dfn

    def far(dfn, dfd, x):
        return -by_many(dfd, dfn, 1 / x)  # 1 / x has the F distribution of `dfd` and `dfn`

    many = (dfn > MANY) & (dfn > FAR_MORE * dfd) & (x > 0)
    return piecewise(many, (dfn, dfd, x), far, (100.0, 1.0, 1.0), near, (1.0, 1.0, 1.0))


def f_by_second(dfn, dfd, x):
    """Return the derivative of the F distribution function by `dfd`."""

    def near(dfn, dfd, x):
        y, z = shares(dfn, dfd, x)
        return beta_by_second(dfn / 2, dfd / 2, y, z) / 2 - mass(dfn, dfd, x) / dfd

    many = (dfd > MANY) & (dfd > FAR_MORE * dfn)
    return piecewise(many, (dfn, dfd, x), by_many, (1.0, 100.0, 1.0), near, (1.0, 1.0, 1.0))


def by_many(dfn, dfd, x):
    """Return the derivative of the F distribution function by `dfd`, far more than `dfn`.

    With `w = dfn * x / dfd`, the integral is taken up from `x` where `x > 1`, over
    `1 / (1 + w) = v * exp(-u)`, and else down from `x`, over `w / (1 + w) = y * exp(-u)`.
    """
    dfn, dfd, x = np.broadcast_arrays(dfn, dfd, x)
    inside = (x > 0) & np.isfinite(dfn * x) & np.isfinite(dfd)
    x, d = np.where(inside, x, 1.0), np.where(np.isfinite(dfd), dfd, 100.0)
    a, b, w = d / 2, dfn / 2, dfn * x / d
    v, y = 1 / (1 + w), w / (1 + w)
    lower = x <= 1
    rate = np.where(lower, b - a * y / v, a - b * v / y)
    spread = np.where(lower, (a * y) ** 0.5 / v, (b * v) ** 0.5 / y)
    scale = np.maximum(1 / (np.maximum(rate, 0.0) + spread), REACH / np.where(lower, b, a))
    rest = psi_remainder(a, b)
    below = half_line(_below, scale, a, b, y, v, rest)
    above = half_line(_above, scale, a, b, w, v, rest)
    integral = np.where(lower, below / v, -above / y)
    return np.where(inside, mass(dfn, d, x) * integral, 0.0)


def log_density_by_second(dfn, dfd, x):
    """Return the derivative of the logarithm of the F density by `dfd`."""

    def near(dfn, dfd, x):
        ratio, w = dfn / dfd, dfn * x / dfd
        psi = psi_difference(dfd / 2, dfn / 2)
        return (psi - np.log1p(w) + 1 - (1 + ratio) / (1 + w)) / 2

    def far(dfn, dfd, x):
        return score(dfn * x / dfd, dfn / dfd, psi_remainder(dfd / 2, dfn / 2))

    many = (dfd > MANY) & (dfd > FAR_MORE * dfn)
    return piecewise(many, (dfn, dfd, x), far, (1.0, 100.0, 1.0), near, (1.0, 1.0, 1.0))


def score(w, ratio, rest):
    """Return the derivative of the logarithm of the F density by `dfd`; `ratio` is `dfn / dfd`."""
    return (rest + w * w * power_slope(w) + ratio * w / (1 + w)) / 2


def _below(u, a, b, y, v, rest):
    part = y * np.exp(-u)
    weight = np.exp(-b * u + (a - 1) * np.log1p(-y * np.expm1(-u) / v))
    return weight * score(part / (1 - part), b / a, rest)


def _above(u, a, b, w, v, rest):
    weight = np.exp(-a * u + (b - 1) * np.log1p(-np.expm1(-u) / w))
    near = np.where(weight > 0, u, 0.0)
    return weight * score(w * np.exp(near) + np.expm1(near), b / a, rest)


def t_density(df, t):
    """Return the density of Student's t."""
    log = -np.log(df) / 2 - log_beta(0.5, df / 2) - (df + 1) / 2 * np.log1p(t * t / df)
    return np.where(np.isinf(df), np.exp(-t * t / 2) / np.sqrt(2 * np.pi), np.exp(log))


def t_by_freedom(df, t):
    """Return the derivative of Student's distribution function by the degrees of freedom.

    The square of `t` has the F distribution of 1 and `df`.
    """
    square = np.where(t == 0, 1.0, t * t)
    slope = np.sign(t) / 2 * f_by_second(1.0, df, square)
    return np.where(t == 0, t * _slope_of_peak(df), slope)


def _slope_of_peak(df):
    """Return the derivative of the density of Student's t at 0 by the degrees of freedom."""
    x = np.minimum(df, 1e3) / 2
    rise = sp.psi(x + 0.5) - sp.psi(x) - 1 / (2 * x)
    far = np.maximum(df, 1e3) ** -2
    return t_density(df, 0.0) / 2 * np.where(df < 1e3, rise, far / 2 - far * far / 4)
