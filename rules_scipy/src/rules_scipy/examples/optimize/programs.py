"""Calls that the rules of `rules_scipy.optimize.programs` are checked with."""

import numpy as np
from scipy import optimize as so

from rules_scipy.optimize.programs import rule

A = np.cos(np.arange(12.0).reshape(4, 3) ** 2)
B = A @ np.array([1.0, -0.5, 0.3]) + 0.1 * np.sin(np.arange(4.0))
rule.example(so.nnls, A, B)
