"""Distributions that are made of Mills' ratio of the normal one, and of exponential tails.

Formulas with `R(t) = ndtr(-t) / norm.pdf(t)`, of which `R' = t R - 1`: SciPy's own cancel where the
normal part is narrow, and are logarithms of differences that may be zero.
"""

import numpy as np
from scipy import special as sp
from scipy import stats

from rules_scipy.shared.expansions import erfcx_slope, piecewise
from rules_scipy.shared.methods import of_both_sides, of_methods
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.mills")

ROOT = np.sqrt(0.5)
LOG_ROOT_PI = np.log(np.pi / 2) / 2


def mills_slope(t):
    """Return `R'(t) / R(t)`, which is near `t` on the left, and near `-1 / t` on the right."""

    def right(t):
        scaled = sp.erfcx(t * ROOT)
        return ROOT * erfcx_slope(t * ROOT, scaled) / scaled

    def left(t):
        return t - np.exp(-LOG_ROOT_PI - t * t / 2) / (1 + sp.erf(-t * ROOT))

    return piecewise(t > -1, (t,), right, (0.0,), left, (-2.0,))


# a normal and an exponential variable: the density is `norm.pdf(x) R(1 / K - x) / K`
of_methods(rule, stats.exponnorm, "_logpdf")(
    lambda d, x, K, y: -x - mills_slope(1 / K - x),
    lambda d, x, K, y: -1 / K - mills_slope(1 / K - x) / K**2,
)
of_both_sides(rule, stats.exponnorm)(
    lambda d, x, K, y: modified_density(x, K),
    lambda d, x, K, y: modified_density(x, K) * mills_slope(1 / K - x) / K,
)


def modified_density(x, K):
    """Return the density, of which SciPy's loses digits for a small `K`."""
    t = 1 / K - x
    return np.exp(log_of_tail(t, x, (t - x) / (2 * K))) / K


# Reed and Jorgensen (2004): two exponential variables and a normal one, of the logarithm
of_methods(rule, stats.dpareto_lognorm, "_logcdf")(
    lambda d, x, u, s, a, b, y: np.exp(d._logpdf(x, u, s, a, b) - y),
    lambda d, x, u, s, a, b, y: two_tails(x, u, s, a, b, y)[0],
    lambda d, x, u, s, a, b, y: two_tails(x, u, s, a, b, y)[1],
    lambda d, x, u, s, a, b, y: two_tails(x, u, s, a, b, y)[2],
    lambda d, x, u, s, a, b, y: two_tails(x, u, s, a, b, y)[3],
)


def two_tails(x, u, s, a, b, y):
    """Return the derivatives by the parameters of the logarithm `y` of the distribution function.

    That is `ndtr(z) - norm.pdf(z) (b R(a s - z) - a R(b s + z)) / (a + b)`.
    """
    z = (np.log(x) - u) / s
    first, second = a * s - z, b * s + z
    one = np.exp(log_of_tail(first, z, a * s * (a * s - 2 * z) / 2) - y)
    two = np.exp(log_of_tail(second, z, b * s * (b * s + 2 * z) / 2) - y)
    turned, other = one * mills_slope(first), two * mills_slope(second)
    both, whole = one + two, a + b
    return (
        -a * b / whole * both,
        -a * b / whole * (z * both + turned - other),
        b / whole * (both / whole - s * turned),
        -a / whole * (both / whole - s * other),
    )


def log_of_tail(t, z, power):
    """Return `log(norm.pdf(z) R(t))`, where `power` is `(t**2 - z**2) / 2`."""

    def right(t, z, power):
        return np.log(sp.erfcx(t * ROOT) / 2) - z * z / 2

    def left(t, z, power):
        return sp.log_ndtr(-t) + power

    return piecewise(t > 0, (t, z, power), right, (0.0, 0.0, 0.0), left, (-1.0, 0.0, 0.0))
