"""Calls that the rules of `rules_base.python.math` are checked with."""

import math

import numpy as np

from rules_base.python.math import rule

for f in (math.sqrt, math.cbrt, math.log, math.log2, math.log10, math.lgamma, math.gamma):
    rule.example(f, 0.7)
    rule.example(f, 2.9)
for f in (math.exp, math.exp2, math.expm1, math.log1p, math.sin, math.cos, math.tan, math.asin):
    rule.example(f, -0.6)
for f in (math.acos, math.atan, math.sinh, math.cosh, math.tanh, math.asinh, math.atanh, math.erf):
    rule.example(f, -0.6)
for f in (math.erfc, math.fabs, math.degrees, math.radians):
    rule.example(f, -0.6)
rule.example(math.acosh, 1.7)
rule.example(math.gamma, -1.4)
rule.example(math.log, 0.7, 3.0)
rule.example(math.pow, 0.7, -1.3)
rule.example(math.atan2, 0.3, -0.4)
rule.example(math.copysign, 0.3, -0.4)
rule.example(math.fmod, 7.3, -2.4)
rule.example(math.remainder, 7.3, -2.4)
rule.example(math.ldexp, 0.3, 4)
rule.example(math.nextafter, 0.3, 1.0)
rule.example(math.hypot, 0.3, -0.4, 1.2)
rule.example(math.dist, [0.3, 0.5], [1.5, -0.2])
rule.example(math.modf, -1.7)
rule.example(math.frexp, 3.7)
rule.example(math.fsum, [0.3, 0.5, -1.5])
rule.example(math.fsum, np.array([0.3, 0.5, -1.5]))
rule.example(math.dist, np.array([0.3, 0.5]), np.array([1.5, -0.2]))
rule.example(math.prod, [0.3, 0.5, -1.5])
rule.example(math.prod, (0.3, 0.0, -1.5), start=2.0)
if hasattr(math, "fma"):
    rule.example(math.fma, 0.3, 0.5, 0.9)
if hasattr(math, "sumprod"):
    rule.example(math.sumprod, [0.3, 0.5], (1.5, -0.2))
