"""Activation functions, under the names and with the formulas of NNlib.

All are elementwise, for real numbers and arrays: a Python number gives a Python float, an array
keeps its precision, integers count as float64. All are finite, and free of warnings, wherever the
exact result is a finite number of that precision. Parameters such as the slope `a` of `leakyrelu`
are arguments like any other: numbers or arrays that broadcast, with a gradient.
"""

import math

import numpy as np

from rules_nnlib._normal import normal_cdf
from rules_nnlib._numbers import bounded, elementwise, plain, real

SELU_SCALE = 1.0507009873554804934193349852946
SELU_ALPHA = 1.6732632423543772848170429916717
SATURATED = 800.0  # beyond it exp(-x) is 0 in double precision
GELU_SATURATED = 30.0  # beyond it `gelu_tanh` is 0 or x
GELU_SLOPE = math.sqrt(8 / math.pi)
GELU_CUBIC = 0.044715


def sigmoid(x):
    """Return 1 / (1 + exp(-x)), the logistic function.

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers.
    """
    if type(x) is float:
        t = math.exp(-abs(x))
        return t / (1 + t) if x < 0 else 1 / (1 + t)
    a = real(x)
    t = np.exp(-abs(a))
    return plain(np.where(a < 0, t, 1.0) / (1 + t), x)


def tanh_act(x):
    """Return tanh(x).

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers. (NNlib's `tanh`.)
    """
    if type(x) is float:
        return math.tanh(x)
    return plain(np.tanh(real(x)), x)


def relu(x):
    """Return max(x, 0), the rectified linear unit.

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers. (Nair and Hinton, 2010.)
    """
    if type(x) is float:
        return 0.0 if x <= 0.0 else x
    return plain(np.maximum(real(x), 0.0), x)


@elementwise
def relu6(x):
    """Return min(max(x, 0), 6), the rectified linear unit capped at 6 (Krizhevsky, 2010).

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers.
    """
    return np.clip(x, 0.0, 6.0)


def leakyrelu(x, a=0.01):
    """Return x where x > 0, else a * x.

    Arguments:
        x: a real number, or a real array.
        a: the slope for x < 0, a real number or array that broadcasts with `x`.

    Raises `TypeError` for complex numbers. (Maas, Hannun and Ng, 2013.)
    """
    r = real(x)
    return plain(np.maximum(r, 0.0) + real(a) * np.minimum(r, 0.0), x, a)


def trelu(x, theta=1.0):
    """Return x where x > theta, else 0: the threshold-gated rectifier (arXiv:1402.3337).

    Arguments:
        x: a real number, or a real array.
        theta: the threshold, a real number or array that broadcasts with `x`.

    Raises `TypeError` for complex numbers.
    """
    r = real(x)
    return plain(1.0 * np.where(r <= real(theta), 0.0, r), x, theta)  # NaN stays NaN


def elu(x, alpha=1.0):
    """Return x where x > 0, else alpha * (exp(x) - 1) (arXiv:1511.07289).

    Arguments:
        x: a real number, or a real array.
        alpha: the scale for x < 0, a real number or array that broadcasts with `x`.

    Raises `TypeError` for complex numbers.
    """
    r = real(x)
    return plain(np.maximum(r, 0.0) + real(alpha) * np.expm1(np.minimum(r, 0.0)), x, alpha)


@elementwise
def selu(x):
    """Return λ x where x > 0, else λ α (exp(x) - 1), with λ and α of arXiv:1706.02515.

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers.
    """
    return SELU_SCALE * elu(x, SELU_ALPHA)


def celu(x, alpha=1.0):
    """Return x where x > 0, else alpha * (exp(x / alpha) - 1), for alpha > 0 (arXiv:1704.07483).

    Arguments:
        x: a real number, or a real array.
        alpha: the scale for x < 0, a real number or array that broadcasts with `x`.

    Raises `TypeError` for complex numbers.
    """
    r, a = real(x), real(alpha)
    return plain(np.maximum(r, 0.0) + a * np.expm1(np.minimum(r, 0.0) / a), x, alpha)


@elementwise
def gelu(x):
    """Return x Φ(x), with Φ the normal distribution function (arXiv:1606.08415).

    This is the exact form, `gelu_erf`; `gelu_tanh` is its well-known approximation, which NNlib
    means by `gelu`.

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers.
    """
    # the tail is 0 to the last digit; without the bound, -inf * 0 would be NaN
    return np.maximum(x, -SATURATED) * normal_cdf(x)


gelu_erf = gelu


@elementwise
def gelu_tanh(x):
    """Return x / 2 * (1 + tanh(√(2/π) (x + 0.044715 x³))), an approximation of `gelu`.

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers. (arXiv:1606.08415.)
    """
    z = bounded(x, GELU_SATURATED)
    # (1 + tanh(z)) / 2 is sigmoid(2 z), which is precise in the lower tail too
    gate = sigmoid(GELU_SLOPE * z * (1 + GELU_CUBIC * z * z))
    return np.maximum(x, -GELU_SATURATED) * gate


@elementwise
def swish(x):
    """Return x * sigmoid(x) (arXiv:1710.05941); also known as silu.

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers.
    """
    return np.maximum(x, -SATURATED) * sigmoid(x)


@elementwise
def hardswish(x):
    """Return x * hardsigmoid(x) (arXiv:1905.02244).

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers.
    """
    return np.maximum(x, -3.0) * hardsigmoid(x)


@elementwise
def hardsigmoid(x):
    """Return min(max((x + 3) / 6, 0), 1), a sigmoid of three lines.

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers. (NNlib's `hardsigmoid`, of slope 1/6.)
    """
    return (bounded(x, 3.0) + 3) / 6


@elementwise
def hardtanh(x):
    """Return min(max(x, -1), 1), a tanh of three lines.

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers. (NNlib's `hardtanh`.)
    """
    return bounded(x, 1.0)


@elementwise
def softplus(x):
    """Return log(1 + exp(x)), a smooth relu.

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers. (Dugas et al., 2001.)
    """
    return np.maximum(x, 0.0) + np.log1p(np.exp(-abs(x)))


@elementwise
def logsigmoid(x):
    """Return log(sigmoid(x)).

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers. (NNlib's `logsigmoid`.)
    """
    return np.minimum(x, 0.0) - np.log1p(np.exp(-abs(x)))


@elementwise
def softsign(x):
    """Return x / (1 + |x|).

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers. (Glorot and Bengio, 2010.)
    """
    largest = float(np.finfo(getattr(x, "dtype", float)).max)
    x = bounded(x, largest)
    return x / (1 + abs(x))


@elementwise
def mish(x):
    """Return x * tanh(softplus(x)) (arXiv:1908.08681).

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers.
    """
    return np.maximum(x, -SATURATED) * np.tanh(softplus(x))


@elementwise
def tanhshrink(x):
    """Return x - tanh(x).

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers. (NNlib's `tanhshrink`.)
    """
    return x - np.tanh(x)


def softshrink(x, lam=0.5):
    """Return x moved towards 0 by lam, and 0 where |x| <= lam, for lam >= 0.

    Arguments:
        x: a real number, or a real array.
        lam: the width, a real number or array that broadcasts with `x`.

    Raises `TypeError` for complex numbers. (NNlib's `softshrink`.)
    """
    r, bound = real(x), real(lam)
    return plain(np.maximum(r - bound, 0.0) + np.minimum(r + bound, 0.0), x, lam)


@elementwise
def lisht(x):
    """Return x * tanh(x) (arXiv:1901.05894).

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers.
    """
    return x * np.tanh(x)


@elementwise
def logcosh(x):
    """Return log(cosh(x)).

    Arguments:
        x: a real number, or a real array; the value has its shape and precision.

    Raises `TypeError` for complex numbers. (NNlib's `logcosh`.)
    """
    x = abs(x)
    return x + np.log1p(0.5 * np.expm1(-2 * np.minimum(x, SATURATED)))
