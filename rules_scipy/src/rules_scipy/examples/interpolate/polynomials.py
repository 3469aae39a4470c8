"""Calls that the rules of `rules_scipy.interpolate.polynomials` are checked with."""

import numpy as np
from scipy import interpolate as si

from rules_scipy.interpolate.polynomials import POWERS, rule

X = np.array([0.0, 0.7, 1.5, 2.9])
C = np.cos(np.arange(12.0).reshape(4, 3) ** 2)
AT = np.array([0.3, 1.1, 2.5, 3.2])
POLY, COLUMNS = POWERS(C, X), POWERS(np.stack([C, np.sin(C)]), X, axis=1)
rule.example(si.PPoly(C, X), AT)
rule.example(POLY, 1.2, nu=1)
rule.example(COLUMNS, AT.reshape(2, 2))
rule.example(si.PPoly(C, X, extrapolate="periodic"), AT, 0)
rule.example(POLY, AT[:3], 0, False)
rule.example(POWERS(C, X[::-1]), AT)
rule.example(POWERS(C + 1j, X), AT[:2])
rule.example(si.BPoly(C, X), AT)
rule.example(si.BPoly(C, X), AT, nu=2)
rule.example(POWERS.integrate, POLY, 0.2, 2.2)
rule.example(POWERS.integrate, COLUMNS, 2.2, -0.2)
rule.example(POWERS.integrate, POLY, 0.2, 9.2, "periodic")
rule.example(POWERS.integrate, POLY, 9.2, 2.2, extrapolate="periodic")
rule.example(POWERS.antiderivative, POLY)
rule.example(POWERS.antiderivative, COLUMNS, 3)
rule.example(POWERS.antiderivative, POLY, nu=-2)
rule.example(POWERS.solve, POLY, 0.1)
rule.example(POWERS.solve, POLY, extrapolate=False)
