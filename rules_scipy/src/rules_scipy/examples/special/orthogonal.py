"""Calls that the rules of `rules_scipy.special.orthogonal` are checked with."""

import numpy as np
from scipy import special as sp

from rules_scipy.special.orthogonal import rule

X = np.array([-0.4, 0.3])
DEGREES = np.array([[0], [1], [4]])
for f in (sp.eval_legendre, sp.eval_chebyt, sp.eval_chebyu, sp.eval_chebyc, sp.eval_chebys):
    rule.example(f, DEGREES, X)
for f in (sp.eval_sh_legendre, sp.eval_sh_chebyt, sp.eval_sh_chebyu):
    rule.example(f, DEGREES, X + 0.5)
for f in (sp.eval_laguerre, sp.eval_hermite, sp.eval_hermitenorm):
    rule.example(f, DEGREES, X)
rule.example(sp.eval_jacobi, DEGREES, 1, 2, X)
rule.example(sp.eval_sh_jacobi, DEGREES, 3, 2, X + 0.5)
rule.example(sp.eval_gegenbauer, DEGREES, 2, X)
rule.example(sp.eval_genlaguerre, DEGREES, 2, X)
rule.example(sp.eval_legendre, 3, X + 0.4j)
