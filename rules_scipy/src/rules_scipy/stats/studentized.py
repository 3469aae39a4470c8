"""The studentized range: an integral over the scale, of an integral over the smallest value.

With the scale `s` of Student's t, and the range `w` of `k` normal variables, it is `w / s`
(Lund and Lund 1983).
"""

import numpy as np
from scipy import special as sp
from scipy import stats

from rules_scipy.shared.methods import of_methods
from rules_scipy.shared.panels import quadrature
from rules_scipy.shared.scaled_chi import by_freedom, scaled_chi
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.studentized")
Z = np.linspace(-12.0, 9.0, 130)
PHI = np.exp(-(Z**2) / 2) / np.sqrt(2 * np.pi)
WEIGHTS = PHI * (Z[1] - Z[0])
ASYMPTOTIC = 100_000  # degrees of freedom from which SciPy takes the scale to be 1
_LEGENDRE = np.polynomial.legendre.leggauss(160)
RANGES, RANGE_WEIGHTS = 10 * (1 + _LEGENDRE[0]), 10 * _LEGENDRE[1]  # from 0 to 20

of_methods(rule, stats.studentized_range, "_cdf")(
    lambda d, x, k, df, y: slopes(x, k, df)[0],
    lambda d, x, k, df, y: slopes(x, k, df)[1],
    lambda d, x, k, df, y: slopes(x, k, df)[2],
)
of_methods(rule, stats.studentized_range, "_pdf")(
    lambda d, x, k, df, y: density_slopes(x, k, df)[0],
    lambda d, x, k, df, y: density_slopes(x, k, df)[1],
    lambda d, x, k, df, y: density_slopes(x, k, df)[2],
)

of_methods(rule, stats.studentized_range, "_munp")(
    None,
    lambda d, n, k, df, y: y * moment_by_count(n, k),
    lambda d, n, k, df, y: y * moment_by_freedom(n, df),
)


@rule(stats.rv_continuous._entropy)
def _(self: type(stats.studentized_range), k: Numeric, df: Numeric):
    y = type(self)._entropy(self, k, df)

    def pullback(dy):
        by_k, by_df = entropy_slopes(float(k), float(df), y)
        return None, project(dy * by_k, k), project(dy * by_df, df)

    return y, pullback


def slopes(x, k, df):
    """Return the derivatives of the distribution function."""
    s, weights, score, w, k = _scales(x, k, df)
    _, between, _ = _normals(w)
    power = between ** (k - 1)
    value = k * power @ WEIGHTS
    by_count = (power + k * sp.xlogy(power, between)) @ WEIGHTS
    return (
        np.sum(weights * s * _range_density(w, k), -1),
        np.sum(weights * by_count, -1),
        np.sum(weights * score * value, -1),
    )


def density_slopes(x, k, df):
    """Return the derivatives of the density."""
    s, weights, score, w, k = _scales(x, k, df)
    upper, between, density = _normals(w)
    once = between ** (k - 2)
    with np.errstate(all="ignore"):
        twice = np.where((k == 2) | (between == 0), 0.0, (k - 2) * density**2 * between ** (k - 3))
    by_range = k * (k - 1) * (twice - upper * density * once)
    log = np.log(np.where(between == 0, 1.0, between))
    by_count = density * once * (2 * k - 1 + k * (k - 1) * log)
    return (
        np.sum(weights * s**2 * (by_range @ WEIGHTS), -1),
        np.sum(weights * s * (by_count @ WEIGHTS), -1),
        np.sum(weights * score * s * _range_density(w, k), -1),
    )


@np.vectorize(otypes="d")
def moment_by_count(n, k):
    """Return the derivative of the logarithm of a moment by `k`: that of the range of normals.

    A moment is the integral of `n * w**(n - 1)` times the probability above `w`.
    """
    _, between, _ = _normals(RANGES)
    power = between ** (k - 1)
    above = 1 - k * power @ WEIGHTS
    by_count = -(power + k * sp.xlogy(power, between)) @ WEIGHTS
    weights = RANGE_WEIGHTS * RANGES ** (n - 1)
    return (weights @ by_count) / (weights @ above)


def moment_by_freedom(n, df):
    """Return the derivative of the logarithm of a moment by `df`: that of `s**-n`."""
    return (n / df + sp.psi((df - n) / 2) - sp.psi(df / 2)) / 2


def entropy_slopes(k, df, value):
    """Return the derivatives of the entropy, which is the integral of `-f * log(f)`."""

    def integrands(x):
        density = slopes(x, k, df)[0]
        score = -1 - np.log(np.where(density > 0, density, 1.0))
        _, by_count, by_df = density_slopes(x, k, df)
        return np.stack([sp.entr(density), score * by_count, score * by_df])

    with np.errstate(all="ignore"):
        nodes, weights = quadrature(integrands, 0.0, np.inf, tolerance=1e-9)
        found, *parts = integrands(nodes) @ weights
    if not abs(found - value) <= 1e-6 * (1 + abs(value)):
        raise NotImplementedError(
            "the entropy that SciPy found is not that of the density: let `k` and `df` be "
            "constant (`stop_gradient`)"
        )
    return parts


def _scales(x, k, df):
    """Return scales with their weights and scores, the ranges there, and counts to go with them."""
    x, k, df = np.broadcast_arrays(x, k, df)
    known = df >= ASYMPTOTIC
    s, weights = scaled_chi(np.where(known, 1.0, df))
    s = np.where(known[..., None], 1.0, s)
    weights = np.where(known[..., None], 1 / s.shape[-1], weights)
    score = np.where(known[..., None], 0.0, by_freedom(s, df[..., None]))
    return s, weights, score, x[..., None] * s, k[..., None, None]


def _normals(w):
    """Return the largest value for each smallest one, the probability between, and its density."""
    upper = Z + w[..., None]
    return upper, sp.ndtr(upper) - sp.ndtr(Z), np.exp(-(upper**2) / 2) / np.sqrt(2 * np.pi)


def _range_density(w, k):
    _, between, density = _normals(w)
    return k[..., 0] * (k[..., 0] - 1) * ((density * between ** (k - 2)) @ WEIGHTS)
