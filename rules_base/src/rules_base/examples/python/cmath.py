"""Calls that the rules of `rules_base.python.cmath` are checked with."""

import cmath

from rules_base.python.cmath import rule

SINGLE = (
    cmath.exp,
    cmath.log,
    cmath.log10,
    cmath.sqrt,
    cmath.sin,
    cmath.cos,
    cmath.tan,
    cmath.asin,
)
SINGLE += (cmath.acos, cmath.atan, cmath.sinh, cmath.cosh, cmath.tanh, cmath.asinh, cmath.acosh)
for f in (*SINGLE, cmath.atanh, cmath.phase, cmath.polar):
    rule.example(f, 0.5 - 0.3j)
    rule.example(f, 0.5 if f is not cmath.acosh else 1.5)
rule.example(cmath.log, 0.5 - 0.3j, 2.0)
rule.example(cmath.rect, 0.5, 2.1)
