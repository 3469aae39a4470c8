"""Calls that the rules of `rules_scipy.interpolate.barycentric` are checked with."""

import numpy as np
from scipy import interpolate as si

from rules_scipy.interpolate.barycentric import rule

X = np.array([0.0, 0.4, 0.9, 1.7])
Y = np.cos(np.arange(4.0) ** 2)
AT = np.array([0.3, 0.4, 1.2])
POLYNOMIAL = si.BarycentricInterpolator(X, np.stack([Y, Y**2], axis=1))
rule.example(si.BarycentricInterpolator._evaluate, POLYNOMIAL, np.array([0.3, 1.2]))
rule.example(si.FloaterHormannInterpolator(X, Y), np.array([0.3, 1.2]))
rule.example(si.FloaterHormannInterpolator(X, np.stack([Y, Y**2]), axis=1), np.array([[0.3, 1.2]]))
