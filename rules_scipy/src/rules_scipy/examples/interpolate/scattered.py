"""Calls that the rules of `rules_scipy.interpolate.scattered` are checked with.

Those of radial functions return what has no cotangent of its own: the tests compare with
differences.
"""

import numpy as np
from scipy import interpolate as si
from scipy.interpolate import _interpnd

from rules_scipy.interpolate.scattered import rule

SITES = np.array([[0.0, 0.1], [1.0, 0.0], [0.1, 1.2], [1.1, 0.9], [0.4, 0.5]])
VALUES = np.cos(np.arange(5.0) ** 2)
AT = np.array([[0.35, 0.2], [0.7, 0.4]])
COLUMNS = np.stack([VALUES, VALUES**2], axis=1)
rule.example(si.LinearNDInterpolator(SITES, VALUES), AT)
rule.example(si.LinearNDInterpolator(SITES, COLUMNS), AT[:, 0], 0.4)
rule.example(si.NearestNDInterpolator(SITES, COLUMNS), AT)
rule.example(si.NearestNDInterpolator, SITES, VALUES)
rule.example(si.CloughTocher2DInterpolator, SITES, COLUMNS)
rule.example(_interpnd._ndim_coords_from_arrays, (AT, 0.5))
rule.example(_interpnd._ndim_coords_from_arrays, AT[0], ndim=1)
