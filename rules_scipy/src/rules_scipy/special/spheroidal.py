"""Spheroidal wave functions (DLMF 30), by the differential equation 30.2.1.

The radial functions of the second kind have no rule: SciPy's values of them differ from their own
derivatives in the first digits.
"""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.outputs import several_outputs
from rules_scipy.shared.refusals import INTEGER, PARAMETER
from rulescore import RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.spheroidal")

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(64)
ORDERS = {"m": INTEGER, "n": INTEGER}
by_argument = {"refuses": {**ORDERS, "c": PARAMETER}}
with_value = {"refuses": {**ORDERS, "c": PARAMETER, "cv": PARAMETER}}

rule.scalar(sp.pro_cv, refuses=ORDERS)(
    lambda m, n, c: (None, None, 2 * c * mean_square(sp.pro_ang1, m, n, c))
)
rule.scalar(sp.obl_cv, refuses=ORDERS)(
    lambda m, n, c: (None, None, -2 * c * mean_square(sp.obl_ang1, m, n, c))
)


def declare_sequence(f, angular, sign):
    """Declare the characteristic values of the degrees from `m` to `n`."""

    @rule(f, refuses=ORDERS)
    def _(m: object, n: object, c: float):
        def by_c(dy):
            means = [mean_square(angular, m, k, c) for k in range(int(m), int(n) + 1)]
            return project(np.sum(dy * (2 * sign * c * np.array(means))), c)

        return f(m, n, c), (None, None, by_c)


declare_sequence(sp.pro_cv_seq, sp.pro_ang1, 1)
declare_sequence(sp.obl_cv_seq, sp.obl_ang1, -1)
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


def mean_square(f, m, n, c):
    """Return the mean of `x**2`, weighted by the square of an angular function."""
    square = f(*(np.expand_dims(x, -1) for x in (m, n, c)), POINTS)[0] ** 2
    return square @ (WEIGHTS * POINTS**2) / (square @ WEIGHTS)
