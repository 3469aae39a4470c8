"""Derivatives, integrals, shifts and Hilbert transforms of periodic sequences.

Each is a convolution with a real kernel: an even one is its own adjoint, an odd one the negative of
its own.
"""

import numpy as np
from scipy import fftpack as fp

from rules_scipy.shared.refusals import PARAMETER
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.fftpack.periodic")
ArrayLike = Numeric | list | tuple


@rule.linear(fp.diff)
def _(dy, x: ArrayLike, order=1, period=None):
    return (-1) ** order * fp.diff(np.asarray(dy), order, period)


@rule.linear(fp.hilbert)
def _(dy, x: ArrayLike):
    return -fp.hilbert(np.asarray(dy))


@rule.linear(fp.ihilbert)
def _(dy, x: ArrayLike):
    return -fp.ihilbert(np.asarray(dy))


def declare_tilbert(f):
    """Declare a Tilbert transform, whose kernel is odd."""

    @rule(f, refuses={"h": PARAMETER})
    def _(x: ArrayLike, h: float, period=None):
        def by_signal(dy):
            return project(-f(np.asarray(dy), h, period), x)

        return f(x, h, period), (by_signal, None)


declare_tilbert(fp.tilbert)
declare_tilbert(fp.itilbert)


def declare_two_widths(f, sign):
    """Declare a convolution with a ratio of hyperbolic functions, whose kernel is even or odd."""

    @rule(f, refuses={"a": PARAMETER, "b": PARAMETER})
    def _(x: ArrayLike, a: float, b: float, period=None):
        def by_signal(dy):
            return project(sign * f(np.asarray(dy), a, b, period), x)

        return f(x, a, b, period), (by_signal, None, None)


declare_two_widths(fp.cs_diff, -1)
declare_two_widths(fp.sc_diff, -1)
declare_two_widths(fp.ss_diff, 1)
declare_two_widths(fp.cc_diff, 1)


@rule(fp.shift)
def _(x: ArrayLike, a: float, period=None):
    y = fp.shift(x, a, period)
    n = len(y)
    rate = n / 2 if period is None else np.pi * n / period  # of the angle at half the sampling rate

    def by_signal(dy):
        moved = fp.shift(np.asarray(dy), -a, period)
        return project(moved + 2 * np.sin(rate * a) * fastest(dy, n), x)

    def by_distance(dy):
        slope = fp.diff(y, 1, period)
        slope = slope + rate * (np.cos(rate * a) - np.sin(rate * a)) * fastest(x, n)
        return project(np.sum(np.real(dy * np.conj(slope))), a)

    return y, (by_signal, by_distance)


def fastest(x, n):
    """Return the part of a sequence that changes its sign at each step, if there is one.

    SciPy multiplies it by the sum of the cosine and the sine.
    """
    signs = (-1.0) ** np.arange(n) * (n % 2 == 0)
    return signs * np.sum(signs * np.asarray(x)) / max(n, 1)
