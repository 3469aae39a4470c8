"""Calls that the rules of `rules_scipy.interpolate.splines` are checked with."""

import numpy as np
from scipy import interpolate as si

from rules_scipy.interpolate.splines import INNER, rule

X = np.array([0.0, 0.4, 0.9, 1.7, 2.0, 2.8, 3.1, 3.5])
Y = np.cos(np.arange(8.0) ** 2)
KNOTS = np.array([-0.2, -0.1, 0.0, 0.1, 0.9, 1.4, 2.6, 3.0, 3.2, 3.9])
C = np.sin(np.arange(6.0) ** 2)
AT = np.array([0.3, 1.1, 2.5, 2.9])
SPLINE = INNER(KNOTS, C, 3)
ENDS = ([(1, 0.3)], [(2, -0.1)])
rule.example(si.BSpline(KNOTS, C, 3), AT)
rule.example(SPLINE, AT.reshape(2, 2), nu=1)
rule.example(SPLINE, 3.4)
rule.example(SPLINE, 3.4, 0, "periodic")
rule.example(INNER(KNOTS[:-1], np.stack([C, C**2]), 2, axis=1), AT)
rule.example(INNER(KNOTS, C + 1j, 3), AT, nu=2)
rule.example(INNER.integrate, SPLINE, 0.2, 2.2)
rule.example(INNER.integrate, SPLINE, 4.2, 0.2, False)
rule.example(INNER.integrate, SPLINE, 0.2, 9.2, extrapolate="periodic")
rule.example(si.make_interp_spline, X, Y)
rule.example(si.make_interp_spline, X, np.stack([Y, Y**2]), k=2, axis=1)
rule.example(si.make_interp_spline, X, Y, 1)
rule.example(si.make_interp_spline, X, Y, 5)
rule.example(si.make_interp_spline, X, Y, bc_type="natural")
rule.example(si.make_interp_spline, X, Y, bc_type=ENDS)
rule.example(si.make_interp_spline, X, Y, 3, np.r_[0, 0, 0, 0, 1, 1.6, 2.1, 2.5, [3.5] * 4])
