"""Calls that the rules of `rules_scipy.interpolate.cubics` are checked with."""

import numpy as np
from scipy import interpolate as si

from rules_scipy.interpolate.cubics import rule

X = np.array([0.0, 0.4, 0.9, 1.7, 2.0])
Y = np.cos(np.arange(5.0) ** 2)
rule.example(si.CubicHermiteSpline, X, Y, np.sin(Y))
rule.example(si.CubicSpline, X, Y)
rule.example(si.CubicSpline, X, np.stack([Y, Y**2]), axis=1, bc_type="natural")
rule.example(si.CubicSpline, X, Y, 0, ((1, 0.3), (2, 0.5)))
