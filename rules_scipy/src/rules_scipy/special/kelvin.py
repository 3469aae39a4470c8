"""Kelvin functions (DLMF 10.61); their derivatives by the differential equation (10.61.3)."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.outputs import several_outputs
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.kelvin")

rule.scalar(sp.ber)(lambda x: sp.berp(x))
rule.scalar(sp.bei)(lambda x: sp.beip(x))
rule.scalar(sp.ker)(lambda x: sp.kerp(x))
rule.scalar(sp.kei)(lambda x: sp.keip(x))
rule.scalar(sp.berp)(lambda x, out: -sp.bei(x) - np.where(x == 0, 0.0, out / x))
rule.scalar(sp.beip)(lambda x, out: sp.ber(x) - np.where(x == 0, 0.5, out / x))
rule.scalar(sp.kerp)(lambda x, out: -sp.kei(x) - out / x)
rule.scalar(sp.keip)(lambda x, out: sp.ker(x) - out / x)
several_outputs(rule, sp.kelvin)(lambda x, y: kelvin_slopes(x, *y))
rule.constant(sp.ber_zeros, sp.bei_zeros, sp.berp_zeros, sp.beip_zeros, sp.kelvin_zeros)
rule.constant(sp.ker_zeros, sp.kei_zeros, sp.kerp_zeros, sp.keip_zeros)


def kelvin_slopes(x, be, ke, bep, kep):
    """Return the derivatives of `ber + i bei`, `ker + i kei` and their derivatives."""
    ratio = np.where(x == 0, 0.5j, bep / np.where(x == 0, 1.0, x))
    return bep, kep, 1j * be - ratio, 1j * ke - kep / x
