"""Entropies, divergences and robust losses."""

import numpy as np
from scipy import special as sp

from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.information")

rule.scalar(sp.entr)(lambda x: -np.log(x) - 1)
rule.scalar(sp.rel_entr)(lambda x, y: np.log(x / y) + 1, lambda x, y: -x / y)
rule.scalar(sp.kl_div)(lambda x, y: np.log(x / y), lambda x, y: 1 - x / y)
rule.scalar(sp.huber)(
    lambda delta, r: np.maximum(abs(r) - delta, 0),
    lambda delta, r: np.clip(r, -delta, delta),
)
rule.scalar(sp.pseudo_huber)(
    lambda delta, r: pseudo_huber_by_delta(delta, r, np.hypot(delta, r)),
    lambda delta, r: r * delta / no_zero(np.hypot(delta, r)),
)


def pseudo_huber_by_delta(delta, r, size):
    """Return the derivative of `delta * (size - delta)` by `delta`; `size` is their hypotenuse."""
    ratio = r / no_zero(size + delta)
    return r * ratio * ratio * (r / no_zero(size))


def no_zero(x):
    """Return `x` with its zeros replaced by ones."""
    return x + (x == 0)
