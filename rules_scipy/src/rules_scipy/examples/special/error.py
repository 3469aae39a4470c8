"""Calls that the rules of `rules_scipy.special.error` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.error import rule

REAL = np.array([-1.3, 0.4, 2.1])
COMPLEX = np.array([0.3 + 0.4j, -1.2 + 0.7j])
for f in (sp.erf, sp.erfc, sp.erfi, sp.erfcx, sp.dawsn):
    rule.example(f, REAL)
    rule.example(f, COMPLEX)
rule.example(sp.wofz, COMPLEX)
rule.example(sp.erfcx, np.array([14.0, -3.0]))
rule.example(sp.dawsn, np.array([14.0, -14.0]))
rule.example(sp.erfinv, np.array([-0.3, 0.8]))
rule.example(sp.erfcinv, np.array([0.3, 1.8]))
rule.example(sp.voigt_profile, REAL, np.array([[0.5], [1.2]]), 0.7)
for f in (sp.modfresnelp, sp.modfresnelm):
    rule.example(f, np.array([0.4, 2.1]))
rule.example(sp.fresnel, REAL)
rule.example(sp.fresnel, COMPLEX)
for f in (sp.ndtr, sp.log_ndtr):
    rule.example(f, REAL)
    rule.example(f, COMPLEX)
rule.example(sp.ndtri, np.array([0.2, 0.9]))
rule.example(sp.ndtri_exp, np.array([-0.4, -30.0]))
rule.example(sp.owens_t, REAL, np.array([[0.5], [-1.2]]))
