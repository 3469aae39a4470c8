"""Noncentral distributions, by position, degrees of freedom and noncentrality."""

import numpy as np
from scipy import stats

from rules_scipy.shared.methods import of_both_sides, of_methods
from rules_scipy.shared.noncentral import (
    chi2_by_freedom,
    chi2_scores,
    f_by_freedoms,
    f_scores,
    t_by_freedom,
    t_by_noncentrality,
    t_density_slopes,
)
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.noncentral")
ncx2, ncf, nct = stats.ncx2, stats.ncf, stats.nct

of_methods(rule, ncx2, "_pdf")(
    lambda d, x, df, nc, y: y * chi2_scores(np.where(y > 0, x, 1.0), df, nc)[0],
    lambda d, x, df, nc, y: y * chi2_scores(np.where(y > 0, x, 1.0), df, nc)[1],
    lambda d, x, df, nc, y: y * chi2_scores(np.where(y > 0, x, 1.0), df, nc)[2],
)
of_methods(rule, ncx2, "_logpdf")(
    lambda d, x, df, nc, y: chi2_scores(x, df, nc)[0],
    lambda d, x, df, nc, y: chi2_scores(x, df, nc)[1],
    lambda d, x, df, nc, y: chi2_scores(x, df, nc)[2],
)
of_both_sides(rule, ncx2)(
    lambda d, x, df, nc, y: d._pdf(x, df, nc),
    lambda d, x, df, nc, y: chi2_by_freedom(x, df, nc),
    lambda d, x, df, nc, y: -d._pdf(x, df + 2, nc),
)

of_methods(rule, ncf, "_pdf")(
    lambda d, x, dfn, dfd, nc, y: y * f_scores(x, dfn, dfd, nc)[0],
    lambda d, x, dfn, dfd, nc, y: y * f_scores(x, dfn, dfd, nc)[1],
    lambda d, x, dfn, dfd, nc, y: y * f_scores(x, dfn, dfd, nc)[2],
    lambda d, x, dfn, dfd, nc, y: y * f_scores(x, dfn, dfd, nc)[3],
)
of_both_sides(rule, ncf)(
    lambda d, x, dfn, dfd, nc, y: d._pdf(x, dfn, dfd, nc),
    lambda d, x, dfn, dfd, nc, y: f_by_freedoms(x, dfn, dfd, nc, d._pdf(x, dfn, dfd, nc))[0],
    lambda d, x, dfn, dfd, nc, y: f_by_freedoms(x, dfn, dfd, nc, d._pdf(x, dfn, dfd, nc))[1],
    lambda d, x, dfn, dfd, nc, y: f_by_noncentrality(d, x, dfn, dfd, nc),
)

of_methods(rule, nct, "_pdf")(
    lambda d, x, df, nc, y: t_density_slopes(x, df, nc)[0],
    lambda d, x, df, nc, y: t_density_slopes(x, df, nc)[1],
    lambda d, x, df, nc, y: t_density_slopes(x, df, nc)[2],
)
of_both_sides(rule, nct)(
    lambda d, x, df, nc, y: d._pdf(x, df, nc),
    lambda d, x, df, nc, y: t_by_freedom(x, df, nc),
    lambda d, x, df, nc, y: t_by_noncentrality(x, df, nc),
)


def f_by_noncentrality(d, x, dfn, dfd, nc):
    """Return the derivative of the noncentral F distribution function by `nc`."""
    moved = d._cdf(np.asarray(x) * dfn / (dfn + 2), dfn + 2, dfd, nc)
    return (moved - d._cdf(x, dfn, dfd, nc)) / 2
