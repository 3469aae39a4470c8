"""Magnitude, sign and the parts of complex numbers: functions that are not holomorphic.

The cotangent of a complex number is dL/d(re) + i dL/d(im), so these rules are written in terms of
`dy` itself, not by partials; a real argument takes the real part.
"""

import operator

import numpy as np

from rules_base.shared.axes import conjugate
from rules_base.shared.batches import of_entries
from rules_base.shared.forward import linear_in_first
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.complex", may_raise=False)


rule.scalar(np.absolute, abs, operator.abs, poles=False)(lambda x: conjugate(np.sign(x)))


@rule(abs, operator.abs)
def _(x: float):
    def pullback(dy):
        # `x - x` is zero at zero, as its derivative is, and lets nan through
        return (
            project(dy if x > 0 else -dy if x < 0 else (x - x) * dy if dy or x == 0 else 0.0, x),
        )

    return abs(x), pullback


@rule(np.absolute)
def _(x: float):
    def pullback(dy):
        return (
            project(dy if x > 0 else -dy if x < 0 else (x - x) * dy if dy or x == 0 else 0.0, x),
        )

    return np.absolute(x), pullback


@rule(np.sign)
def _(x: float):
    def pullback(dy):
        return (None,)

    return np.sign(x), pullback


@rule(np.sign)
def _(x: Numeric):
    y = np.sign(x)

    def pullback(dy):
        if not np.iscomplexobj(x):
            return (None,)
        # x/|x| turns with the phase of x alone
        magnitude = np.where(x == 0, 1.0, np.absolute(x))
        return (project(1j * y * (np.conj(y) * dy).imag / magnitude, x),)

    return y, pullback


@rule(np.conjugate)
def _(x: Numeric):
    def pullback(dy):
        return (project(np.conjugate(dy), x),)

    return np.conjugate(x), pullback


@rule(np.ndarray.conj, np.ndarray.conjugate, np.generic.conj, np.generic.conjugate)
def _(x: Numeric):
    def pullback(dy):
        return (project(np.conjugate(dy), x),)

    return x.conj(), pullback  # of a real array it is the array itself


@rule(np.real)
def _(x: Numeric):
    def pullback(dy):
        return (project(dy, x),)

    return np.real(x), pullback


@rule(np.imag)
def _(x: Numeric):
    def pullback(dy):
        return (project(1j * dy, x),)

    return np.imag(x), pullback


@rule(np.angle)
def _(x: Numeric, deg=False):
    def pullback(dy):
        if not np.iscomplexobj(x):
            return (None,)
        unit = 180 / np.pi if deg else 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            return (project(np.where((dy == 0) & (x == 0), 0.0, unit * 1j * dy / np.conj(x)), x),)

    return np.angle(x, deg), pullback


linear_in_first(rule, Numeric, np.real, np.imag, np.conjugate)
linear_in_first(rule, Numeric, np.ndarray.conj, np.ndarray.conjugate)
linear_in_first(rule, np.generic, np.generic.conj, np.generic.conjugate)


@rule.forward(abs, operator.abs)
def _(x: float):
    return abs(x), (
        lambda dx: dx if x > 0 else -dx if x < 0 else (x - x) * dx if dx or x == 0 else 0.0,
    )


@rule.forward(np.absolute)
def _(x: float):
    y = np.absolute(x)
    return y, (lambda dx: dx if x > 0 else -dx if x < 0 else (x - x) * dx if dx or x == 0 else 0.0,)


@rule.forward(np.sign)
def _(x: Numeric):
    y = np.sign(x)

    def pushforward(dx):
        if not np.iscomplexobj(x):
            return None
        magnitude = np.where(x == 0, 1.0, np.absolute(x))
        return 1j * y * (np.conj(y) * dx).imag / magnitude

    return y, pushforward


for _f, *_same in (
    (np.real,), (np.imag,), (np.angle,), (np.conjugate,),
    (lambda x: x.conj(), np.ndarray.conj, np.ndarray.conjugate),  # bools stay bools
):  # fmt: skip
    rule.batched(*_same or (_f,))(of_entries(_f))
