"""Calls that the rules of `rules_scipy.interpolate.grids` are checked with.

SciPy's own `make_ndbspl` keeps memory, and what it makes is not among them, nor are integrals: the
tests compare with differences.
"""

import numpy as np
from scipy import interpolate as si

from rules_scipy.interpolate.grids import rule

X, Y = np.array([0.0, 0.4, 0.9, 1.7, 2.0]), np.array([-1.0, -0.5, 0.3, 0.4])
Z = np.cos(np.arange(20.0).reshape(5, 4) ** 2)
AT = np.array([[0.3, -0.7], [1.1, 0.35], [1.8, 0.1]])
SURFACE = si.RectBivariateSpline(X, Y, Z, kx=3, ky=2)
rule.example(SURFACE, AT[:, 0], np.array([-0.7, 0.1]))
rule.example(SURFACE, AT[:, 0], -0.7, 1, 0, False)
rule.example(si.RectBivariateSpline, X, Y, Z)
