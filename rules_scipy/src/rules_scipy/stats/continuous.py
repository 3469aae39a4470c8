"""Continuous distributions that SciPy computes in C: densities and distribution functions."""

import numpy as np
from scipy import special as sp
from scipy import stats

from rules_scipy.shared.methods import of_both_sides, of_methods
from rules_scipy.shared.panels import quadrature
from rules_scipy.shared.refusals import INTEGER
from rules_scipy.shared.variances import log_density_by_second
from rules_scipy.special.bessel import kv_by_order
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.continuous")

# a distribution that is made with active values gets methods that are made from text
rule.constant(stats.rv_continuous._attach_argparser_methods)

of_both_sides(rule, stats.cosine)(lambda d, x, y: d._pdf(x))

# Azzalini (1985): F = ndtr(x) - 2 owens_t(x, a)
of_both_sides(rule, stats.skewnorm)(
    lambda d, x, a, y: d._pdf(x, a),
    lambda d, x, a, y: -np.exp(-x * x * (1 + a * a) / 2) / (np.pi * (1 + a * a)),
)

# SciPy's formulas have `abs(x)`, whose second derivative at 0 is not that of the density
of_methods(rule, stats.cauchy, "_logpdf")(
    lambda d, x, y: np.where(
        abs(x) < 1, -2 * x / (1 + x * x), -2 / (x + 1 / np.where(x == 0, 1, x))
    )
)
of_methods(rule, stats.logistic, "_logpdf")(lambda d, x, y: -np.tanh(x / 2))

of_methods(rule, stats.landau, "_pdf")(lambda d, x, y: landau_slope(x))
of_both_sides(rule, stats.landau)(lambda d, x, y: d._pdf(x))

by_position = {"refuses": {"n": INTEGER}}
of_methods(rule, stats.irwinhall, "_pdf", **by_position)(lambda d, x, n, y: hall_slope(x, n), None)
of_both_sides(rule, stats.irwinhall, **by_position)(lambda d, x, n, y: d._pdf(x, n), None)

# by many degrees of freedom SciPy's formula cancels; 1 / x has the F distribution of `m` and `n`
of_methods(rule, stats.f, "_logpdf")(
    lambda d, x, n, m, y: np.where(n == 2, 0.0, (n / 2 - 1) / x) - (n + m) / 2 * n / (m + n * x),
    lambda d, x, n, m, y: log_density_by_second(m, n, 1 / x),
    lambda d, x, n, m, y: log_density_by_second(n, m, x),
)

# Barndorff-Nielsen (1977), and Jorgensen (1982)
of_methods(rule, stats.genhyperbolic, "_logpdf")(
    lambda d, x, p, a, b, y: hyperbolic_scores(x, p, a, b)[0],
    lambda d, x, p, a, b, y: hyperbolic_scores(x, p, a, b)[1],
    lambda d, x, p, a, b, y: hyperbolic_scores(x, p, a, b)[2],
    lambda d, x, p, a, b, y: hyperbolic_scores(x, p, a, b)[3],
)
of_methods(rule, stats.genhyperbolic, "_pdf")(
    lambda d, x, p, a, b, y: y * hyperbolic_scores(x, p, a, b)[0],
    lambda d, x, p, a, b, y: y * hyperbolic_scores(x, p, a, b)[1],
    lambda d, x, p, a, b, y: y * hyperbolic_scores(x, p, a, b)[2],
    lambda d, x, p, a, b, y: y * hyperbolic_scores(x, p, a, b)[3],
)
of_methods(rule, stats.geninvgauss, "_logpdf")(
    lambda d, x, p, b, y: (p - 1) / x - b / 2 * (1 - 1 / x**2),
    lambda d, x, p, b, y: np.log(x) - log_kv_by_order(p, b),
    lambda d, x, p, b, y: -(x + 1 / x) / 2 - log_kv_slope(p, b),
)

of_methods(rule, stats.gausshyper, "_pdf")(
    lambda d, x, a, b, c, z, y: y * ((a - 1) / x - (b - 1) / (1 - x) - c * z / (1 + z * x)),
    lambda d, x, a, b, c, z, y: y * (np.log(x) - gauss_means(a, b, c, z)[0]),
    lambda d, x, a, b, c, z, y: y * (np.log1p(-x) - gauss_means(a, b, c, z)[1]),
    lambda d, x, a, b, c, z, y: y * (gauss_means(a, b, c, z)[2] - np.log1p(z * x)),
    lambda d, x, a, b, c, z, y: y * c * (gauss_means(a, b, c, z)[3] - x / (1 + z * x)),
)


def hall_slope(x, n):
    """Return the derivative of the density of a sum of `n` uniform variables."""
    x, n = np.broadcast_arrays(x, n)
    fewer = np.maximum(n - 1, 1)
    slope = stats.irwinhall.pdf(x, fewer) - stats.irwinhall.pdf(x - 1, fewer)
    return np.where(n > 1, slope, 0.0)


def log_kv_slope(v, z):
    """Return the derivative of `log(kv(v, z))` by `z` (DLMF 10.29.2)."""
    return -(sp.kve(v - 1, z) + sp.kve(v + 1, z)) / (2 * sp.kve(v, z))


def log_kv_by_order(v, z):
    """Return the derivative of `log(kv(v, z))` by `v`."""
    return kv_by_order(sp.kve, v, z, 1.0) / sp.kve(v, z)


def hyperbolic_scores(x, p, a, b):
    """Return the derivatives of the logarithm of the generalized hyperbolic density."""
    x, p, a, b = map(np.asarray, (x, p, a, b))
    r, d = np.sqrt(1 + x * x), np.sqrt((a - b) * (a + b))
    inner, outer = log_kv_slope(p - 0.5, a * r), p / d - log_kv_slope(p, d)
    return (
        b + inner * a * x / r + (p - 0.5) * x / r**2,
        np.log(d * r / a) - log_kv_by_order(p, d) + log_kv_by_order(p - 0.5, a * r),
        outer * a / d - (p - 0.5) / a + inner * r,
        x - outer * b / d,
    )


def gauss_means(a, b, c, z):
    """Return the means of `log(x)`, `log(1 - x)`, `log(1 + z x)` and `x / (1 + z x)`."""

    def means(a, b, c, z):
        def rows(x):
            p = np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - c * np.log1p(z * x))
            return p * [np.ones_like(x), np.log(x), np.log1p(-x), np.log1p(z * x), x / (1 + z * x)]

        x, weights = quadrature(rows, 0.0, 1.0)
        values = rows(x)
        total = np.where(np.isfinite(values), values, 0.0) @ weights
        return tuple(total[1:] / total[0])

    return np.vectorize(means, otypes="dddd")(a, b, c, z)


@np.vectorize(otypes="d")
def landau_slope(x):
    """Return the derivative of the density of Landau (1944), by that of his own variable."""
    half = np.pi / 2
    return half**2 * inverse_laplace(half * x + np.log(half))


def inverse_laplace(x):
    """Return the derivative of the inverse Laplace transform of `s**s`.

    On the line through its saddle point, or along the cut.
    """
    if x > 1:
        nodes, weights = quadrature(lambda t: _landau_right(t, x)[None], 0.0, np.inf)
        return _landau_right(nodes, x) @ weights
    saddle = np.exp(-1 - x)
    nodes, weights = quadrature(lambda t: _landau_left(t, x, saddle)[None], 0.0, np.inf)
    return _landau_left(nodes, x, saddle) @ weights


def _landau_right(t, x):
    return -t / np.pi * np.exp(-sp.xlogy(t, t) - x * t) * np.sin(np.pi * t)


def _landau_left(t, x, saddle):
    s = saddle + 1j * t
    return np.real(s * np.exp(s * np.log(s) + x * s)) / np.pi
