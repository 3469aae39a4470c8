"""Airy functions (DLMF 9)."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import scaled_bessel_slope
from rules_scipy.shared.outputs import several_outputs
from rules_scipy.shared.refusals import refuse_complex
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.airy")

FAR = 16.0  # from here on by the expansions of Bessel functions

several_outputs(rule, sp.airy)(lambda z, y: (y[1], z * y[0], y[3], z * y[2]))  # 9.2.1
several_outputs(rule, sp.airye)(lambda z, y: airye_slopes(refuse_complex(sp.airye, z), *y))
several_outputs(rule, sp.itairy)(lambda x, y: itairy_slopes(x))  # 9.10
rule.constant(sp.ai_zeros, sp.bi_zeros)


def itairy_slopes(x):
    """Return the derivatives of the integrals of Ai and Bi from 0 to `x`, and down to `-x`."""
    ai, _, bi, _ = sp.airy(x)
    ai_left, _, bi_left, _ = sp.airy(-x)
    return ai, bi, ai_left, bi_left


def airye_slopes(z, ai, aip, bi, bip):
    """Return the derivatives of the scaled functions, far out by Bessel functions (9.6)."""
    positive = z > 0
    root = np.sqrt(np.where(positive, z, 0.0))
    near = (aip + root * ai, z * ai + root * aip, bip - root * bi, z * bi - root * bip)
    x = np.where(z > FAR, z, FAR)
    root = np.sqrt(x)
    zeta = 2 / 3 * x * root
    far = (
        ai * (0.5 / x + root * scaled_bessel_slope(1 / 3, zeta, 1)),  # 9.6.2
        aip * (1 / x + root * scaled_bessel_slope(2 / 3, zeta, 1)),
        bi * (0.5 / x + root * scaled_bessel_slope(1 / 3, zeta, -1)),
        bip * (1 / x + root * scaled_bessel_slope(2 / 3, zeta, -1)),
    )
    return tuple([np.where(z > FAR, f, n) for f, n in zip(far, near, strict=True)])
