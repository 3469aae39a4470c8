"""Calls that the rules of `rules_scipy.special.stats` are checked with."""

import numpy as np
from scipy.special import _ufuncs

from rules_scipy.special.stats import rule

P, A, B = np.array([0.2, 0.7]), np.array([[1.4], [3.2]]), np.array([0.8, 2.5])
for f in (_ufuncs._beta_pdf, _ufuncs._beta_ppf):
    rule.example(f, P, A, B)
for f in (_ufuncs._binom_pmf, _ufuncs._binom_cdf):
    rule.example(f, 2, 5, P)
for f in (_ufuncs._nbinom_pmf, _ufuncs._nbinom_cdf):
    rule.example(f, 2, A, P)
