"""Densities and distribution functions that `scipy.stats` calls in compiled code."""

import numpy as np
from scipy import special as sp
from scipy.special import _ufuncs

from rules_scipy.shared.expansions import psi_difference
from rules_scipy.shared.incomplete import beta_by_first, beta_by_second, beta_density
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.stats")

rule.scalar(_ufuncs._beta_pdf)(
    lambda x, a, b, out: out * ((a - 1) / x - (b - 1) / (1 - x)),
    lambda x, a, b, out: out * (np.log(x) + psi_difference(a, b)),
    lambda x, a, b, out: out * (np.log1p(-x) + psi_difference(b, a)),
)
rule.scalar(_ufuncs._beta_ppf)(
    lambda p, a, b, out: 1 / beta_density(a, b, out, 1 - out),
    lambda p, a, b, out: -beta_by_first(a, b, out, 1 - out) / beta_density(a, b, out, 1 - out),
    lambda p, a, b, out: -beta_by_second(a, b, out, 1 - out) / beta_density(a, b, out, 1 - out),
)
# counts are integers
rule.scalar(_ufuncs._binom_pmf)(
    lambda k, n, p, out: (None, None, out * (k / p - (n - k) / (1 - p)))
)
rule.scalar(_ufuncs._binom_cdf)(
    lambda k, n, p: (None, None, -beta_density(np.floor(k) + 1, n - np.floor(k), p, 1 - p))
)
rule.scalar(_ufuncs._nbinom_pmf)(
    lambda k, n, p, out: None,
    lambda k, n, p, out: out * (sp.psi(k + n) - sp.psi(n) + np.log(p)),
    lambda k, n, p, out: out * (n / p - k / (1 - p)),
)
rule.scalar(_ufuncs._nbinom_cdf)(
    lambda k, n, p: None,
    lambda k, n, p: beta_by_first(n, np.floor(k) + 1, p, 1 - p),
    lambda k, n, p: beta_density(n, np.floor(k) + 1, p, 1 - p),
)
