"""Raw distribution functions and their inverses.

Each is an incomplete gamma or beta function: `F` stands for the distribution function, and what is
found by solving `F = p` has the derivatives of an implicit function.
"""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import truncated
from rules_scipy.shared.incomplete import (
    FAR,
    beta_by_first,
    beta_by_second,
    beta_density,
    binomial_density,
    gamma_by_shape,
    gamma_density,
    gamma_quantile_by_shape,
    gamma_quantile_slope,
)
from rules_scipy.shared.kolmogorov import (
    kolmogorov_density,
    kolmogorov_density_slope,
    smirnov_density_slope,
)
from rules_scipy.shared.refusals import INTEGER
from rules_scipy.shared.variances import (
    f_by_first,
    f_by_second,
    f_density,
    f_quantile_slope,
    t_by_freedom,
    t_density,
)
from rules_scipy.special.error import ROOT_2PI
from rules_scipy.special.logistic import boxcox_by_power
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.distributions")

# gamma, chi-square and Poisson: F(a, b, x) = gammainc(b, a x)
rule.scalar(sp.gdtr)(
    lambda a, b, x: times_density(x, b, a * x),
    lambda a, b, x: gamma_by_shape(b, a * x),
    lambda a, b, x: times_density(a, b, a * x),
)
rule.scalar(sp.gdtrc)(
    lambda a, b, x: -times_density(x, b, a * x),
    lambda a, b, x: -gamma_by_shape(b, a * x),
    lambda a, b, x: -times_density(a, b, a * x),
)
rule.scalar(sp.gdtrix)(
    lambda a, b, p, out: -out / a,
    lambda a, b, p, out: gamma_quantile_by_shape(b, a * out) / a,
    lambda a, b, p, out: gamma_quantile_slope(b, p, a * out) / a,
)
rule.scalar(sp.gdtria)(
    lambda p, b, x, out: 1 / gamma_density(b, out * x) / x,
    lambda p, b, x, out: gamma_quantile_by_shape(b, out * x) / x,
    lambda p, b, x, out: -out / x,
)
rule.scalar(sp.gdtrib)(
    lambda a, p, x, out: found(out, -x * gamma_density(out, a * x) / gamma_by_shape(out, a * x)),
    lambda a, p, x, out: found(out, 1 / gamma_by_shape(out, a * x)),
    lambda a, p, x, out: found(out, -a * gamma_density(out, a * x) / gamma_by_shape(out, a * x)),
)
rule.scalar(sp.chdtr)(
    lambda v, x: gamma_by_shape(v / 2, x / 2) / 2,
    lambda v, x: gamma_density(v / 2, x / 2) / 2,
)
rule.scalar(sp.chdtrc)(
    lambda v, x: -gamma_by_shape(v / 2, x / 2) / 2,
    lambda v, x: -gamma_density(v / 2, x / 2) / 2,
)
rule.scalar(sp.chdtri)(
    lambda v, p, out: gamma_quantile_by_shape(v / 2, out / 2),
    lambda v, p, out: -2 * gamma_quantile_slope(v / 2, 1 - p, out / 2),
)
rule.scalar(sp.chdtriv)(
    lambda p, x, out: found(out, 2 / gamma_by_shape(out / 2, x / 2)),
    lambda p, x, out: found(out, -gamma_density(out / 2, x / 2) / gamma_by_shape(out / 2, x / 2)),
)
rule.scalar(sp.pdtr)(lambda k, m: (None, -gamma_density(np.floor(k) + 1, m)))
rule.scalar(sp.pdtrc)(lambda k, m: (None, gamma_density(np.floor(k) + 1, m)))
rule.scalar(sp.pdtri)(lambda k, y, out: (None, -1 / gamma_density(truncated(k) + 1, out)))
rule.scalar(sp.pdtrik)(
    lambda p, m, out: np.where(out == 0, 0.0, -1 / gamma_by_shape(out + 1, m)),
    lambda p, m, out: np.where(
        out == 0, 0.0, -gamma_density(out + 1, m) / gamma_by_shape(out + 1, m)
    ),
)

# beta: F(a, b, x) = betainc(a, b, x)
rule.scalar(sp.btdtria)(
    lambda p, b, x, out: found(out, 1 / beta_by_first(out, b, x, 1 - x)),
    lambda p, b, x, out: found(
        out, -beta_by_second(out, b, x, 1 - x) / beta_by_first(out, b, x, 1 - x)
    ),
    lambda p, b, x, out: found(
        out, -beta_density(out, b, x, 1 - x) / beta_by_first(out, b, x, 1 - x)
    ),
)
rule.scalar(sp.btdtrib)(
    lambda a, p, x, out: found(
        out, -beta_by_first(a, out, x, 1 - x) / beta_by_second(a, out, x, 1 - x)
    ),
    lambda a, p, x, out: found(out, 1 / beta_by_second(a, out, x, 1 - x)),
    lambda a, p, x, out: found(
        out, -beta_density(a, out, x, 1 - x) / beta_by_second(a, out, x, 1 - x)
    ),
)
# binomial: F(k, n, p) = 1 - betainc(k + 1, n - k, p), where k is rounded down and n an integer
rule.scalar(sp.bdtr)(lambda k, n, p: (None, None, -binomial_density(np.floor(k), truncated(n), p)))
rule.scalar(sp.bdtrc)(lambda k, n, p: (None, None, binomial_density(np.floor(k), truncated(n), p)))
rule.scalar(sp.bdtri)(
    lambda k, n, y, out: (None, None, -1 / binomial_density(truncated(k), truncated(n), out))
)
rule.scalar(sp.bdtrik)(  # at 0 it is where the search ends
    lambda y, n, p, out: np.where(out == 0, 0.0, 1 / binomial_by_count(out, n, p)),
    lambda y, n, p, out: np.where(
        out == 0, 0.0, -binomial_by_size(out, n, p) / binomial_by_count(out, n, p)
    ),
    lambda y, n, p, out: np.where(
        out == 0, 0.0, binomial_density(out, n, p) / binomial_by_count(out, n, p)
    ),
)
rule.scalar(sp.bdtrin)(
    lambda k, y, p, out: found(out, -binomial_by_count(k, out, p) / binomial_by_size(k, out, p)),
    lambda k, y, p, out: found(out, 1 / binomial_by_size(k, out, p)),
    lambda k, y, p, out: found(out, binomial_density(k, out, p) / binomial_by_size(k, out, p)),
)
# negative binomial: F(k, n, p) = betainc(n, k + 1, p)
rule.scalar(sp.nbdtr)(
    lambda k, n, p: (None, None, beta_density(truncated(n), truncated(k) + 1, p, 1 - p))
)
rule.scalar(sp.nbdtrc)(
    lambda k, n, p: (None, None, -beta_density(truncated(n), truncated(k) + 1, p, 1 - p))
)
rule.scalar(sp.nbdtri)(
    lambda k, n, y, out: (
        None,
        None,
        1 / beta_density(truncated(n), truncated(k) + 1, out, 1 - out),
    )
)
rule.scalar(sp.nbdtrik)(  # at 0 it is where the search ends
    lambda y, n, p, out: np.where(out == 0, 0.0, 1 / beta_by_second(n, out + 1, p, 1 - p)),
    lambda y, n, p, out: np.where(
        out == 0,
        0.0,
        -beta_by_first(n, out + 1, p, 1 - p) / beta_by_second(n, out + 1, p, 1 - p),
    ),
    lambda y, n, p, out: np.where(
        out == 0,
        0.0,
        -beta_density(n, out + 1, p, 1 - p) / beta_by_second(n, out + 1, p, 1 - p),
    ),
)
rule.scalar(sp.nbdtrin)(
    lambda k, y, p, out: found(
        out, -beta_by_second(out, k + 1, p, 1 - p) / beta_by_first(out, k + 1, p, 1 - p)
    ),
    lambda k, y, p, out: found(out, 1 / beta_by_first(out, k + 1, p, 1 - p)),
    lambda k, y, p, out: found(
        out, -beta_density(out, k + 1, p, 1 - p) / beta_by_first(out, k + 1, p, 1 - p)
    ),
)

# F: betainc(dfn / 2, dfd / 2, dfn x / (dfd + dfn x))
rule.scalar(sp.fdtr)(
    lambda dfn, dfd, x: f_by_first(dfn, dfd, x),
    lambda dfn, dfd, x: f_by_second(dfn, dfd, x),
    lambda dfn, dfd, x: f_density(dfn, dfd, x),
)
rule.scalar(sp.fdtrc)(
    lambda dfn, dfd, x: -f_by_first(dfn, dfd, x),
    lambda dfn, dfd, x: -f_by_second(dfn, dfd, x),
    lambda dfn, dfd, x: -f_density(dfn, dfd, x),
)
rule.scalar(sp.fdtri)(
    lambda dfn, dfd, p, out: moved(out, -f_by_first(dfn, dfd, out) / f_density(dfn, dfd, out)),
    lambda dfn, dfd, p, out: moved(out, -f_by_second(dfn, dfd, out) / f_density(dfn, dfd, out)),
    lambda dfn, dfd, p, out: f_quantile_slope(dfn, dfd, p, out),
)
rule.scalar(sp.fdtridfd)(
    lambda dfn, p, x, out: found(out, -f_by_first(dfn, out, x) / f_by_second(dfn, out, x)),
    lambda dfn, p, x, out: found(out, 1 / f_by_second(dfn, out, x)),
    lambda dfn, p, x, out: found(out, -f_density(dfn, out, x) / f_by_second(dfn, out, x)),
)

# Student's t
rule.scalar(sp.stdtr)(
    lambda df, t: t_by_freedom(df, t),
    lambda df, t: t_density(df, t),
)
rule.scalar(sp.stdtrit)(
    lambda df, p, out: -t_by_freedom(df, out) / t_density(df, out),
    lambda df, p, out: 1 / t_density(df, out),
)
rule.scalar(sp.stdtridf)(
    lambda p, t, out: found(out, 1 / t_by_freedom(out, t)),
    lambda p, t, out: found(out, -t_density(out, t) / t_by_freedom(out, t)),
)

# the normal distribution: x = mean + sd ndtri(p)
rule.scalar(sp.nrdtrimn)(
    lambda p, sd, x: -sd * normal_quantile_slope(p),
    lambda p, sd, x: -sp.ndtri(p),
    lambda p, sd, x: 1.0,
)
rule.scalar(sp.nrdtrisd)(
    lambda mean, p, x: -1 / sp.ndtri(p),
    lambda mean, p, x: -(x - mean) / sp.ndtri(p) ** 2 * normal_quantile_slope(p),
    lambda mean, p, x: 1 / sp.ndtri(p),
)

# Kolmogorov and Smirnov: SciPy has the density of the second
rule.scalar(sp.kolmogorov)(lambda y: -kolmogorov_density(y))
rule.scalar(sp.kolmogi)(lambda p, out: -1 / kolmogorov_density(out))
rule.scalar(sp._ufuncs._kolmogp)(lambda y: -kolmogorov_density_slope(y))
rule.scalar(sp.smirnov, refuses={"n": INTEGER})(lambda n, d: (None, sp._ufuncs._smirnovp(n, d)))
rule.scalar(sp.smirnovi, refuses={"n": INTEGER})(
    lambda n, p, out: (None, 1 / sp._ufuncs._smirnovp(n, out))
)
rule.scalar(sp._ufuncs._smirnovp, refuses={"n": INTEGER})(
    lambda n, d: (None, -smirnov_density_slope(d, n))
)

# Tukey's lambda: x = boxcox(p, lambda) - boxcox(1 - p, lambda)
rule.scalar(sp.tklmbda)(
    lambda x, lmbda, out: tukey_density(lmbda, out),
    lambda x, lmbda, out: tukey_by_shape(lmbda, out),
)


def found(out, slope):
    """Return the slope of a solution: 0 at the bounds of the search, nan where there is none."""
    slope = np.where(np.isnan(out), np.nan, slope)
    size = abs(out)
    # SciPy's bounds, by the function; infinity where no parameter is large enough
    at_bound = (size <= 1e-100) | (size == 1e10) | (size >= 1e100)
    return np.where(at_bound, 0.0, slope)


def moved(out, slope):
    """Return the slope of a quantile by a parameter: at the lower end it stays 0."""
    return np.where(out == 0, 0.0, slope)


def times_density(factor, b, x):
    """Return a factor times the density of the gamma distribution, 0 where the factor is."""
    product = np.minimum(factor, FAR) * gamma_density(b, x)
    return np.where(factor == 0, 0.0, product)


def binomial_by_count(k, n, p):
    """Return the derivative of `F` by `k`."""
    return beta_by_second(k + 1, n - k, p, 1 - p) - beta_by_first(k + 1, n - k, p, 1 - p)


def binomial_by_size(k, n, p):
    """Return the derivative of `F` by `n`."""
    return -beta_by_second(k + 1, n - k, p, 1 - p)


def normal_quantile_slope(p):
    """Return the derivative of `ndtri(p)`."""
    return ROOT_2PI * np.exp(sp.ndtri(p) ** 2 / 2)


def tukey_density(lmbda, p):
    """Return the density at the quantile of `p`, 0 outside of its support."""
    inside = (p > 0) & (p < 1)
    p = np.where(inside, p, 0.5)
    return np.where(inside, 1 / (p ** (lmbda - 1) + (1 - p) ** (lmbda - 1)), 0.0)


def tukey_by_shape(lmbda, p):
    """Return the derivative of the distribution function by `lmbda`."""
    inside = (p > 0) & (p < 1)
    q = np.where(inside, p, 0.5)
    moved = boxcox_by_power(np.log(q), lmbda) - boxcox_by_power(np.log1p(-q), lmbda)
    return -moved * tukey_density(lmbda, p)
