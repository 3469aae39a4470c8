"""Calls that the rules of `rules_scipy.interpolate.fitpack` are checked with.

Tuples of knots, coefficients and a degree are not among them: the check would vary the degree. The
tests compare with differences.
"""

import numpy as np
from scipy import interpolate as si
from scipy.interpolate import _fitpack_impl

from rules_scipy.interpolate.fitpack import rule

X = np.array([0.0, 0.4, 0.9, 1.7, 2.0, 2.8, 3.1, 3.5])
Y = np.cos(np.arange(8.0) ** 2)
rule.example(_fitpack_impl.splrep, X, Y)
rule.example(_fitpack_impl.splrep, X, Y, k=2)
rule.example(si.InterpolatedUnivariateSpline, X, Y)
rule.example(si.LSQUnivariateSpline, X, Y, np.array([1.0, 2.5]))
