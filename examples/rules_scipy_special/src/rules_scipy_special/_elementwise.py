"""Partial derivatives of elementwise functions, a line each.

Source: the NIST Digital Library of Mathematical Functions, chapters 5 (gamma), 7 (error
functions) and 10 (Bessel functions).
"""

import math

import numpy as np
from scipy import special as sp

from rulescore import RuleSet

rule = RuleSet("rules_scipy_special")

SQRT_PI = math.sqrt(math.pi)
SQRT_2PI = math.sqrt(2 * math.pi)

# powers, exponentials and logarithms
rule.scalar(sp.cbrt)(lambda x, out: 1 / (3 * out * out))
rule.scalar(sp.exp2)(lambda x, out: math.log(2) * out)
rule.scalar(sp.exp10)(lambda x, out: math.log(10) * out)
rule.scalar(sp.expm1)(lambda x, out: out + 1)
rule.scalar(sp.log1p)(lambda x: 1 / (1 + x))
rule.scalar(sp.cosm1)(lambda x: -np.sin(x))
rule.scalar(sp.xlogy)(lambda x, y: (np.log(y), x / np.where(x == 0, 1, y)))
rule.scalar(sp.xlog1py)(lambda x, y: (np.log1p(y), x / np.where(x == 0, 1, 1 + y)))

# the logistic function
rule.scalar(sp.expit)(lambda x, out: out * (1 - out))
rule.scalar(sp.logit)(lambda x: 1 / (x * (1 - x)))
rule.scalar(sp.log_expit)(lambda x: sp.expit(-x))

# error functions and the normal distribution
rule.scalar(sp.erf)(lambda x: 2 / SQRT_PI * np.exp(-x * x))
rule.scalar(sp.erfc)(lambda x: -2 / SQRT_PI * np.exp(-x * x))
rule.scalar(sp.erfi)(lambda x: 2 / SQRT_PI * np.exp(x * x))
rule.scalar(sp.erfcx)(lambda x, out: 2 * x * out - 2 / SQRT_PI)
rule.scalar(sp.dawsn)(lambda x, out: 1 - 2 * x * out)
rule.scalar(sp.wofz)(lambda z, out: 2j / SQRT_PI - 2 * z * out)
rule.scalar(sp.erfinv)(lambda y, out: SQRT_PI / 2 * np.exp(out * out))
rule.scalar(sp.erfcinv)(lambda y, out: -SQRT_PI / 2 * np.exp(out * out))
rule.scalar(sp.ndtr)(lambda x: np.exp(-x * x / 2) / SQRT_2PI)
rule.scalar(sp.log_ndtr)(lambda x: 2 / SQRT_2PI / sp.erfcx(-x / math.sqrt(2)))
rule.scalar(sp.ndtri)(lambda p, out: SQRT_2PI * np.exp(out * out / 2))

# gamma and its relatives
rule.scalar(sp.gamma)(lambda x, out: out * sp.psi(x))
rule.scalar(sp.gammaln)(lambda x: sp.psi(x))
rule.scalar(sp.loggamma)(lambda z: sp.psi(z))
rule.scalar(sp.psi)(lambda x: sp.polygamma(1, x))
rule.scalar(sp.polygamma)(lambda n, x: (None, sp.polygamma(n + 1, x)))  # n is an integer
rule.scalar(sp.beta)(lambda a, b, out: beta_slopes(a, b, out))
rule.scalar(sp.betaln)(lambda a, b: beta_slopes(a, b, 1.0))

# Bessel functions
rule.scalar(sp.j0)(lambda x: -sp.j1(x))
rule.scalar(sp.j1)(lambda x: (sp.j0(x) - sp.jn(2, x)) / 2)
rule.scalar(sp.y0)(lambda x: -sp.y1(x))
rule.scalar(sp.y1)(lambda x: (sp.y0(x) - sp.yn(2, x)) / 2)
rule.scalar(sp.i0)(lambda x: sp.i1(x))
rule.scalar(sp.i1)(lambda x: (sp.i0(x) + sp.iv(2, x)) / 2)
rule.scalar(sp.i0e)(lambda x, out: sp.i1e(x) - np.sign(x) * out)
rule.scalar(sp.i1e)(lambda x, out: (sp.i0e(x) + sp.ive(2, x)) / 2 - np.sign(x) * out)
rule.scalar(sp.k0)(lambda x: -sp.k1(x))
rule.scalar(sp.k1)(lambda x: -(sp.k0(x) + sp.kn(2, x)) / 2)
rule.scalar(sp.k0e)(lambda x, out: out - sp.k1e(x))
rule.scalar(sp.k1e)(lambda x, out: out - (sp.k0e(x) + sp.kve(2, x)) / 2)

# exponential integrals
rule.scalar(sp.expi)(lambda x: np.exp(x) / x)
rule.scalar(sp.exp1)(lambda x: -np.exp(-x) / x)

# entropies and robust losses
rule.scalar(sp.entr)(lambda x: -np.log(x) - 1)
rule.scalar(sp.rel_entr)(lambda x, y: (np.log(x / y) + 1, -x / y))
rule.scalar(sp.kl_div)(lambda x, y: (np.log(x / y), 1 - x / y))
rule.scalar(sp.huber)(lambda d, r: (np.maximum(abs(r) - d, 0), np.clip(r, -d, d)))
rule.scalar(sp.pseudo_huber)(lambda d, r: pseudo_huber_slopes(d, r, np.hypot(1, r / d)))

rule.constant(sp.gammasgn, sp.round)


def beta_slopes(a, b, out):
    """Return both partial derivatives of beta(a, b), or with 1 for `out` of its logarithm."""
    total = sp.psi(a + b)
    return out * (sp.psi(a) - total), out * (sp.psi(b) - total)


def pseudo_huber_slopes(d, r, root):
    """Return both partial derivatives of d² (root - 1), where root is √(1 + (r / d)²)."""
    return 2 * d * (root - 1) - r / d * r / root, r / root


for f in (r.function for r in rule.rules if r.kind == "scalar" and len(r.types) == 1):
    rule.example(f, np.array([0.3, 0.8]))
for f in (sp.xlogy, sp.xlog1py, sp.beta, sp.betaln, sp.rel_entr, sp.kl_div):
    rule.example(f, np.array([[0.3], [0.8]]), np.array([0.4, 1.7]))
for f in (sp.huber, sp.pseudo_huber):
    rule.example(f, 0.7, np.array([-2.0, 0.3, 1.5]))
rule.example(sp.polygamma, 2, np.array([0.3, 1.7]))
