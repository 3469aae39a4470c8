"""Calls that the rules of `rules_base.numpy.ufuncs` are checked with."""

import numpy as np

from rules_base.numpy.ufuncs import rule

ENTIRE = (np.exp, np.exp2, np.expm1, np.sin, np.cos, np.tan, np.arctan, np.sinh, np.cosh, np.tanh)
for f in (*ENTIRE, np.arcsinh, np.arcsin, np.arccos, np.arctanh, np.log1p, np.sinc, np.i0):
    rule.example(f, 0.7)
    rule.example(f, np.array([[0.5, -0.3], [0.8, -0.9]]))
for f in (np.log, np.log2, np.log10, np.sqrt, np.cbrt):
    rule.example(f, 0.7)
    rule.example(f, np.array([0.5, 1.5, 20.0]))
for f in (np.exp, np.expm1, np.sin, np.cos, np.tan, np.sinh, np.cosh, np.tanh, np.sqrt, np.log):
    rule.example(f, np.array([0.5 - 0.3j, -0.8 + 0.4j]))
for f in (np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh, np.log1p, np.exp2):
    rule.example(f, np.array([0.5 - 0.3j, -0.8 + 0.4j]))
for f in (np.log2, np.log10):
    rule.example(f, np.array([0.5 - 0.3j, -0.8 + 0.4j]))
rule.example(np.arccosh, np.array([1.5, 3.0]))
for f in (np.logaddexp, np.logaddexp2, np.arctan2, np.hypot, np.maximum, np.minimum):
    rule.example(f, np.array([[0.5, -1.5, 2.0]]), np.array([[1.25], [-0.5]]))
    rule.example(f, 0.5, np.array([1.25, -0.5]))
for f in (np.fmax, np.fmin, np.copysign, np.nextafter, np.heaviside):
    rule.example(f, np.array([[0.5, -1.5, 2.0]]), np.array([[1.25], [-0.5]]))
for f in (np.deg2rad, np.radians, np.rad2deg, np.degrees, np.fabs, np.nan_to_num):
    rule.example(f, np.array([0.5, -30.0]))
