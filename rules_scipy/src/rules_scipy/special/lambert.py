"""Lambert's W function (DLMF 4.13) and Wright's omega function."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.outputs import strong
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.lambert")

rule.scalar(sp.wrightomega)(lambda z, out: out / (1 + out))  # 4.13.14


@rule(sp.lambertw)
def _(z: Numeric, k=0, tol=1e-8):
    y = sp.lambertw(z, k, tol)

    def pullback(dy):
        with np.errstate(all="ignore"):
            slope = np.exp(-y) / (1 + y)  # 4.13.4
            return (project(strong(dy, slope), z),)

    return y, pullback
