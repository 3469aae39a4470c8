"""Noncentral distributions, by position and noncentrality.

The densities are SciPy's own, which its `stats` calls. Derivatives by degrees of freedom are sums
and integrals of those of central distributions.
"""

import numpy as np
from scipy import special as sp
from scipy.special import _ufuncs

from rules_scipy.shared.expansions import piecewise
from rules_scipy.shared.incomplete import lowest, none_of_zero
from rules_scipy.shared.noncentral import (
    chi2_by_freedom,
    chi2_density,
    chi2_scores,
    f_by_freedoms,
    f_scores,
    t_by_freedom,
    t_density_slopes,
)
from rules_scipy.shared.noncentral import t_by_noncentrality as t_by_mean
from rules_scipy.shared.variances import f_density, f_quantile_slope
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.noncentral")

chi2, f, t = _ufuncs._ncx2_pdf, _ufuncs._ncf_pdf, _ufuncs._nct_pdf

rule.scalar(chi2)(
    lambda x, df, nc, out: at_rise(x, df, out * chi2_scores(x, df, nc)[0]),
    lambda x, df, nc, out: none_of_zero(out, chi2_scores(x, df, nc)[1]),
    lambda x, df, nc, out: none_of_zero(out, chi2_scores(x, df, nc)[2]),
)
rule.scalar(f)(
    lambda x, dfn, dfd, nc, out: at_rise(x, dfn, out * f_scores(x, dfn, dfd, nc)[0]),
    lambda x, dfn, dfd, nc, out: none_of_zero(out, f_scores(x, dfn, dfd, nc)[1]),
    lambda x, dfn, dfd, nc, out: none_of_zero(out, f_scores(x, dfn, dfd, nc)[2]),
    lambda x, dfn, dfd, nc, out: none_of_zero(out, f_scores(x, dfn, dfd, nc)[3]),
)
rule.scalar(t)(
    lambda x, df, nc, out: t_density_slopes(x, df, nc)[0],
    lambda x, df, nc, out: t_density_slopes(x, df, nc)[1],
    lambda x, df, nc, out: t_density_slopes(x, df, nc)[2],
)

# chi-square: dF/dnc is minus the density of df + 2
rule.scalar(sp.chndtr)(
    lambda x, df, nc: inside(x, nc, density_of_chi2(x, df, nc)),
    lambda x, df, nc: of_chi2(x, df, nc),
    lambda x, df, nc: inside(x, nc, -density_of_chi2(x, df + 2, nc)),
)
rule.scalar(sp.chndtrix)(
    lambda p, df, nc, out: chi2_quantile_slope(df, nc, p, out),
    lambda p, df, nc, out: moved(out, -of_chi2(out, df, nc) / density_of_chi2(out, df, nc)),
    lambda p, df, nc, out: moved(
        out, density_of_chi2(out, df + 2, nc) / density_of_chi2(out, df, nc)
    ),
)
rule.scalar(sp.chndtrinc)(
    lambda x, df, p, out: found(out, density_of_chi2(x, df, out) / density_of_chi2(x, df + 2, out)),
    lambda x, df, p, out: found(out, of_chi2(x, df, out) / density_of_chi2(x, df + 2, out)),
    lambda x, df, p, out: found(out, -1 / density_of_chi2(x, df + 2, out)),
)
rule.scalar(sp.chndtridf)(
    lambda x, p, nc, out: found(out, -density_of_chi2(x, out, nc) / of_chi2(x, out, nc)),
    lambda x, p, nc, out: found(out, 1 / of_chi2(x, out, nc)),
    lambda x, p, nc, out: found(out, density_of_chi2(x, out + 2, nc) / of_chi2(x, out, nc)),
)

# F: a mixture with Poisson weights
rule.scalar(sp.ncfdtr)(
    lambda dfn, dfd, nc, x: of_f(dfn, dfd, nc, x, 0),
    lambda dfn, dfd, nc, x: of_f(dfn, dfd, nc, x, 1),
    lambda dfn, dfd, nc, x: f_by_noncentrality(dfn, dfd, nc, x),
    lambda dfn, dfd, nc, x: inside(x, nc, density_of_f(x, dfn, dfd, nc)),
)
rule.scalar(sp.ncfdtri)(
    lambda dfn, dfd, nc, p, out: by_f(out, dfn, dfd, nc, of_f(dfn, dfd, nc, out, 0)),
    lambda dfn, dfd, nc, p, out: by_f(out, dfn, dfd, nc, of_f(dfn, dfd, nc, out, 1)),
    lambda dfn, dfd, nc, p, out: by_f(out, dfn, dfd, nc, f_by_noncentrality(dfn, dfd, nc, out)),
    lambda dfn, dfd, nc, p, out: noncentral_f_quantile_slope(dfn, dfd, nc, p, out),
)
rule.scalar(sp.ncfdtrinc)(
    lambda dfn, dfd, p, x, out: by_nc(out, dfn, dfd, x, -of_f(dfn, dfd, out, x, 0)),
    lambda dfn, dfd, p, x, out: by_nc(out, dfn, dfd, x, -of_f(dfn, dfd, out, x, 1)),
    lambda dfn, dfd, p, x, out: by_nc(out, dfn, dfd, x, 1.0),
    lambda dfn, dfd, p, x, out: by_nc(out, dfn, dfd, x, -density_of_f(x, dfn, dfd, out)),
)
rule.scalar(sp.ncfdtridfn)(
    lambda p, dfd, nc, x, out: found(out, 1 / of_f(out, dfd, nc, x, 0)),
    lambda p, dfd, nc, x, out: found(out, -of_f(out, dfd, nc, x, 1) / of_f(out, dfd, nc, x, 0)),
    lambda p, dfd, nc, x, out: found(
        out, -f_by_noncentrality(out, dfd, nc, x) / of_f(out, dfd, nc, x, 0)
    ),
    lambda p, dfd, nc, x, out: found(
        out, -density_of_f(x, out, dfd, nc) / of_f(out, dfd, nc, x, 0)
    ),
)
rule.scalar(sp.ncfdtridfd)(
    lambda dfn, p, nc, x, out: found(out, -of_f(dfn, out, nc, x, 0) / of_f(dfn, out, nc, x, 1)),
    lambda dfn, p, nc, x, out: found(out, 1 / of_f(dfn, out, nc, x, 1)),
    lambda dfn, p, nc, x, out: found(
        out, -f_by_noncentrality(dfn, out, nc, x) / of_f(dfn, out, nc, x, 1)
    ),
    lambda dfn, p, nc, x, out: found(
        out, -density_of_f(x, dfn, out, nc) / of_f(dfn, out, nc, x, 1)
    ),
)

# Student's t: dF/dnc is a density of one degree of freedom less
rule.scalar(sp.nctdtr)(
    lambda df, nc, x: of_t(df, nc, x),
    lambda df, nc, x: inside(x, nc, t_by_noncentrality(df, nc, x)),
    lambda df, nc, x: inside(x, nc, t(x, df, nc)),
)
rule.scalar(sp.nctdtrit)(
    lambda df, nc, p, out: -of_t(df, nc, out) / t(out, df, nc),
    lambda df, nc, p, out: -t_by_noncentrality(df, nc, out) / t(out, df, nc),
    lambda df, nc, p, out: 1 / t(out, df, nc),
)
rule.scalar(sp.nctdtrinc)(
    lambda df, p, x, out: -of_t(df, out, x) / t_by_noncentrality(df, out, x),
    lambda df, p, x, out: 1 / t_by_noncentrality(df, out, x),
    lambda df, p, x, out: -t(x, df, out) / t_by_noncentrality(df, out, x),
)
rule.scalar(sp.nctdtridf)(
    lambda p, nc, x, out: found(out, 1 / of_t(out, nc, x)),
    lambda p, nc, x, out: found(out, -t_by_noncentrality(out, nc, x) / of_t(out, nc, x)),
    lambda p, nc, x, out: found(out, -t(x, out, nc) / of_t(out, nc, x)),
)


def density_of_chi2(x, df, nc):
    """Return the noncentral chi-square density, also far on the left, where SciPy has 0."""
    y = chi2(x, df, nc)

    def sum_of_central(x, df, nc, y):
        return chi2_density(x, df, nc)

    def usual(x, df, nc, y):
        return y

    lost = (y == 0) & (x > 0) & (x < nc) & (nc < 1400)  # beyond, it is too small for a number
    return piecewise(
        lost, (x, df, nc, y), sum_of_central, (1.0, 2.0, 2.0, 0.0), usual, (1.0, 2.0, 2.0, 0.0)
    )


def chi2_quantile_slope(df, nc, p, out):
    """Return the derivative of a quantile by its probability, at 0 by the central part."""

    def at_end(df, nc, p, out):
        return 2 * lowest(df / 2, sp.gammaln(df / 2 + 1) + nc / 2, p)

    def usual(df, nc, p, out):
        return 1 / density_of_chi2(out, df, nc)

    safe, other = (1.0, 1.0, 0.0, 0.0), (2.0, 1.0, 0.5, 1.0)
    return piecewise((out == 0) & (df < 2), (df, nc, p, out), at_end, safe, usual, other)


def noncentral_f_quantile_slope(dfn, dfd, nc, p, out):
    """Return the derivative of a quantile by its probability, at 0 by the central part."""

    def at_end(dfn, dfd, nc, p, out):
        shift = np.exp(nc / 2)
        return f_quantile_slope(dfn, dfd, p * shift, out) * shift

    def usual(dfn, dfd, nc, p, out):
        return 1 / density_of_f(out, dfn, dfd, nc)

    safe, other = (1.0, 1.0, 1.0, 0.0, 0.0), (2.0, 1.0, 1.0, 0.5, 1.0)
    condition = (out == 0) & (dfn < 2)
    return piecewise(condition, (dfn, dfd, nc, p, out), at_end, safe, usual, other)


def of_chi2(x, df, nc):
    """Return the derivative of the noncentral chi-square distribution function by `df`."""
    ended = np.isinf(x) | (nc == np.inf)
    slope = chi2_by_freedom(np.where(ended, 1.0, x), df, np.where(ended, 1.0, nc))
    return np.where(ended, 0.0, slope)


def of_f(dfn, dfd, nc, x, which):
    """Return the derivative of the noncentral F distribution function by `dfn`, or by `dfd`."""
    ended = np.isinf(x) | (nc == np.inf) | (x == 0)
    x, nc = np.where(ended, 1.0, x), np.where(ended, 1.0, nc)
    slope = f_by_freedoms(x, dfn, dfd, nc, f(x, dfn, dfd, nc))[which]
    return np.where(ended, 0.0, slope)


def of_t(df, nc, x):
    """Return the derivative of the noncentral t distribution function by `df`."""
    ended = np.isinf(x) | np.isinf(nc)
    x, nc = np.where(ended, 1.0, x), np.where(ended, 1.0, nc)
    slope = t_by_freedom(x, np.minimum(df, 1e10), nc)
    return np.where(ended, 0.0, slope)


def by_f(out, dfn, dfd, nc, slope):
    """Return the slope of a quantile from that of the distribution function."""
    return moved(out, -slope / density_of_f(out, dfn, dfd, nc))


def by_nc(out, dfn, dfd, x, slope):
    """Return the slope of a noncentrality from that of the equation that it solves."""
    return found(out, slope / f_by_noncentrality(dfn, dfd, out, x))


def at_rise(x, df, slope):
    """Return the slope of a density by its argument, 0 where it rises from 0 as a higher power."""
    return np.where((x == 0) & (df > 4), 0.0, slope)


def inside(x, nc, slope):
    """Return the slope of a distribution function, 0 where it has ended: at infinity."""
    return np.where(np.isinf(x) | (nc == np.inf), 0.0, slope)


def moved(out, slope):
    """Return the slope of a quantile by the noncentrality: at the lower end it stays 0."""
    return np.where(out == 0, 0.0, slope)


def density_of_f(x, dfn, dfd, nc):
    """Return the density of the noncentral F distribution, at 0 too, where SciPy raises an error.

    It is that of the central one there, times the weight of no extra degrees of freedom.
    """

    def at_zero(x, dfn, dfd, nc):
        return f_density(dfn, dfd, x) * np.exp(-nc / 2)

    def usual(x, dfn, dfd, nc):
        return f(x, dfn, dfd, nc)

    return piecewise(
        x == 0, (x, dfn, dfd, nc), at_zero, (0.0, 2.0, 2.0, 0.0), usual, (1.0, 2.0, 2.0, 0.0)
    )


def f_by_noncentrality(dfn, dfd, nc, x):
    """Return the derivative of the noncentral F distribution function by `nc`."""
    moved = sp.ncfdtr(dfn + 2, dfd, nc, x * dfn / (dfn + 2))
    return (moved - sp.ncfdtr(dfn, dfd, nc, x)) / 2


def t_by_noncentrality(df, nc, x):
    """Return the derivative of the noncentral t distribution function by `nc`."""

    def of_few(df, nc, x):
        return t_by_mean(x, df, nc)

    def usual(df, nc, x):
        factor = np.sqrt(2 / (df - 1)) * sp.poch((df - 1) / 2, 0.5)
        return -t(x * np.sqrt((df - 1) / df), df - 1, nc) / factor

    few = (df <= 1) & np.isfinite(x) & np.isfinite(nc)
    return piecewise(few, (df, nc, x), of_few, (1.0, 0.0, 1.0), usual, (2.0, 0.0, 1.0))


def found(out, slope):
    """Return the slope of a parameter, 0 where SciPy's search has ended at a bound."""
    size = abs(out)
    return np.where((size <= 1e-100) | (size >= 1e10), 0.0, slope)
