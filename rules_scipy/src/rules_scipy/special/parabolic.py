"""Parabolic cylinder functions (DLMF 12), by the differential equation 12.2.4."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.outputs import several_outputs
from rules_scipy.shared.refusals import INTEGER, ORDER, PARAMETER
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.parabolic")

several_outputs(rule, sp.pbdv, sp.pbvv, refuses={"v": ORDER})(
    None, lambda v, x, y: (y[1], (x * x / 4 - v - 0.5) * y[0])
)
several_outputs(rule, sp.pbwa, refuses={"a": PARAMETER})(  # 12.14.2
    None, lambda a, x, y: (y[1], (a - x * x / 4) * y[0])
)


def sequence_pullback(y, first, x):
    """Return the pullback of functions of orders that rise by one, and their derivatives."""

    def pullback(dy):
        orders = first + np.arange(len(y[0]))
        slopes = (y[1], (x * x / 4 - orders - 0.5) * y[0])
        given = zip(dy, slopes, strict=True)
        parts = [np.sum(d * slope) for d, slope in given if d is not None]
        return project(sum(parts), x) if parts else None

    return pullback


def declare_sequence(f, order):
    """Declare a function that returns a sequence of orders and one of derivatives.

    It is for real arguments only: for complex ones SciPy's values are wrong.
    """

    @rule(f, refuses={"n": order})
    def _(n: object, x: float):
        y = f(n, x)
        first = n - np.trunc(n) if f is not sp.pbdn_seq else 0
        return y, (None, sequence_pullback(y, first, x))


declare_sequence(sp.pbdv_seq, ORDER)
declare_sequence(sp.pbvv_seq, ORDER)
declare_sequence(sp.pbdn_seq, INTEGER)
