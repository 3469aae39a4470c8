"""Calls that the rules of `rules_scipy.optimize.systems` are checked with."""

import numpy as np
from scipy import optimize as so

from rules_scipy.optimize.systems import rule

BEGIN = np.array([1.0, 1.0])
GIVEN = np.array([2.0, 3.0])


def system(x, c):
    """Return the residuals of two equations."""
    return np.array([x[0] ** 2 + x[1] - c[0], x[1] ** 3 - x[0] * c[1]])


def mapped(x, c):
    """Return a contraction."""
    return np.cos(0.3 * c * x)


rule.example(so.fsolve, system, BEGIN, (GIVEN,), xtol=1e-13)
rule.example(so.fixed_point, mapped, BEGIN, (GIVEN,), xtol=1e-13)
