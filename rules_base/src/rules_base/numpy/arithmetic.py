"""Arithmetic of numbers and arrays: Python's operators and NumPy's ufuncs of the same meaning."""

import math
import operator

import numpy as np

from rules_base.shared.axes import zeros_kept
from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.arithmetic", may_raise=False)

rule.scalar(operator.add, np.add)(lambda x, y: (1, 1))
rule.scalar(operator.sub, np.subtract)(lambda x, y: (1, -1))
rule.scalar(operator.mul, np.multiply)(lambda x, y: (y, x))
rule.scalar(operator.truediv, np.true_divide)(
    lambda x, y, out: 1 / y,
    lambda x, y, out: -out / y,
)
rule.scalar(operator.neg, np.negative)(lambda x: -1)
rule.scalar(operator.pos, np.positive)(lambda x: 1)
rule.scalar(np.square)(lambda x: 2 * x)
rule.scalar(np.reciprocal)(lambda x, out: -out * out)

rule.scalar(operator.mod, np.remainder)(lambda x, y: (1, -(x // y)))
rule.scalar(np.fmod)(lambda x, y: (1, -np.trunc(x / y)))
rule.scalar(operator.floordiv, np.floor_divide)(lambda x, y: (None, None))


@rule(operator.mod)
def _(template: str, values: object):
    def pullback(dy):
        return None, None

    return template % values, pullback


rule.scalar(pow, operator.pow, np.power, np.float_power)(
    lambda x, y, out: power_of_base(x, y),
    lambda x, y, out: power_of_exponent(x, y, out),
)


def power_of_base(x, y):
    """Return the derivative of `x**y` by `x`: zero where `y` is zero, even at `x = 0`."""
    if is_array(y) or (not y and is_array(x)):
        return y * x ** (y - ((x != 0) | (y != 0)))
    return y * x ** (y - 1) if y or x else 0.0


def power_of_exponent(x, y, out):
    """Return the derivative of `x**y` by `y`: zero at `x = 0` unless `y` is negative.

    For negative `x` and real `out` it is the real part of that of the complex power,
    `out * log(abs(x))`.
    """
    if is_array(out):
        if out.dtype.kind == "c":
            return out * np.log(np.where((x == 0) & (np.real(y) >= 0), 1.0, x + 0j))
        return out * np.log(abs(x) + ((x == 0) & (y >= 0)))
    if x == 0:
        return 0.0 if y.real >= 0 else -out * math.inf
    if isinstance(out, complex):
        return out * np.log(x + 0j)
    return out * math.log(abs(x))


def is_array(x):
    """Return whether `x` is an array: `isinstance`, quicker for those of NumPy."""
    return type(x) is np.ndarray or isinstance(x, Array)


@rule(divmod, np.divmod)
def _(x: Numeric, y: Numeric):
    quotient, remainder = divmod(x, y)

    def pullback(dy):
        dremainder = dy[1]
        if dremainder is None:
            return None, None
        jumped = zeros_kept(quotient * -dremainder, dremainder, quotient)
        return project(dremainder, x), project(jumped, y)

    return (quotient, remainder), pullback


@rule(np.modf)
def _(x: Numeric):
    def pullback(dy):
        return (project(dy[0], x),)

    return np.modf(x), pullback


@rule(np.frexp)
def _(x: Numeric):
    mantissa, exponent = np.frexp(x)

    def pullback(dy):
        dmantissa = dy[0]
        if dmantissa is None:
            return (None,)
        return (project(np.ldexp(dmantissa, -exponent), x),)

    return (mantissa, exponent), pullback


@rule(np.ldexp)
def _(x: Numeric, exponent: Numeric):
    def pullback(dy):
        return project(np.ldexp(dy, exponent), x), None

    return np.ldexp(x, exponent), pullback
