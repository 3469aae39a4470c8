"""Calls that the rules of `rules_scipy.special.softmax` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.softmax import rule

X = np.array([[0.3, -1.2], [2.0, 0.4]])
for f in (sp.softmax, sp.log_softmax, sp.logsumexp):
    rule.example(f, X)
    rule.example(f, X, axis=-1)
    rule.example(f, X, 0)
rule.example(sp.logsumexp, X, axis=1, keepdims=True)
rule.example(sp.logsumexp, X, axis=1, return_sign=True)
for b in (np.array([0.7, 1.3]), np.array([[1.5], [0.2]]), np.array([[0.0], [1.3]])):
    rule.example(sp.logsumexp, X, 0, b)
rule.example(sp.logsumexp, X, None, X + 3.0)
rule.example(sp.logsumexp, X, 1, np.array([-3.0, 0.5]), return_sign=True)
rule.example(sp.logsumexp, X + 0.5j)
