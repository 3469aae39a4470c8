"""Struve functions (DLMF 11), by their argument."""

import operator

from scipy import special as sp

from rules_scipy.shared.expansions import piecewise
from rules_scipy.shared.refusals import ORDER
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.struve")

rule.scalar(sp.struve, refuses={"v": ORDER})(
    lambda v, x, out: (None, sp.struve(v - 1, x) - over(v * out, x))  # 11.4.27
)
rule.scalar(sp.modstruve, refuses={"v": ORDER})(
    lambda v, x, out: (None, sp.modstruve(v - 1, x) - over(v * out, x))  # 11.4.29
)
rule.scalar(sp.itstruve0)(lambda x: sp.struve(0, x))
rule.scalar(sp.it2struve0)(lambda x: -sp.struve(0, x) / x)
rule.scalar(sp.itmodstruve0)(lambda x: sp.modstruve(0, x))


def over(y, x):
    """Return `y / x`, and 0 where `x` is 0, as `y` is there."""
    return piecewise(x == 0, (y, x), lambda y, x: 0.0, (0.0, 1.0), operator.truediv, (0.0, 1.0))
