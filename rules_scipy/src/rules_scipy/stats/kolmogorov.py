"""The distributions of Kolmogorov and Smirnov, by position."""

import numpy as np
from scipy import stats

from rules_scipy.shared.kolmogorov import kolmogorov_density_slope, smirnov_density_slope
from rules_scipy.shared.methods import of_both_sides, of_methods
from rules_scipy.shared.refusals import INTEGER
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.kolmogorov")
NO_DENSITY = "SciPy computes the density by several algorithms, of which no derivative is known"
sizes = {"refuses": {"n": INTEGER}}

of_methods(rule, stats.kstwobign, "_pdf")(lambda d, x, y: kolmogorov_density_slope(x))
of_both_sides(rule, stats.kstwobign)(lambda d, x, y: d._pdf(x))

of_methods(rule, stats.ksone, "_pdf", **sizes)(lambda d, x, n, y: smirnov_density_slope(x, n), None)
of_both_sides(rule, stats.ksone, **sizes)(lambda d, x, n, y: d._pdf(x, n), None)

of_methods(rule, stats.kstwo, "_pdf", refuses={"x": NO_DENSITY, "n": INTEGER})(None, None)
of_both_sides(rule, stats.kstwo, **sizes)(lambda d, x, n, y: two_sided_density(d, x, n), None)


def two_sided_density(d, x, n):
    """Return SciPy's density, which takes no empty arrays."""
    return d._pdf(x, n) if np.size(x) else np.zeros(np.shape(x))
