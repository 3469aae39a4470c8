"""Calls that the rules of `rules_scipy.special.lambert` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.lambert import rule

rule.example(sp.lambertw, np.array([0.4, 2.3, -0.2]))
rule.example(sp.lambertw, np.array([0.4 + 0.5j, -2.3j]), 1)
rule.example(sp.lambertw, -0.2, k=-1)
rule.example(sp.wrightomega, np.array([-0.4, 2.3]))
rule.example(sp.wrightomega, np.array([-0.4 + 0.5j, 2.3j]))
