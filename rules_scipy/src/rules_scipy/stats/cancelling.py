"""Families whose formulas have wrong derivatives somewhere, where their values are right.

They cancel where a shape is small, or look at the sign of what is zero. Here are other formulas, by
series and ratios.
"""

import math

import numpy as np
from scipy import special as sp
from scipy import stats

from rules_scipy.shared.expansions import BERNOULLI, horner, piecewise, power_slope
from rules_scipy.shared.incomplete import gamma_by_shape, gamma_density
from rules_scipy.shared.methods import of_both_sides, of_methods
from rules_scipy.shared.outputs import strong
from rules_scipy.shared.panels import quadrature
from rules_scipy.stats.limits import extreme_by_shape, log_power
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.cancelling")

TINY = 1e-20  # the series of an incomplete gamma function is its first term below it


def gamma_ratio(a, z):
    """Return `a gammainc(a + 1, z) / (z gammainc(a, z))`, which is near `a / (a + 1)` at 0."""
    z = np.maximum(z, TINY)
    return a * sp.gammainc(a + 1, z) / (z * sp.gammainc(a, z))


# ARGUS: the density is `x sqrt(1 - x**2) exp(-chi**2 (1 - x**2) / 2)` over an integral, which is
# that of a gamma distribution of the shape 3/2 up to `chi**2 / 2`
of_methods(rule, stats.argus, "_logpdf")(
    lambda d, x, chi, y: 1 / x - x / ((1 - x) * (1 + x)) + chi * chi * x,
    lambda d, x, chi, y: chi * (gamma_ratio(1.5, chi * chi / 2) - (1 - x) * (1 + x)),
)
of_methods(rule, stats.argus, "_sf")(
    lambda d, x, chi, y: -d._pdf(x, chi),
    lambda d, x, chi, y: argus_above_by_shape(x, chi, y),
)
of_methods(rule, stats.argus, "_cdf")(
    lambda d, x, chi, y: d._pdf(x, chi),
    lambda d, x, chi, y: -argus_above_by_shape(x, chi, 1 - y),
)


def argus_above_by_shape(x, chi, y):
    """Return the derivative by `chi` of the probability `y` above `x`."""
    left, z = (1 - x) * (1 + x), chi * chi / 2
    return y * chi * (gamma_ratio(1.5, z) - left * gamma_ratio(1.5, z * left))


@rule(type(stats.argus)._stats)
def _(self: stats.rv_continuous, chi: Numeric):
    y = self._stats(chi)

    def by_chi(dy):
        slopes = argus_moments_by_shape(chi, y[0])
        known = [strong(d, p) for d, p in zip(dy, slopes, strict=False) if d is not None]
        return project(sum(known), chi) if known else None

    return y, (None, by_chi)


def argus_moments_by_shape(chi, mean):
    """Return the derivatives of the mean and of the variance."""
    z = chi * chi / 2
    first, second = gamma_ratio(1.5, z), gamma_ratio(2.5, z)
    slope = mean * chi * (first + (sp.ive(2, z / 2) / sp.ive(1, np.maximum(z / 2, TINY)) - 1) / 2)
    return slope, chi * first * (second - first) - 2 * mean * slope


# Bradford: F is `log1p(c x) / log1p(c)`
def log_ratio_slope(w):
    """Return the derivative of the logarithm of `log1p(w) / w`."""
    return power_slope(w) * piecewise(w == 0, (w,), np.ones_like, (0.0,), over_log1p, (1.0,))


def over_log1p(w):
    """Return `w / log1p(w)`."""
    return w / np.log1p(w)


of_methods(rule, stats.bradford, "_pdf")(
    lambda d, x, c, y: -c / (1 + c * x) * y,
    lambda d, x, c, y: -y * (log_ratio_slope(c) + x / (1 + c * x)),
)
of_methods(rule, stats.bradford, "_cdf")(
    lambda d, x, c, y: d._pdf(x, c),
    lambda d, x, c, y: y * (x * log_ratio_slope(c * x) - log_ratio_slope(c)),
)
of_methods(rule, stats.bradford, "_ppf")(
    lambda d, q, c, y: 1 / d._pdf(y, c),
    lambda d, q, c, y: q * (log_ratio_slope(c) - y * log_ratio_slope(c * y)) / d._pdf(y, c),
)


@rule(type(stats.bradford)._stats)
def _(self: stats.rv_continuous, c: Numeric, *, moments="mv", ad):
    y = self._stats(c, moments)

    def pullback(dy):
        k, total = np.log1p(c), 0.0
        for d, part in zip(dy[:2], (bradford_mean_slope, bradford_variance_slope), strict=True):
            if d is not None:
                total = total + strong(d, part(k) / (1 + c))
        if any(d is not None for d in dy[2:]):
            _, back = ad(shape_of_bradford, c)
            total = total + back(dy[2:])[1]
        return None, project(total, c)

    return y, pullback


_MEAN = [-b * (2 * n - 1) / math.factorial(2 * n) for n, b in enumerate(BERNOULLI, 1)]
_VARIANCE = [b * 2 * n / math.factorial(2 * n + 2) for n, b in enumerate(BERNOULLI[1:], 1)]


def bradford_mean_slope(k):
    """Return the derivative of `1 / k - 1 / expm1(k)`, for small `k` by a series."""

    def near(k):
        return horner(_MEAN, k * k)

    def far(k):
        return 1 / (2 * np.sinh(k / 2)) ** 2 - 1 / k**2

    return piecewise(abs(k) < 1, (k,), near, (0.0,), far, (1.0,))


def bradford_variance_slope(k):
    """Return the derivative of `1 / (2 k tanh(k / 2)) - 1 / k**2`, likewise."""

    def near(k):
        return k * horner(_VARIANCE, k * k)

    def far(k):
        h = k / 2
        return 2 / k**3 - 1 / (4 * k * np.sinh(h) ** 2) - 1 / (2 * k * k * np.tanh(h))

    return piecewise(abs(k) < 1, (k,), near, (0.0,), far, (1.0,))


def shape_of_bradford(c):
    """Return the skewness and the excess of the kurtosis."""
    k = np.log1p(c)
    w = c * (k - 2) + 2 * k
    third = 12 * c**2 - 9 * c * k * (c + 2) + 2 * k**2 * (c * (c + 3) + 3)
    fourth = c**3 * (k - 3) * (k * (3 * k - 16) + 24) + 12 * k * c**2 * (k - 4) * (k - 3)
    fourth = fourth + 6 * c * k**2 * (3 * k - 14) + 12 * k**3
    return np.sqrt(2) * third / (np.sqrt(c * w) * 3 * w), fourth / (3 * c * w**2)


of_methods(rule, stats.bradford, "_entropy")(lambda d, c, y: 1 / (2 * (1 + c)) + log_ratio_slope(c))


# Tukey's lambda: the integral over probabilities, which converges for all shapes
of_methods(rule, stats.tukeylambda, "_entropy")(lambda d, lam, y: tukey_entropy_slope(lam))


@np.vectorize(otypes="d")
def tukey_entropy_slope(lam):
    """Return the integral of the derivative, twice that of one of two equal halves of it."""

    def integrand(p):
        return np.log(p) * sp.expit((lam - 1) * (np.log(p) - np.log1p(-p)))

    nodes, weights = quadrature(lambda p: integrand(p)[None], 0.0, 1.0)
    return 2 * np.sum(weights * np.nan_to_num(integrand(nodes)))


# generalized half-logistic: F is `tanh(-log_power(c, x) / 2)`
of_methods(rule, stats.genhalflogistic, "_pdf")(
    lambda d, x, c, y: y * (c - half_logistic(x, c)[0]) / (1 - c * x),
    lambda d, x, c, y: y * (half_logistic(x, c)[0] * log_power(c, x)[1] + x / (1 - c * x)),
)
of_methods(rule, stats.genhalflogistic, "_cdf")(
    lambda d, x, c, y: d._pdf(x, c),
    lambda d, x, c, y: -half_logistic(x, c)[1] * log_power(c, x)[1],
)
of_methods(rule, stats.genhalflogistic, "_ppf")(
    lambda d, q, c, y: 2 * np.exp(-2 * c * np.arctanh(q)) / ((1 - q) * (1 + q)),
    lambda d, q, c, y: extreme_by_shape(2 * np.arctanh(q), c),
)


def half_logistic(x, c):
    """Return the distribution function, and its derivative by `-log_power(c, x)`."""
    y = np.tanh(-log_power(c, x)[0] / 2)
    return y, (1 - y) * (1 + y) / 2


# kappa of three parameters, whose quantiles pass through powers that are too large to be squared
of_methods(rule, stats.kappa3, "_ppf")(
    lambda d, q, a, y: y / (q * kappa_scores(y, a)[0]),
    lambda d, q, a, y: -y * kappa_scores(y, a)[1] / kappa_scores(y, a)[0],
)
of_methods(rule, stats.kappa3, "_isf")(
    lambda d, q, a, y: -y / ((1 - q) * kappa_scores(y, a)[0]),
    lambda d, q, a, y: -y * kappa_scores(y, a)[1] / kappa_scores(y, a)[0],
)


def kappa_scores(x, a):
    """Return the derivatives of the logarithm of `x (a + x**a)**(-1 / a)`, by `log(x)` and `a`."""
    log = np.log(x)
    rest = sp.expit(np.log(a) - a * log)
    by_a = (np.logaddexp(np.log(a), a * log) - rest) / a**2 - log * (1 - rest) / a
    return rest, by_a


# two sides of a center, where the derivative is the density
of_both_sides(rule, stats.dweibull)(
    lambda d, x, c, y: d._pdf(x, c),
    lambda d, x, c, y: weibull_by_shape(x, c),
)
of_both_sides(rule, stats.gennorm)(
    lambda d, x, beta, y: d._pdf(x, beta),
    lambda d, x, beta, y: normal_by_power(x, beta),
)
of_methods(rule, stats.gennorm, "_ppf")(
    lambda d, q, beta, y: 1 / d._pdf(y, beta),
    lambda d, q, beta, y: -normal_by_power(y, beta) / d._pdf(y, beta),
)
of_methods(rule, stats.genlogistic, "_logpdf")(
    lambda d, x, c, y: c * sp.expit(-x) - sp.expit(x),
    lambda d, x, c, y: 1 / c - np.logaddexp(0.0, -x),
)
of_methods(rule, stats.genlogistic, "_logcdf")(
    lambda d, x, c, y: c * sp.expit(-x),
    lambda d, x, c, y: -np.logaddexp(0.0, -x),
)
of_methods(rule, stats.genlogistic, "_cdf")(
    lambda d, x, c, y: y * c * sp.expit(-x),
    lambda d, x, c, y: -y * np.logaddexp(0.0, -x),
)


def weibull_by_shape(x, c):
    """Return the derivative of the distribution function of two sides by its shape."""
    power = abs(x) ** c
    return np.sign(x) * np.exp(-power) * sp.xlogy(power, abs(x)) / 2


def normal_by_power(x, beta):
    """Return the derivative of `sign(x) gammainc(1 / beta, abs(x)**beta) / 2` by `beta`."""
    a, power = 1 / beta, abs(x) ** beta
    slope = gamma_density(a, power) * sp.xlogy(power, abs(x)) - a * a * gamma_by_shape(a, power)
    return np.sign(x) * np.where((power > 0) & np.isfinite(power), slope, 0.0) / 2
