"""Mathieu functions (DLMF 28): by the differential equation, and their values by the parameter."""

import math

import numpy as np
from scipy import special as sp

from rules_scipy.shared.eigenvalues import mathieu_a_slope, mathieu_b_slope
from rules_scipy.shared.outputs import several_outputs
from rules_scipy.shared.refusals import INTEGER, PARAMETER
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.mathieu")

DEGREE = math.pi / 180

rule.scalar(sp.mathieu_a, refuses={"m": INTEGER})(
    lambda m, q, out: (None, mathieu_a_slope(m, q, out))
)
rule.scalar(sp.mathieu_b, refuses={"m": INTEGER})(
    lambda m, q, out: (None, mathieu_b_slope(m, q, out))
)

by_argument = {"refuses": {"m": INTEGER, "q": PARAMETER}}
several_outputs(rule, sp.mathieu_cem, **by_argument)(
    None, None, lambda m, q, x, y: angular(sp.mathieu_a(m, q), q, x, y)
)
several_outputs(rule, sp.mathieu_sem, **by_argument)(
    None, None, lambda m, q, x, y: angular(sp.mathieu_b(m, q), q, x, y)
)
several_outputs(rule, sp.mathieu_modcem1, sp.mathieu_modcem2, **by_argument)(
    None, None, lambda m, q, x, y: radial(sp.mathieu_a(m, q), q, x, y)
)
several_outputs(rule, sp.mathieu_modsem1, sp.mathieu_modsem2, **by_argument)(
    None, None, lambda m, q, x, y: radial(sp.mathieu_b(m, q), q, x, y)
)


def angular(a, q, x, y):
    """Return the derivatives by an angle in degrees of what is a derivative in radians (28.2.1)."""
    return y[1] * DEGREE, -(a - 2 * q * np.cos(2 * DEGREE * x)) * y[0] * DEGREE


def radial(a, q, x, y):
    """Return the derivatives of a modified function and its derivative (28.20.1)."""
    return y[1], (a - 2 * q * np.cosh(2 * x)) * y[0]
