"""Families that SciPy writes by another formula at one value of a shape.

There the value is the limit, and so is the derivative, which that formula does not have. Near it
the usual formula cancels: the derivatives here hold on both sides and between.
"""

import numpy as np
from scipy import special as sp
from scipy import stats

from rules_scipy.shared.expansions import (
    BERNOULLI,
    exprel_slope,
    horner,
    piecewise,
    power_slope,
)
from rules_scipy.shared.incomplete import gamma_by_shape, gamma_density
from rules_scipy.shared.methods import of_both_sides, of_methods
from rules_scipy.shared.outputs import strong
from rules_scipy.shared.panels import quadrature
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.limits")


def log_power(k, x):
    """Return `log(1 - k x) / k`, and its derivatives by `k` and `x`; `-x` where `k` is 0."""
    value = np.where(k == 0, -x, np.log1p(-k * x) / np.where(k == 0, 1.0, k))
    return value, x * x * power_slope(-k * x), -1 / (1 - k * x)


# generalized Pareto: 1 - F is `exp(log_power(-c, x))`
of_methods(rule, stats.genpareto, "_logpdf")(
    lambda d, x, c, y: -(1 + c) / (1 + c * x),
    lambda d, x, c, y: log_power(-c, x)[0] - (1 + c) * log_power(-c, x)[1],
)
of_methods(rule, stats.genpareto, "_logsf")(
    lambda d, x, c, y: -1 / (1 + c * x),
    lambda d, x, c, y: -log_power(-c, x)[1],
)
of_methods(rule, stats.genpareto, "_munp")(
    None, lambda d, n, c, y: y * sum(k / (1 - k * c) for k in range(1, int(n) + 1))
)

# generalized extreme values: F is `exp(-exp(log_power(c, x)))`
of_methods(rule, stats.genextreme, "_loglogcdf")(
    lambda d, x, c, y: log_power(c, x)[2],
    lambda d, x, c, y: log_power(c, x)[1],
)
of_methods(rule, stats.genextreme, "_logpdf")(
    lambda d, x, c, y: (1 - np.exp(log_power(c, x)[0]) - c) * log_power(c, x)[2],
    lambda d, x, c, y: (1 - np.exp(log_power(c, x)[0])) * log_power(c, x)[1] + x / (1 - c * x),
)
of_methods(rule, stats.genextreme, "_ppf")(
    lambda d, q, c, y: np.exp(c * np.log(-np.log(q))) / (-q * np.log(q)),
    lambda d, q, c, y: extreme_by_shape(-np.log(-np.log(q)), c),
)
of_methods(rule, stats.genextreme, "_isf")(
    lambda d, q, c, y: np.exp(c * np.log(-np.log1p(-q))) / ((1 - q) * np.log1p(-q)),
    lambda d, q, c, y: extreme_by_shape(-np.log(-np.log1p(-q)), c),
)


def extreme_by_shape(x, c):
    """Return the derivative of `(1 - exp(-c x)) / c` by `c`."""
    return -x * x * exprel_slope(-c * x)


def gamma_series(count):
    """Return the coefficients of `gamma(1 + c)` by powers of `c` (DLMF 5.7.3)."""
    rates = [-np.euler_gamma, *[(-1) ** k * sp.zeta(k) for k in range(2, count)]]
    found = [1.0]
    for k in range(1, count):
        found.append(sum(r * found[k - 1 - j] for j, r in enumerate(rates[:k])) / k)
    return np.array(found)


def central(g1, g2, g3, g4, times):
    """Return one less the first, and the central moments of numbers whose moments are given."""
    square = times(g1, g1)
    return (
        -g1,
        g2 - square,
        -g3 + 3 * times(g1, g2) - 2 * times(g1, square),
        g4 - 4 * times(g1, g3) + 6 * times(square, g2) - 3 * times(square, square),
    )


_POWERS = np.arange(34)
_MOMENTS = [
    found[n:]
    for n, found in enumerate(
        central(
            *[gamma_series(34) * float(n) ** _POWERS for n in (1, 2, 3, 4)],
            lambda x, y: np.convolve(x, y)[:34],
        ),
        1,
    )
]


def extreme_moments(c):
    """Return the mean and the central moments of extreme values, and their derivatives by `c`."""
    near = abs(c) < 0.05
    x, far = np.where(near, c, 0.0), np.where(near, 0.1, c)
    orders = (1, 2, 3, 4)
    g = [sp.gamma(n * far + 1) for n in orders]
    dg = [n * sp.psi(n * far + 1) * y for n, y in zip(orders, g, strict=True)]
    given = [np.stack([y, dy]) for y, dy in zip(g, dg, strict=True)]
    found = []
    for n, series, (y, dy) in zip(orders, _MOMENTS, central(*given, dual_product), strict=True):
        y = y + (n == 1)
        slopes = series[1:] * np.arange(1, len(series))
        found.append((
            np.where(near, horner(series, x), y / far**n),
            np.where(near, horner(slopes, x), (dy - n * y / far) / far**n),
        ))  # fmt: skip
    return found


def dual_product(x, y):
    """Return the product of two numbers that are given with their derivatives."""
    return np.stack([x[0] * y[0], x[0] * y[1] + x[1] * y[0]])


def moments_by_shape(c):
    """Return the derivatives of the mean, the variance, the skewness and the kurtosis."""
    (_, dmean), (var, dvar), (third, dthird), (fourth, dfourth) = extreme_moments(c)
    return (
        dmean,
        dvar,
        (dthird - 1.5 * third * dvar / var) / var**1.5,
        (dfourth - 2 * fourth * dvar / var) / var**2,
    )


@rule(type(stats.genextreme)._stats)
def _(self: stats.rv_continuous, c: Numeric):
    y = self._stats(c)

    def by_c(dy):
        with np.errstate(all="ignore"):
            parts = zip(dy, y, moments_by_shape(c), strict=True)
            known = [
                strong(d, np.where(np.isnan(v), np.nan, p)) for d, v, p in parts if d is not None
            ]
        return project(sum(known), c) if known else None

    return y, (None, by_c)


def extreme_scores(x, h, k):
    """Return what the derivatives of Hosking's four-parameter kappa family are made of."""
    inner, by_k, by_x = log_power(k, x)
    u = np.exp(inner)
    outer, by_h, by_u = log_power(h, u)
    return inner, by_k, by_x, outer, by_h, u * by_u


def kappa_by_position(d, x, h, k, y):
    """Return the derivative of the logarithm of the density by its argument."""
    _, _, by_x, _, _, rate = extreme_scores(x, h, k)
    return by_x * (1 - k + (1 - h) * rate)


def kappa_by_first(d, x, h, k, y):
    """Return the derivative of the logarithm of the density by `h`."""
    _, _, _, outer, by_h, _ = extreme_scores(x, h, k)
    return (1 - h) * by_h - outer


def kappa_by_second(d, x, h, k, y):
    """Return the derivative of the logarithm of the density by `k`."""
    inner, by_k, _, _, _, rate = extreme_scores(x, h, k)
    return by_k * (1 - k + (1 - h) * rate) - inner


of_methods(rule, stats.kappa4, "_logpdf")(kappa_by_position, kappa_by_first, kappa_by_second)
of_methods(rule, stats.kappa4, "_logcdf")(
    lambda d, x, h, k, y: extreme_scores(x, h, k)[5] * extreme_scores(x, h, k)[2],
    lambda d, x, h, k, y: extreme_scores(x, h, k)[4],
    lambda d, x, h, k, y: extreme_scores(x, h, k)[5] * extreme_scores(x, h, k)[1],
)
of_methods(rule, stats.kappa4, "_ppf")(
    lambda d, q, h, k, y: 1 / (q * extreme_scores(y, h, k)[5] * extreme_scores(y, h, k)[2]),
    lambda d, q, h, k, y: kappa_quantile_by_first(y, h, k),
    lambda d, q, h, k, y: -extreme_scores(y, h, k)[1] / extreme_scores(y, h, k)[2],
)


def kappa_quantile_by_first(x, h, k):
    """Return the derivative of the quantile `x` by `h`."""
    _, _, by_x, _, by_h, rate = extreme_scores(x, h, k)
    return -by_h / (rate * by_x)


# Azzalini (1985)
of_methods(rule, stats.skewnorm, "_logpdf")(
    lambda d, x, a, y: a * log_ndtr_slope(a * x) - x,
    lambda d, x, a, y: x * log_ndtr_slope(a * x),
)
of_methods(rule, stats.skewnorm, "_pdf")(
    lambda d, x, a, y: y * (a * log_ndtr_slope(a * x) - x),
    lambda d, x, a, y: 2 * x * np.exp(-x * x * (1 + a * a) / 2) / (2 * np.pi),
)


def log_ndtr_slope(x):
    """Return the derivative of `log_ndtr`."""
    return np.sqrt(2 / np.pi) / sp.erfcx(-x / np.sqrt(2))


# von Mises: at both ends of a turn the derivative of the probability is 0, and in its middle
of_methods(rule, stats.vonmises, "_cdf")(
    lambda d, x, kappa, y: d._pdf(x, kappa),
    lambda d, x, kappa, y: von_mises_by_shape(x, kappa),
)


@np.vectorize(otypes="d")
def von_mises_by_shape(x, kappa):
    """Return the integral of the score, on the side where it has one sign."""
    x = x - 2 * np.pi * np.round(x / (2 * np.pi))
    mean = sp.i1e(kappa) / sp.i0e(kappa)

    def score(t):
        return (np.cos(t) - mean) * stats.vonmises.pdf(t, kappa)

    inside = abs(x) < np.arccos(mean)
    nodes, weights = quadrature(
        lambda t: score(t)[None], *((0.0, abs(x)) if inside else (abs(x), np.pi))
    )
    total = np.sum(weights * score(nodes))
    return np.sign(x) * (total if inside else -total)


# Pearson's third family: x = 2 u / s, for the skewness s and a gamma variable (1 + u) 4 / s**2
_CUBIC = [(-1) ** (n + 1) * (1 / n - 0.5) for n in range(3, 48)]
_STIRLING = [b / (2 * m) for m, b in enumerate(BERNOULLI[:6], 1)]


def cubic(u):
    """Return `(log(1 + u) - u (2 + u) / (2 (1 + u))) / u**3`."""

    def near(u):
        return horner(_CUBIC, u)

    def far(u):
        return (np.log1p(u) - u * (2 + u) / (2 * (1 + u))) / u**3

    return piecewise(abs(u) < 0.3, (u,), near, (0.0,), far, (1.0,))


def stirling(s):
    """Return `(log(a) - psi(a) - 1 / (2 a)) / s**3` for `a = 4 / s**2` (DLMF 5.11.2)."""

    def near(s):
        w = s**4 / 16
        return s / 16 * horner(_STIRLING, w)

    def far(s):
        a = 4 / s**2
        return (np.log(a) - sp.psi(a) - 1 / (2 * a)) / s**3

    return piecewise(abs(s) < 0.3, (s,), near, (0.0,), far, (1.0,))


def pearson_score(x, s):
    """Return the derivative of the logarithm of Pearson's density by the skewness."""
    u = s * x / 2
    return -(x**3) * cubic(u) - 8 * stirling(s) - x / (2 * (1 + u))


def pearson_below(x, s):
    """Return the derivative of Pearson's distribution function by the skewness."""
    x, s = np.broadcast_arrays(x, s)
    # that of a negative skewness is a reflection
    return np.reshape([below(*each) for each in zip(x.flat, s.flat, strict=True)], x.shape)


def below(x, s):
    """Return the derivative for numbers: by that of the gamma distribution, or an integral."""
    x, s = (-x, -s) if s < 0 else (x, s)
    if s > 0.1:
        b, a = 2 / s, 4 / s**2
        t = max(b * x + a, 0.0)
        return -(b**3) * gamma_by_shape(a, t) - (b * b * x / 2 + b**3) * gamma_density(a, t)

    def integrand(x):
        density = stats.pearson3.pdf(x, s)
        return np.where(density > 0, density * pearson_score(x, s), 0.0)

    limits = (x, np.inf) if x > 0 else (max(-2 / s, -40.0) if s else -40.0, x)
    nodes, weights = quadrature(lambda x: integrand(x)[None], *limits)
    return (-1 if x > 0 else 1) * np.sum(weights * integrand(nodes))


of_methods(rule, stats.pearson3, "_logpdf")(
    lambda d, x, skew, y: -(skew / 2 + x) / (1 + skew * x / 2),
    lambda d, x, skew, y: pearson_score(x, skew),
)
of_both_sides(rule, stats.pearson3)(
    lambda d, x, skew, y: d._pdf(x, skew),
    lambda d, x, skew, y: pearson_below(x, skew),
)
of_methods(rule, stats.pearson3, "_ppf")(
    lambda d, q, skew, y: 1 / d._pdf(y, skew),
    lambda d, q, skew, y: -pearson_below(y, skew) / d._pdf(y, skew),
)


@rule(stats.rv_continuous._entropy)
def _(self: type(stats.pearson3), skew: Numeric):
    y = type(self)._entropy(self, skew)
    return y, lambda dy: (None, project(dy * pearson_entropy_slope(skew), skew))


def pearson_entropy_slope(s):
    """Return the derivative of the entropy, which is that of a gamma variable (DLMF 5.15.8)."""

    def near(s):
        v = s * s / 4
        terms = [b * v ** (2 * m - 2) * (v - 1) for m, b in enumerate(BERNOULLI[:6], 1)]
        return -s / 2 * (0.5 + sum(terms))

    def far(s):
        a = 4 / s**2
        return 1 / s - 2 * a / s * (1 + (1 - a) * sp.polygamma(1, a))

    return piecewise(abs(s) < 0.3, (s,), near, (0.0,), far, (1.0,))


# at the ends of the shapes a side is missing
of_methods(rule, stats.triang, "_pdf")(
    lambda d, x, c, y: beside_mode(x, c, 2 / c, -2 / (1 - c)),
    lambda d, x, c, y: beside_mode(x, c, -2 * x / c**2, 2 * (1 - x) / (1 - c) ** 2),
)
of_methods(rule, stats.triang, "_cdf")(
    lambda d, x, c, y: by_side(x, c, 2 * x / c, 2 * (1 - x) / (1 - c)),
    lambda d, x, c, y: by_side(x, c, -((x / c) ** 2), -(((1 - x) / (1 - c)) ** 2)),
)
of_methods(rule, stats.trapezoid, "_munp")(
    None,
    lambda d, n, c, e, y: y / (1 + e - c) - 2 * c**n / ((n + 2) * (1 + e - c)),
    lambda d, n, c, e, y: -y / (1 + e - c) + trapezoid_moment_slope(int(n), c, e),
)
# where the power is the order of the moment
of_methods(rule, stats.truncpareto, "_munp")(
    None,
    lambda d, n, b, c, y: truncated_moment_by_power(n, b, c, y),
    lambda d, n, b, c, y: (b * c ** (n - 1) - y * b / c) / (c**b - 1),
)


def beside_mode(x, c, left, right):
    """Return the derivative of a triangular density: at its mode, a maximum with a kink, 0."""
    kink = (x == c) & (c > 0) & (c < 1)
    return np.where(kink, 0.0, by_side(x, c, left, right))


def by_side(x, c, left, right):
    """Return the derivative of a triangular distribution, on the side of its mode."""
    return np.where((x < c) | (c == 1), left, right)


def trapezoid_moment_slope(n, c, d):
    """Return the derivative of the sum of the powers of `d` in a moment, with its factors."""
    total = sum(k * d ** (k - 1) for k in range(1, n + 2))
    return 2 * total / ((n + 1) * (n + 2) * (1 + d - c))


def truncated_moment_by_power(n, b, c, y):
    """Return the derivative by `b` of `b (c**b - c**n) / ((b - n) (c**b - 1))`."""
    log = np.log(c)
    return y * (1 / b - log / (c**b - 1)) - b / (1 - c**-b) * log**2 * exprel_slope((n - b) * log)
