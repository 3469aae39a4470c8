"""Densities and distribution functions that `scipy.stats` calls in compiled code."""

import math

import numpy as np
from scipy import special as sp
from scipy.special import _ufuncs

from rules_scipy.shared.expansions import horner, piecewise, psi_difference
from rules_scipy.shared.incomplete import (
    beta_by_first,
    beta_density,
    beta_quantile_by_first,
    beta_quantile_slope,
    binomial_density,
    none_of_zero,
)
from rules_scipy.shared.refusals import INTEGER
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.stats")

rule.scalar(_ufuncs._beta_pdf)(
    lambda x, a, b, out: beta_density_slope(x, a, b, out),
    lambda x, a, b, out: none_of_zero(out, np.log(x) + psi_difference(a, b)),
    lambda x, a, b, out: none_of_zero(out, np.log1p(-x) + psi_difference(b, a)),
)
rule.scalar(_ufuncs._beta_ppf)(
    lambda p, a, b, out: beta_quantile_slope(a, b, p, out, sp.betainccinv(b, a, p)),
    lambda p, a, b, out: beta_quantile_by_first(a, b, out, sp.betainccinv(b, a, p)),
    lambda p, a, b, out: -beta_quantile_by_first(b, a, sp.betainccinv(b, a, p), out),
)
# counts are integers
rule.scalar(_ufuncs._binom_pmf)(
    lambda k, n, p, out: (None, None, out * (k / p - (n - k) / (1 - p)))
)
rule.scalar(_ufuncs._binom_cdf)(lambda k, n, p: (None, None, -binomial_density(k, n, p)))
rule.scalar(_ufuncs._nbinom_pmf)(
    lambda k, n, p, out: None,
    lambda k, n, p, out: none_of_zero(out, psi_difference(n, k) + np.log(p)),
    lambda k, n, p, out: nbinom_slope(k, n, p, out),
)
rule.scalar(_ufuncs._nbinom_cdf)(
    lambda k, n, p: None,
    lambda k, n, p: beta_by_first(n, k + 1, p, 1 - p),
    lambda k, n, p: beta_density(n, k + 1, p, 1 - p),
)
rule.scalar(_ufuncs._binom_sf)(lambda k, n, p: (None, None, binomial_density(k, n, p)))
rule.scalar(_ufuncs._nbinom_sf)(
    lambda k, n, p: None,
    lambda k, n, p: -beta_by_first(n, k + 1, p, 1 - p),
    lambda k, n, p: -beta_density(n, k + 1, p, 1 - p),
)


def nbinom_slope(k, n, p, out):
    """Return the derivative by the probability of a success; from 1 on it is that of one trial."""

    def certain(k, n, p, out):
        fewer = np.where(k > 0, _ufuncs._nbinom_pmf(np.maximum(k - 1, 0), n + 1, p), 0.0)
        return n / p * (out - fewer)

    def usual(k, n, p, out):
        return out * (n / p - k / (1 - p))

    safe, other = (0.0, 1.0, 1.0, 1.0), (1.0, 1.0, 0.5, 0.5)
    return piecewise(p == 1, (k, n, p, out), certain, safe, usual, other)


rule.constant(_ufuncs._binom_ppf, _ufuncs._binom_isf, _ufuncs._nbinom_ppf, _ufuncs._nbinom_isf)

# moments
rule.scalar(_ufuncs._nbinom_mean)(lambda n, p: ((1 - p) / p, -n / p**2))
rule.scalar(_ufuncs._nbinom_variance)(lambda n, p: ((1 - p) / p**2, n * (p - 2) / p**3))
rule.scalar(_ufuncs._nbinom_skewness)(
    lambda n, p, out: (-out / (2 * n), out * (1 / (p - 2) + 0.5 / (1 - p)))
)
rule.scalar(_ufuncs._nbinom_kurtosis_excess)(
    lambda n, p, out: (-out / n, p * (2 - p) / (n * (1 - p) ** 2))
)
rule.scalar(_ufuncs._ncf_mean)(
    lambda n, d, nc, out: (-d * nc / n**2 / (d - 2), -2 * out / (d * (d - 2)), d / (n * (d - 2)))
)
rule.scalar(_ufuncs._ncf_variance)(
    lambda n, d, nc: ncf_variance_slopes(n, d, nc)[0],
    lambda n, d, nc: ncf_variance_slopes(n, d, nc)[1],
    lambda n, d, nc: ncf_variance_slopes(n, d, nc)[2],
)
rule.scalar(_ufuncs._nct_mean)(lambda v, nc: (nc * nct_factor_slope(v), nct_factor(v)))
rule.scalar(_ufuncs._nct_variance)(
    lambda v, nc: -2 * (1 + nc**2) / (v - 2) ** 2 - 2 * nc**2 * nct_factor(v) * nct_factor_slope(v),
    lambda v, nc: 2 * nc * (v / (v - 2) - nct_factor(v) ** 2),
)
COUNTS = {"r": INTEGER, "n": INTEGER, "N": INTEGER}
for f in (_ufuncs._hypergeom_mean, _ufuncs._hypergeom_variance, _ufuncs._hypergeom_skewness):
    rule.scalar(f, refuses=COUNTS)(lambda r, n, N: (None, None, None))

if hasattr(_ufuncs, "_log1mexp"):
    rule.scalar(_ufuncs._log1mexp)(lambda x: -1 / np.expm1(-x))
# SciPy has these from 1.16 on
if hasattr(_ufuncs, "_normalized_gen_harmonic"):
    rule.scalar(_ufuncs._gen_harmonic)(lambda n, a: (None, harmonic_by_power(1, n, a)))
    rule.scalar(_ufuncs._normalized_gen_harmonic)(
        lambda j, k, n, a, out: (None, None, None, normalized_by_power(j, k, n, a, out))
    )
if hasattr(_ufuncs, "_scaled_exp1"):
    rule.scalar(_ufuncs._scaled_exp1)(lambda x, out: scaled_exp1_slope(x, out))


def beta_density_slope(x, a, b, out):
    """Return the derivative of the beta density by its argument, at an end by one term."""

    def at_end(x, a, b, out):
        first = (a - 1) * np.power(x, a - 2) * np.power(1 - x, b - 1)
        second = (b - 1) * np.power(x, a - 1) * np.power(1 - x, b - 2)
        # a factor of 0 wins over an infinite power, and of two infinite terms the larger one
        first = np.where((a == 1) | ((x == 1) & (b < 1)), 0.0, first)
        second = np.where((b == 1) | ((x == 0) & (a < 1)), 0.0, second)
        return (first - second) * np.exp(-sp.betaln(a, b))

    def usual(x, a, b, out):
        return out * ((a - 1) / x - (b - 1) / (1 - x))

    ends = (x == 0) | (x == 1)
    return piecewise(
        ends, (x, a, b, out), at_end, (0.0, 3.0, 3.0, 0.0), usual, (0.5, 1.0, 1.0, 0.0)
    )


def ncf_variance_slopes(n, d, nc):
    """Return the derivatives of `2 (d/n)^2 ((n + nc)^2 + (n + 2 nc)(d - 2)) / ((d-2)^2 (d-4))`."""
    factor = 2 * d**2 / (n**2 * (d - 2) ** 2 * (d - 4))
    inner = (n + nc) ** 2 + (n + 2 * nc) * (d - 2)
    return (
        factor * (2 * (n + nc) + d - 2 - 2 * inner / n),
        factor * (inner * (2 / d - 2 / (d - 2) - 1 / (d - 4)) + n + 2 * nc),
        factor * (2 * (n + nc) + 2 * (d - 2)),
    )


def nct_factor(v):
    """Return the mean of the noncentral t distribution over its noncentrality."""
    return np.sqrt(v / 2) / sp.poch((v - 1) / 2, 0.5)


def nct_factor_slope(v):
    """Return the derivative of `nct_factor`."""
    return nct_factor(v) * (1 / v - psi_difference((v - 1) / 2, 0.5)) / 2


def scaled_exp1_slope(x, out):
    """Return the derivative of `x exp(x) exp1(x)` (DLMF 6.12.1 far out, where it cancels)."""
    far = x > 60
    z = -1 / np.where(far, x, 60.0)
    series = z**2 * horner([k * math.factorial(k) for k in range(1, 14)], z)
    return np.where(far, series, out * (1 + 1 / np.where(far, 1.0, x)) - 1)


@np.vectorize(otypes="d")
def harmonic_by_power(j, k, a):
    """Return the derivative by `a` of the sum of `i**-a` from `j` to `k`."""
    i = np.arange(j, k + 1.0)
    return -np.sum(np.log(i) * i**-a)


def normalized_by_power(j, k, n, a, out):
    """Return the derivative by `a` of the sum from `j` to `k` over that from 1 to `n`."""
    slope = harmonic_by_power(j, k, a) - out * harmonic_by_power(1, n, a)
    return slope / _ufuncs._gen_harmonic(n, a)
