"""Hypergeometric functions (DLMF 13, 15 and 16), by their argument."""

from scipy import special as sp

from rules_scipy.shared.expansions import piecewise
from rules_scipy.shared.refusals import PARAMETER
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.hypergeometric")

rule.scalar(sp.hyp0f1, refuses={"v": PARAMETER})(lambda v, z: (None, sp.hyp0f1(v + 1, z) / v))
rule.scalar(sp.hyp1f1, refuses={"a": PARAMETER, "b": PARAMETER})(  # 13.3.15
    lambda a, b, x: (None, None, a / b * sp.hyp1f1(a + 1, b + 1, x))
)
rule.scalar(sp.hyperu, refuses={"a": PARAMETER, "b": PARAMETER})(
    lambda a, b, x: (None, None, -a * raised(a, b, x))
)
rule.scalar(sp.hyp2f1, refuses={"a": PARAMETER, "b": PARAMETER, "c": PARAMETER})(  # 15.5.1
    lambda a, b, c, z: (None, None, None, a * b / c * sp.hyp2f1(a + 1, b + 1, c + 1, z))
)


def raised(a, b, x):
    """Return `hyperu(a + 1, b + 1, x)` (13.3.22), for negative `b` by Kummer's transformation."""

    def negative(x):  # where SciPy's function of these parameters has six digits (13.2.40)
        return x**-b * sp.hyperu(a - b + 1, 1 - b, x)

    def usual(x):
        return sp.hyperu(a + 1, b + 1, x)

    return piecewise(b < 0, (x,), negative, (1.0,), usual, (1.0,))
