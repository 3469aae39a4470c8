"""Partial derivatives of the activations, a line each.

At a kink the derivative is 0 where the function has an extremum, else the mean of both slopes.
A partial that computes with `x` itself first makes it `real`, for integers would overflow.
"""

import numpy as np

from rules_nnlib import _activations as of
from rules_nnlib._activations import (
    GELU_CUBIC,
    GELU_SATURATED,
    GELU_SLOPE,
    SATURATED,
    SELU_ALPHA,
    SELU_SCALE,
    elu,
    sigmoid,
    softplus,
    tanh_act,
)
from rules_nnlib._normal import normal_cdf, normal_pdf
from rules_nnlib._numbers import bounded, kink, real
from rulescore import RuleSet

rule = RuleSet("rules_nnlib", may_raise=False)


def smooth(*functions):
    """Declare partial derivatives without poles: they are finite wherever the arguments are."""
    return rule.scalar(*functions, poles=False)


def product(x, gate, slope):
    """Return the derivative of x * gate(x), where the gate's slope vanishes at infinity."""
    return gate + bounded(real(x), SATURATED) * slope


def swish_slope(x, gate):
    """Return the derivative of x * sigmoid(x)."""
    return product(x, gate, gate * (1 - gate))


def lisht_slope(x, gate):
    """Return the derivative of x * tanh(x)."""
    return product(x, gate, 1 - gate * gate)


def mish_slope(x, gate):
    """Return the derivative of x * tanh(softplus(x))."""
    return product(x, gate, (1 - gate * gate) * sigmoid(x))


def gelu_tanh_slope(x):
    """Return the derivative of x * sigmoid(s x (1 + c x²))."""
    x = bounded(x, GELU_SATURATED)
    gate = sigmoid(GELU_SLOPE * x * (1 + GELU_CUBIC * x * x))
    return product(x, gate, gate * (1 - gate) * GELU_SLOPE * (1 + 3 * GELU_CUBIC * x * x))


def celu_slopes(t):
    """Return the derivatives of alpha * expm1(t), with t = x / alpha, for x and for alpha."""
    return np.exp(t), np.expm1(t) - t * np.exp(t)


def hardswish_slope(x):
    """Return the derivative of x * (x + 3) / 6 between -3 and 3, and the mean of slopes at 3."""
    inside = np.where(x > -3, bounded(x, 3.0) / 3 + 0.5, 0.0)
    return np.where(x > 3, 1.0, np.where(x == 3, 1.25, inside))


def softsign_slope(x):
    """Return 1 / (1 + |x|)², without overflow."""
    root = 1 / (1 + abs(x))
    return root * root


smooth(of.sigmoid)(lambda x, out: out * (1 - out))
smooth(of.tanh_act)(lambda x, out: 1 - out * out)
rule.scalar(of.relu, chooses=True)(lambda x, out: out > 0)
rule.scalar(of.relu6, chooses=True)(lambda x, out: (out > 0) & (out < 6))
smooth(of.leakyrelu)(lambda x: kink(x, 0.01, 1.0))
smooth(of.leakyrelu)(lambda x, a: (kink(x, a, 1.0), np.minimum(real(x), 0.0)))
rule.scalar(of.trelu, chooses=True)(lambda x: x > 1)
smooth(of.trelu)(lambda x, theta: (x > theta, 0.0))
smooth(of.elu)(lambda x, out: np.minimum(out, 0.0) + 1)
smooth(of.elu)(
    lambda x, alpha: (kink(x, alpha * (np.minimum(elu(x), 0.0) + 1), 1.0), np.minimum(elu(x), 0.0))
)
smooth(of.selu)(lambda x, out: kink(x, out + SELU_SCALE * SELU_ALPHA, SELU_SCALE))
smooth(of.celu)(lambda x, out: np.minimum(out, 0.0) + 1)
rule.scalar(of.celu)(
    lambda x, alpha: celu_slopes(np.maximum(np.minimum(real(x), 0.0) / alpha, -SATURATED))
)
smooth(of.gelu)(lambda x: product(x, normal_cdf(x), normal_pdf(x)))
smooth(of.gelu_tanh)(lambda x: gelu_tanh_slope(real(x)))
smooth(of.swish)(lambda x: swish_slope(x, sigmoid(x)))
smooth(of.hardswish)(lambda x: hardswish_slope(real(x)))
smooth(of.hardsigmoid)(lambda x, out: ((out > 0) & (out < 1)) / 6)
rule.scalar(of.hardtanh, chooses=True)(lambda x, out: (out > -1) & (out < 1))
smooth(of.softplus)(lambda x: sigmoid(x))
smooth(of.logsigmoid)(lambda x: sigmoid(-real(x)))
smooth(of.softsign)(lambda x: softsign_slope(real(x)))
smooth(of.mish)(lambda x: mish_slope(x, tanh_act(softplus(x))))
smooth(of.tanhshrink)(lambda x: tanh_act(x) * tanh_act(x))
smooth(of.softshrink)(lambda x, out: out != 0)
smooth(of.softshrink)(lambda x, lam, out: (out != 0, -np.sign(out)))
smooth(of.lisht)(lambda x: lisht_slope(x, tanh_act(x)))
smooth(of.logcosh)(lambda x: tanh_act(x))

# what the partials above are made of, for the derivative of a derivative
smooth(normal_cdf)(lambda x: normal_pdf(x))
smooth(normal_pdf)(lambda x, out: bounded(-real(x), SATURATED) * out)

for activation in dict.fromkeys(r.function for r in rule.rules):
    rule.example(activation, 0.3)
    rule.example(activation, np.array([[-4.0, -0.7], [0.3, 2.0]]))
for activation in (of.leakyrelu, of.trelu, of.elu, of.celu, of.softshrink):
    rule.example(activation, np.array([-0.7, 0.2, 2.0]), 0.4)
