"""The gamma and beta functions and their kin (DLMF 5 and 8)."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import is_pole, psi_difference, rgamma_slope, trigamma
from rules_scipy.shared.incomplete import (
    beta_by_first,
    beta_by_second,
    beta_density,
    beta_quantile_by_first,
    gamma_by_shape,
    gamma_density,
)
from rules_scipy.shared.refusals import INTEGER
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.gamma")

rule.scalar(sp.gamma)(lambda z, out: out * sp.psi(z))  # 5.2.2
rule.scalar(sp.gammaln)(lambda x: sp.psi(x))
rule.scalar(sp.loggamma)(lambda z: sp.psi(z))
rule.scalar(sp.rgamma)(lambda z, out: rgamma_slope(z, out))
rule.scalar(sp.psi)(lambda z: trigamma(z))  # 5.15.1
rule.scalar(sp.polygamma, refuses={"n": INTEGER})(lambda n, x: (None, sp.polygamma(n + 1, x)))
rule.constant(sp.gammasgn)

rule.scalar(sp.beta)(
    lambda a, b, out: -out * psi_difference(a, b),  # 5.12.1
    lambda a, b, out: -out * psi_difference(b, a),
)
rule.scalar(sp.betaln)(lambda a, b: -psi_difference(a, b), lambda a, b: -psi_difference(b, a))
rule.scalar(sp.poch)(
    lambda z, m, out: poch_by_base(z, m, out),  # 5.2.5
    lambda z, m, out: out * sp.psi(z + m),
)

# incomplete gamma functions, and their inverses
rule.scalar(sp.gammainc)(
    lambda a, x: gamma_by_shape(a, x),
    lambda a, x: gamma_density(a, x),  # 8.8.13
)
rule.scalar(sp.gammaincc)(
    lambda a, x: -gamma_by_shape(a, x),
    lambda a, x: -gamma_density(a, x),  # 8.8.14
)
rule.scalar(sp.gammaincinv)(
    lambda a, y, out: quantile_by_shape(a, out),
    lambda a, y, out: 1 / gamma_density(a, out),
)
rule.scalar(sp.gammainccinv)(
    lambda a, y, out: quantile_by_shape(a, out),
    lambda a, y, out: -1 / gamma_density(a, out),
)

# incomplete beta functions, and their inverses: the other inverse is 1 less the quantile (8.17.4)
rule.scalar(sp.betainc)(
    lambda a, b, x: beta_by_first(a, b, x, 1 - x),
    lambda a, b, x: beta_by_second(a, b, x, 1 - x),
    lambda a, b, x: beta_density(a, b, x, 1 - x),
)
rule.scalar(sp.betaincc)(
    lambda a, b, x: -beta_by_first(a, b, x, 1 - x),
    lambda a, b, x: -beta_by_second(a, b, x, 1 - x),
    lambda a, b, x: -beta_density(a, b, x, 1 - x),
)
rule.scalar(sp.betaincinv)(
    lambda a, b, y, out: beta_quantile_by_first(a, b, out, sp.betainccinv(b, a, y)),
    lambda a, b, y, out: -beta_quantile_by_first(b, a, sp.betainccinv(b, a, y), out),
    lambda a, b, y, out: 1 / beta_density(a, b, out, sp.betainccinv(b, a, y)),
)
rule.scalar(sp.betainccinv)(
    lambda a, b, y, out: beta_quantile_by_first(a, b, out, sp.betaincinv(b, a, y)),
    lambda a, b, y, out: -beta_quantile_by_first(b, a, sp.betaincinv(b, a, y), out),
    lambda a, b, y, out: -1 / beta_density(a, b, out, sp.betaincinv(b, a, y)),
)


def poch_by_base(z, m, out):
    """Return the derivative of `gamma(z + m) / gamma(z)` by `z`, at poles of both too."""
    pole, both = is_pole(z), is_pole(z) & is_pole(z + m)
    x, h = np.where(pole, 1.0, z), np.where(pole, 1.0, m)
    usual = out * psi_difference(x, h)
    # at a pole of the denominator alone, the value is zero and the slope is not
    above, below = np.where(pole & ~both, z + m, 1.0), sp.rgamma(z)
    at_pole = sp.gamma(above) * (rgamma_slope(z, below) + sp.psi(above) * below)
    reflected = out * (sp.psi(np.where(both, 1 - z - m, 1.0)) - sp.psi(np.where(both, 1 - z, 1.0)))
    return np.where(both, reflected, np.where(pole, at_pole, usual))


@rule(sp.multigammaln, refuses={"d": INTEGER})
def _(a: Numeric, d: object):
    def by_a(dy):
        halves = np.arange(d) / 2
        return project(dy * np.sum(sp.psi(np.expand_dims(a, -1) - halves), axis=-1), a)

    return sp.multigammaln(a, d), (by_a, None)


def quantile_by_shape(a, x):
    """Return the derivative of the quantile `x` by the shape; at the lower end it stays 0."""
    slope = -gamma_by_shape(a, x) / gamma_density(a, x)
    return np.where(x == 0, 0.0, slope)
