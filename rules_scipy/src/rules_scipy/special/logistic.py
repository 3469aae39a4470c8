"""The logistic function, and Box-Cox transforms."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import exprel_slope, piecewise, power_slope
from rulescore import RuleSet

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.logistic")

rule.scalar(sp.expit)(lambda x, out: out * sp.expit(-x))
rule.scalar(sp.logit)(lambda p: 1 / (p * (1 - p)))
rule.scalar(sp.log_expit)(lambda x: sp.expit(-x))
if hasattr(sp, "softplus"):
    rule.scalar(sp.softplus)(lambda x: sp.expit(x))

rule.scalar(sp.boxcox)(
    lambda x, lmbda: x ** (lmbda - 1),
    lambda x, lmbda: boxcox_by_power(np.log(x), lmbda),
)
rule.scalar(sp.boxcox1p)(
    lambda x, lmbda: np.exp((lmbda - 1) * np.log1p(x)),
    lambda x, lmbda: boxcox_by_power(np.log1p(x), lmbda),
)
rule.scalar(sp.inv_boxcox)(
    lambda x, lmbda, out: out / (1 + lmbda * x),
    lambda x, lmbda, out: out * x * x * power_slope(lmbda * x),
)
rule.scalar(sp.inv_boxcox1p)(  # where it is nearly -1, one more has lost its digits
    lambda x, lmbda: sp.inv_boxcox(x, lmbda) / (1 + lmbda * x),
    lambda x, lmbda: sp.inv_boxcox(x, lmbda) * x * x * power_slope(lmbda * x),
)


def boxcox_by_power(log, lmbda):
    """Return the derivative of `(exp(lmbda * log) - 1) / lmbda` by `lmbda`, of zero too."""

    def of_zero(log, lmbda):
        return 1 / lmbda**2

    def usual(log, lmbda):
        return log * log * exprel_slope(lmbda * log)

    zero = (log == -np.inf) & (lmbda > 0)
    return piecewise(zero, (log, lmbda), of_zero, (0.0, 1.0), usual, (0.0, 1.0))
