"""Spheroidal wave functions (DLMF 30), by the differential equation 30.2.1.

The radial functions of the second kind have no rule: SciPy's values of them differ from their own
derivatives in the first digits.
"""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.eigenvalues import mean_square
from rules_scipy.shared.outputs import several_outputs
from rules_scipy.shared.refusals import INTEGER, PARAMETER
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.spheroidal")

ORDERS = {"m": INTEGER, "n": INTEGER}
by_argument = {"refuses": {**ORDERS, "c": PARAMETER}}
with_value = {"refuses": {**ORDERS, "c": PARAMETER, "cv": PARAMETER}}

rule.scalar(sp.pro_cv, refuses=ORDERS)(
    lambda m, n, c, out: (None, None, 2 * c * mean_square(m, n, c * c, out))
)
rule.scalar(sp.obl_cv, refuses=ORDERS)(
    lambda m, n, c, out: (None, None, -2 * c * mean_square(m, n, -c * c, out))
)


def declare_sequence(f, sign):
    """Declare the characteristic values of the degrees from `m` to `n`."""

    @rule(f, refuses=ORDERS)
    def _(m: object, n: object, c: float):
        y = f(m, n, c)

        def by_c(dy):
            means = mean_square(m, np.arange(int(m), int(n) + 1), sign * c * c, y)
            return project(np.sum(dy * (2 * sign * c * means)), c)

        return y, (None, None, by_c)


declare_sequence(sp.pro_cv_seq, 1)
declare_sequence(sp.obl_cv_seq, -1)
several_outputs(rule, sp.pro_ang1, sp.pro_rad1, **by_argument)(
    None, None, None, lambda m, n, c, x, y: slopes(m, c * c, sp.pro_cv(m, n, c), x, y)
)
several_outputs(rule, sp.obl_ang1, **by_argument)(
    None, None, None, lambda m, n, c, x, y: slopes(m, -c * c, sp.obl_cv(m, n, c), x, y)
)
several_outputs(rule, sp.obl_rad1, **by_argument)(
    None, None, None, lambda m, n, c, x, y: imaginary(m, c * c, sp.obl_cv(m, n, c), x, y)
)
several_outputs(rule, sp.pro_ang1_cv, sp.pro_rad1_cv, **with_value)(
    None, None, None, None, lambda m, n, c, cv, x, y: slopes(m, c * c, cv, x, y)
)
several_outputs(rule, sp.obl_ang1_cv, **with_value)(
    None, None, None, None, lambda m, n, c, cv, x, y: slopes(m, -c * c, cv, x, y)
)
several_outputs(rule, sp.obl_rad1_cv, **with_value)(
    None, None, None, None, lambda m, n, c, cv, x, y: imaginary(m, c * c, cv, x, y)
)


def slopes(m, square, cv, x, y):
    """Return the derivatives of a function and its derivative, on the real axis."""
    rest = 1 - x * x
    return y[1], (2 * x * y[1] - (cv - square * x * x - m * m / rest) * y[0]) / rest


def imaginary(m, square, cv, x, y):
    """Return the derivatives of an oblate radial function, which is one of `i x`."""
    rest = 1 + x * x
    return y[1], (-2 * x * y[1] + (cv - square * x * x - m * m / rest) * y[0]) / rest
