"""The incomplete gamma and beta functions: their densities, and derivatives by parameters.

With the density `p` of the distribution, the derivative of its cumulative distribution function by
a parameter `a` is the integral of `p` times the derivative of `log(p)` by `a`. That factor changes
its sign once, and its integral over all is zero. So the integral is taken over the side of `x`
where the sign does not change, on which nothing cancels.
"""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import (
    behind_stirling,
    log_beta,
    log_remainder,
    piecewise,
    power_times,
)
from rules_scipy.shared.quadrature import half_line

REACH = 0.06  # over the rate of a slow exponential: the scale that has it fall to nothing

TINY = 1e-290  # below it a distribution is as at 0

ALL = -1 + 2.0**-52  # a step down by nearly all

FAR = 1e300  # the density is zero there, and not the difference of infinities


def gamma_density(a, x):
    """Return the derivative of `gammainc(a, x)` by `x` (DLMF 8.8.13)."""
    return piecewise(a > 500, (a, x), _narrow_density, (600.0, 1.0), _gamma_density, (1.0, 1.0))


def _gamma_density(a, x):
    x = np.minimum(x, FAR)
    return power_times(x, a - 1, -x - sp.gammaln(a))


def _narrow_density(a, x):
    """Return the same for a large `a`, where the terms of its logarithm cancel (DLMF 5.11.1)."""
    step = np.maximum((np.minimum(x, FAR) - a) / a, ALL)
    exponent = a * log_remainder(step) - np.log1p(step) - behind_stirling(a)
    return np.exp(exponent) / np.sqrt(2 * np.pi * a)


def gamma_by_shape(a, x):
    """Return the derivative of `gammainc(a, x)` by `a`.

    Where `a` and `x` are below 1, from that at `a + 1` (DLMF 8.8.5).
    """
    a, x = np.broadcast_arrays(a, x)
    shifted = (a < 1) & (x < 1)
    b = np.where(a == np.inf, 1.0, a + shifted)
    mean = sp.psi(b)
    log = np.log(np.where(x > 0, x, 1.0))
    lower = log < mean
    near = np.where((x > 0) & np.isfinite(x), x, 1.0)
    rate = np.where(lower, b - near, 1 - (b - 1) / near)
    scale = 1 / (np.maximum(rate, 0.0) + np.where(lower, near**0.5, near**-0.5))
    below = half_line(_gamma_below, scale, b, near, log - mean)
    above = half_line(_gamma_above, scale, b, near, log - mean)
    density = gamma_density(b, near)
    slope = np.where(lower, near * density * below, -density * above)
    extra = np.exp(sp.xlogy(a, near) - near - sp.gammaln(a + 1)) * (log - sp.psi(a + 1))
    slope = np.where(shifted, slope + extra, slope)
    inside = (x > 0) & np.isfinite(x) & (a != np.inf)
    return np.where(inside, slope, np.where(np.isnan(x), np.nan, 0.0))


def _gamma_below(u, a, x, distance):
    """Integrate down from `x`, over `t = x * exp(-u)`."""
    return (distance - u) * np.exp(-a * u - x * np.expm1(-u))


def _gamma_above(u, a, x, distance):
    """Integrate up from `x`, over `t = x + u`."""
    log = np.log1p(u / x)
    return (distance + log) * np.exp((a - 1) * log - u)


def beta_density(a, b, x, y):
    """Return the derivative of `betainc(a, b, x)` by `x` (DLMF 8.17.1); `y` is `1 - x`.

    The logarithm of the larger share is found from the smaller: a power of it may be large.
    """
    first = x < 0.5
    share = np.where(first, x, y)
    power, other = np.where(first, a, b) - 1, np.where(first, b, a) - 1
    return power_times(share, power, sp.xlog1py(other, -share) - log_beta(a, b))


def binomial_density(k, n, p):
    """Return the derivative by `p` of the probability of more than `k` successes."""
    return np.where(k < n, beta_density(k + 1, np.where(k < n, n - k, 1.0), p, 1 - p), 0.0)


def beta_by_first(a, b, x, y):
    """Return the derivative of `betainc(a, b, x)` by `a`; `y` is `1 - x`.

    Where `a` is below 1 and `x` small, from that at `a + 1` (DLMF 8.17.20).
    """
    a, b, x, y = np.broadcast_arrays(a, b, x, y)
    inside = (x > 0) & (y > 0) & (a != np.inf) & (b != np.inf)
    a, b = parameter(a), parameter(b)
    x, y = np.where(inside, x, 0.5), np.where(inside, y, 0.5)
    shifted = (a < 1) & (x < 0.5)
    c = a + shifted
    log = np.where(x < 0.5, np.log(x), np.log1p(-y))
    distance = log - (sp.psi(c) - sp.psi(c + b))
    lower = distance < 0
    rate = np.where(lower, c - b * x / y, b - c * y / x)
    spread = np.where(lower, (b * x) ** 0.5 / y, (c * y) ** 0.5 / x)
    scale = np.maximum(1 / (np.maximum(rate, 0.0) + spread), REACH / np.where(lower, c, b))
    below = half_line(_beta_below, scale, c, b, x, y, distance)
    above = half_line(_beta_above, scale, c, b, x, y, sp.psi(c) - sp.psi(c + b))
    density = beta_density(c, b, x, y)
    slope = np.where(lower, x * density * below, -y * density * above)
    term = np.exp(a * log + b * np.where(y < 0.5, np.log(y), np.log1p(-x)) - log_beta(a, b)) / a
    slope = np.where(shifted, slope + term * (log - sp.psi(a + 1) + sp.psi(a + b)), slope)
    return np.where(inside, slope, 0.0)


def parameter(a):
    """Return a parameter that is not too small for its reciprocal, and no infinite one.

    At 0, where the second derivative is not computed, its slope is infinite: no number is given.
    """
    return np.where(a == np.inf, 1.0, np.where((a >= 0) & (a < TINY), TINY + np.sqrt(a), a))


def _beta_below(u, a, b, x, y, distance):
    """Integrate down from `x`, over `t = x * exp(-u)`."""
    grown = np.log1p(-x * np.expm1(-u) / y)
    return (distance - u) * np.exp(-a * u + (b - 1) * grown)


def _beta_above(u, a, b, x, y, mean):
    """Integrate up from `x`, over `1 - t = y * exp(-u)`."""
    grown = np.log1p(-y * np.expm1(-u) / x)
    rest = x - y * np.expm1(-u)  # 1 - y * exp(-u), of which the logarithm cancels where it is small
    log = np.where(rest < 0.5, np.log(rest), np.log1p(-y * np.exp(-u)))
    return (log - mean) * np.exp(-b * u + (a - 1) * grown)


def beta_by_second(a, b, x, y):
    """Return the derivative of `betainc(a, b, x)` by `b`, from that by `a` (DLMF 8.17.4)."""
    return -beta_by_first(b, a, y, x)


def beta_quantile_by_first(a, b, x, y):
    """Return the derivative of a quantile `x` by `a`; `y` is `1 - x`. At both ends it stays."""
    slope = -beta_by_first(a, b, x, y) / beta_density(a, b, x, y)
    return np.where((x == 0) | (y == 0), 0.0, slope)


def gamma_quantile_slope(a, y, x):
    """Return the derivative of the quantile `x` of a probability `y` by that."""
    return piecewise(
        (x == 0) & (a < 1), (a, y, x), _lowest_of_gamma, (0.5, 0.0, 0.0),
        lambda a, y, x: 1 / gamma_density(a, x), (1.0, 0.5, 1.0),
    )  # fmt: skip


def beta_quantile_slope(a, b, y, x, z):
    """Return the derivative of the quantile `x` of a probability `y` by that; `z` is `1 - x`."""
    return piecewise(
        ((x == 0) & (a < 1)) | ((z == 0) & (b < 1)), (a, b, y, x, z), _outermost_of_beta,
        (0.5, 0.5, 0.0, 0.0, 1.0), lambda a, b, y, x, z: 1 / beta_density(a, b, x, z),
        (1.0, 1.0, 0.5, 0.5, 0.5),
    )  # fmt: skip


def _lowest_of_gamma(a, y, x):
    return lowest(a, sp.gammaln(a + 1), y)


def _outermost_of_beta(a, b, y, x, z):
    first = x == 0
    power, other = np.where(first, a, b), np.where(first, b, a)
    return lowest(power, np.log(power) + log_beta(power, other), np.where(first, y, 1 - y))


def lowest(a, log, y):
    """Return the derivative of `(y * exp(log))**(1 / a)` by `y`: a quantile at the lower end.

    That of one over the density is lost there, where both are infinite.
    """
    return np.exp(log / a) / a * np.power(y, 1 / a - 1)


def gamma_quantile_by_shape(a, x):
    """Return the derivative of the quantile `x` by the shape; at the lower end it stays 0."""
    slope = -gamma_by_shape(a, x) / gamma_density(a, x)
    return np.where(x == 0, 0.0, slope)


def none_of_zero(out, score):
    """Return a density times the derivative of its logarithm, 0 where the density is 0."""
    return np.where(out == 0, 0.0, out * score)
