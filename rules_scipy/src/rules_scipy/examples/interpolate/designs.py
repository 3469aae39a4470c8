"""Calls that the rules of `rules_scipy.interpolate.designs` are checked with."""

import numpy as np
from scipy.interpolate import _dierckx

from rules_scipy.interpolate.designs import rule

KNOTS = np.array([-0.2, -0.1, 0.0, 0.1, 0.9, 1.4, 2.6, 3.0, 3.2, 3.9])
AT = np.array([0.3, 1.0, 2.5])
for k in (1, 2, 3):
    rule.example(_dierckx.data_matrix, AT, KNOTS, k, AT**2, False)
rule.example(_dierckx.data_matrix, np.array([-1.0, 1.0, 3.7]), KNOTS, 3, AT, True)
