"""The gamma and beta functions and their kin (DLMF 5 and 8)."""

import numpy as np
from scipy import special as sp

from rules_scipy.shared.expansions import (
    digamma,
    is_pole,
    piecewise,
    psi_difference,
    rgamma_slope,
    trigamma,
)
from rules_scipy.shared.incomplete import (
    beta_by_first,
    beta_by_second,
    beta_density,
    beta_quantile_by_first,
    beta_quantile_slope,
    gamma_by_shape,
    gamma_density,
    gamma_quantile_by_shape,
    gamma_quantile_slope,
)
from rules_scipy.shared.refusals import INTEGER
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.special.gamma")

rule.scalar(sp.gamma)(lambda z, out: out * digamma(z))  # 5.2.2
rule.scalar(sp.gammaln)(lambda x: digamma(x))
rule.scalar(sp.loggamma)(lambda z: digamma(z))
rule.scalar(sp.rgamma)(lambda z, out: rgamma_slope(z, out))
rule.scalar(sp.psi)(lambda z: trigamma(z))  # 5.15.1
rule.scalar(sp.polygamma, refuses={"n": INTEGER})(lambda n, x: (None, sp.polygamma(n + 1, x)))
rule.constant(sp.gammasgn)

rule.scalar(sp.beta)(
    lambda a, b, out: beta_slope(a, b, out),  # 5.12.1
    lambda a, b, out: beta_slope(b, a, out),
)
rule.scalar(sp.betaln)(lambda a, b: betaln_slope(a, b), lambda a, b: betaln_slope(b, a))
rule.scalar(sp.poch)(
    lambda z, m, out: poch_by_base(z, m, out),  # 5.2.5
    lambda z, m, out: out * digamma(z + m),
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
    lambda a, y, out: gamma_quantile_by_shape(a, out),
    lambda a, y, out: gamma_quantile_slope(a, y, out),
)
rule.scalar(sp.gammainccinv)(
    lambda a, y, out: gamma_quantile_by_shape(a, out),
    lambda a, y, out: -gamma_quantile_slope(a, 1 - y, out),
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
    lambda a, b, y, out: beta_quantile_slope(a, b, y, out, sp.betainccinv(b, a, y)),
)
rule.scalar(sp.betainccinv)(
    lambda a, b, y, out: beta_quantile_by_first(a, b, out, sp.betaincinv(b, a, y)),
    lambda a, b, y, out: -beta_quantile_by_first(b, a, sp.betaincinv(b, a, y), out),
    lambda a, b, y, out: -beta_quantile_slope(a, b, 1 - y, out, sp.betaincinv(b, a, y)),
)


def beta_slope(a, b, out):
    """Return the derivative of `beta(a, b)` by `a`, also where its denominator has a pole."""
    return piecewise(a + b < 0.5, (a, b, out), _beta_slope_on_the_left, (-0.2, -0.2, 1.0),
                     _beta_slope, (1.0, 1.0, 1.0))  # fmt: skip


def _beta_slope(a, b, out):
    return -out * psi_difference(a, b)


def _beta_slope_on_the_left(a, b, out):
    """Return the same: beside a pole of the denominator SciPy's value has lost its digits."""
    total = a + b
    near = (abs(total - np.round(total)) < 1e-3) & (abs(a) + abs(b) < 150)

    def beside_pole(a, b, out):
        total = a + b
        rest = sp.rgamma(total)
        slope = sp.gamma(a) * sp.gamma(b) * (digamma(a) * rest + rgamma_slope(total, rest))
        both = np.where(is_pole(a) & is_pole(total), out * of_both_poles(a, b), slope)
        return np.where(is_pole(b) & is_pole(total), np.nan, both)

    return piecewise(near, (a, b, out), beside_pole, (0.5, -0.5, 0.0), _beta_slope, (1.0, 1.0, 1.0))


def betaln_slope(a, b):
    """Return the derivative of `betaln(a, b)` by `a`, also at poles of `gamma` that cancel."""

    def on_the_left(a, b):
        both = is_pole(a) & is_pole(a + b)
        return piecewise(both, (a, b), of_both_poles, (-1.0, 1.0), usual, (1.0, 1.0))

    def usual(a, b):
        return -psi_difference(a, b)

    return piecewise(a + b < 0.5, (a, b), on_the_left, (-1.0, 1.0), usual, (1.0, 1.0))


def of_both_poles(a, b):
    """Return the limit of `psi(a) - psi(a + b)` at poles of both (5.5.4)."""
    return sp.psi(1 - a) - sp.psi(1 - a - b)


def poch_by_base(z, m, out):
    """Return the derivative of `gamma(z + m) / gamma(z)` by `z`, at poles of both too."""
    pole, both = is_pole(z), is_pole(z) & is_pole(z + m)
    x, h = np.where(pole, 1.0, z), np.where(pole, 1.0, m)
    usual = out * psi_difference(x, h)
    # at a pole of the denominator alone, the value is zero and the slope is not
    above, below = np.where(pole & ~both, z + m, 1.0), sp.rgamma(z)
    at_pole = sp.gamma(above) * (rgamma_slope(z, below) + digamma(above) * below)
    reflected = out * (sp.psi(np.where(both, 1 - z - m, 1.0)) - sp.psi(np.where(both, 1 - z, 1.0)))
    return np.where(both, reflected, np.where(pole, at_pole, usual))


@rule(sp.multigammaln, refuses={"d": INTEGER})
def _(a: Numeric, d: object):
    def by_a(dy):
        halves = np.arange(d) / 2
        return project(dy * np.sum(digamma(np.expand_dims(a, -1) - halves), axis=-1), a)

    return sp.multigammaln(a, d), (by_a, None)
