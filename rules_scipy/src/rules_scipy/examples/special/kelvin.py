"""Calls that the rules of `rules_scipy.special.kelvin` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.kelvin import rule

for f in (sp.ber, sp.bei, sp.ker, sp.kei, sp.berp, sp.beip, sp.kerp, sp.keip, sp.kelvin):
    rule.example(f, np.array([0.4, 2.3]))
