"""Noncentral distributions, by position and noncentrality.

The densities are SciPy's own, which its `stats` calls. Derivatives by degrees of freedom are
refused.
"""

import numpy as np
from scipy import special as sp
from scipy.special import _ufuncs

from rules_scipy.shared.expansions import piecewise
from rules_scipy.shared.incomplete import none_of_zero
from rules_scipy.shared.noncentral import chi2_scores, f_scores, t_density_slopes
from rules_scipy.shared.refusals import PARAMETER
from rules_scipy.shared.variances import f_density
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.noncentral")

chi2, f, t = _ufuncs._ncx2_pdf, _ufuncs._ncf_pdf, _ufuncs._nct_pdf
DF = {"df": PARAMETER}
DFS = {"dfn": PARAMETER, "dfd": PARAMETER}

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
rule.scalar(sp.chndtr, refuses=DF)(
    lambda x, df, nc: inside(x, nc, chi2(x, df, nc)),
    lambda x, df, nc: None,
    lambda x, df, nc: inside(x, nc, -chi2(x, df + 2, nc)),
)
rule.scalar(sp.chndtrix, refuses=DF)(
    lambda p, df, nc, out: 1 / chi2(out, df, nc),
    lambda p, df, nc, out: None,
    lambda p, df, nc, out: moved(out, chi2(out, df + 2, nc) / chi2(out, df, nc)),
)
rule.scalar(sp.chndtrinc, refuses=DF)(
    lambda x, df, p, out: found(out, chi2(x, df, out) / chi2(x, df + 2, out)),
    lambda x, df, p, out: None,
    lambda x, df, p, out: found(out, -1 / chi2(x, df + 2, out)),
)

# F: a mixture with Poisson weights
rule.scalar(sp.ncfdtr, refuses=DFS)(
    lambda dfn, dfd, nc, x: None,
    lambda dfn, dfd, nc, x: None,
    lambda dfn, dfd, nc, x: f_by_noncentrality(dfn, dfd, nc, x),
    lambda dfn, dfd, nc, x: inside(x, nc, density_of_f(x, dfn, dfd, nc)),
)
rule.scalar(sp.ncfdtri, refuses=DFS)(
    lambda dfn, dfd, nc, p, out: None,
    lambda dfn, dfd, nc, p, out: None,
    lambda dfn, dfd, nc, p, out: moved(
        out, -f_by_noncentrality(dfn, dfd, nc, out) / density_of_f(out, dfn, dfd, nc)
    ),
    lambda dfn, dfd, nc, p, out: 1 / density_of_f(out, dfn, dfd, nc),
)
rule.scalar(sp.ncfdtrinc, refuses=DFS)(
    lambda dfn, dfd, p, x, out: None,
    lambda dfn, dfd, p, x, out: None,
    lambda dfn, dfd, p, x, out: found(out, 1 / f_by_noncentrality(dfn, dfd, out, x)),
    lambda dfn, dfd, p, x, out: found(
        out, -density_of_f(x, dfn, dfd, out) / f_by_noncentrality(dfn, dfd, out, x)
    ),
)

# Student's t: dF/dnc is a density of one degree of freedom less
rule.scalar(sp.nctdtr, refuses=DF)(
    lambda df, nc, x: None,
    lambda df, nc, x: inside(x, nc, t_by_noncentrality(df, nc, x)),
    lambda df, nc, x: inside(x, nc, t(x, df, nc)),
)
rule.scalar(sp.nctdtrit, refuses=DF)(
    lambda df, nc, p, out: None,
    lambda df, nc, p, out: -t_by_noncentrality(df, nc, out) / t(out, df, nc),
    lambda df, nc, p, out: 1 / t(out, df, nc),
)
rule.scalar(sp.nctdtrinc, refuses=DF)(
    lambda df, p, x, out: None,
    lambda df, p, x, out: 1 / t_by_noncentrality(df, out, x),
    lambda df, p, x, out: -t(x, df, out) / t_by_noncentrality(df, out, x),
)


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
    if np.any(np.asarray(df) <= 1):
        raise NotImplementedError(
            "the noncentral t distribution has a derivative by `nc` for more than one degree of "
            "freedom only: let `nc` be constant (`stop_gradient`)"
        )
    factor = np.sqrt(2 / (df - 1)) * sp.poch((df - 1) / 2, 0.5)
    return -t(x * np.sqrt((df - 1) / df), df - 1, nc) / factor


def found(out, slope):
    """Return the slope of a noncentrality, 0 where SciPy's search has ended at the smallest."""
    return np.where(abs(out) < 1e-300, 0.0, slope)
