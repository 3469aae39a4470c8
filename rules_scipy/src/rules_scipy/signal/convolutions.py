"""Convolutions and correlations, of all modes, methods and boundaries.

The value is a part of the full convolution, by the mode. A pullback puts the cotangent back into
the full one, and correlates that with the other input.
"""

import numpy as np
from scipy import signal as ss

from rules_scipy.shared.signals.borders import bordered, folded
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.signal.convolutions")
ArrayLike = Numeric | list | tuple
BORDERS = {
    "fill": "constant",
    "pad": "constant",
    "wrap": "wrap",
    "circular": "wrap",
    "symm": "symmetric",
    "symmetric": "symmetric",
}
rule.constant(ss.correlation_lags, ss.choose_conv_method)


def turned(x, axes=None):
    """Return the conjugate of an array, backwards along some axes, or all."""
    return np.conj(np.flip(x, axes))


def in_full(dy, first, second, mode, middle=1, axes=None):
    """Return the cotangent of a full convolution from that of the part that a mode takes of it.

    Arguments:
        dy: the cotangent of the value.
        first, second: the shapes of the inputs.
        mode: the mode.
        middle: what is taken from an even length to find the middle.
        axes: the axes along which it is convolved, or all; along others the inputs are broadcast.
    """
    along = range(len(first)) if axes is None else np.atleast_1d(axes) % len(first)
    widths = []
    for axis, (n, m, size) in enumerate(zip(first, second, np.shape(dy), strict=True)):
        if axis not in along:
            widths.append((0, 0))
            continue
        full = n + m - 1
        begin = (m - middle) // 2 if mode == "same" and size == n else (full - size) // 2
        widths.append((begin, full - size - begin))
    return np.pad(dy, widths) if any(map(any, widths)) else dy


def pulled(y, in1, in2, mode, is_correlation, valid, axes=None):
    """Return the value of a convolution or correlation with its pullbacks.

    Arguments:
        y: the value.
        in1, in2: the inputs.
        mode: the mode.
        is_correlation: whether the second input is conjugated, and runs backwards.
        valid: computes the valid convolution of two arrays.
        axes: the axes along which it does.
    """
    first, second = np.shape(in1), np.shape(in2)
    is_empty = 0 in (*first, *second)

    def into_full(dy):
        return dy if is_empty else in_full(dy, first, second, mode, axes=axes)

    def by_first(full):
        if is_empty:
            return project(np.zeros(first), in1)
        other = np.asarray(in2)
        return project(valid(full, other if is_correlation else turned(other, axes)), in1)

    def by_second(full):
        if is_empty:
            return project(np.zeros(second), in2)
        found = valid(full, turned(np.asarray(in1), axes))
        return project(turned(found) if is_correlation else found, in2)

    return y, (into_full, (by_first, by_second))


@rule(ss.convolve)
def _(in1: ArrayLike, in2: ArrayLike, mode="full", method="auto"):
    def valid(x, h):
        return ss.convolve(x, h, "valid", method)

    return pulled(ss.convolve(in1, in2, mode, method), in1, in2, mode, False, valid)


@rule(ss.correlate)
def _(in1: ArrayLike, in2: ArrayLike, mode="full", method="auto"):
    def valid(x, h):
        return ss.convolve(x, h, "valid", method)

    return pulled(ss.correlate(in1, in2, mode, method), in1, in2, mode, True, valid)


def declare_by_transforms(f):
    """Declare a convolution along some axes; along others the inputs are broadcast."""

    @rule(f)
    def _(in1: ArrayLike, in2: ArrayLike, mode="full", axes=None):
        def valid(x, h):
            return f(x, h, "valid", axes)

        along = axes if axes is None or np.ndim(axes) == 0 else tuple(axes)
        return pulled(f(in1, in2, mode, axes), in1, in2, mode, False, valid, along)


declare_by_transforms(ss.fftconvolve)
declare_by_transforms(ss.oaconvolve)


@rule(ss.convolve2d)
def _(in1: ArrayLike, in2: ArrayLike, mode="full", boundary="fill", fillvalue=0):
    y = ss.convolve2d(in1, in2, mode, boundary, fillvalue)
    return in_the_plane(y, in1, in2, mode, boundary, fillvalue, False)


@rule(ss.correlate2d)
def _(in1: ArrayLike, in2: ArrayLike, mode="full", boundary="fill", fillvalue=0):
    y = ss.correlate2d(in1, in2, mode, boundary, fillvalue)
    return in_the_plane(y, in1, in2, mode, boundary, fillvalue, True)


def in_the_plane(y, in1, in2, mode, boundary, fillvalue, is_correlation):
    """Return the value of a convolution or correlation of images with its pullbacks.

    The full convolution is the valid one of the first image with a border. What SciPy correlates
    with a larger image, in the mode `valid`, it does not conjugate.
    """
    first, second = np.shape(in1), np.shape(in2)
    is_empty = 0 in (*first, *second)
    widths = [m - 1 for m in second]
    if mode == "valid":  # no border is read
        boundary, fillvalue = "fill", 0
    border = BORDERS[boundary]
    is_swapped = is_correlation and mode == "valid" and second[0] * second[1] > first[0] * first[1]

    def into_full(dy):
        dy = np.conj(dy) if is_swapped else dy
        return dy if is_empty else in_full(dy, first, second, mode, middle=1 - is_correlation)

    def by_first(full):
        if is_empty:
            return project(np.zeros(first), in1)
        other = np.asarray(in2) if is_correlation else turned(np.asarray(in2))
        if border == "constant":
            return project(ss.convolve2d(full, other, "valid"), in1)
        return project(folded(ss.convolve2d(full, other), widths, border), in1)

    def by_second(full):
        if 0 in second or not np.size(full) or (is_empty and not fillvalue):
            return project(np.zeros(second), in2)
        if border == "constant" and not fillvalue:
            found = ss.convolve2d(full, turned(np.asarray(in1)), "valid")
        else:
            ext = bordered(np.asarray(in1, y.dtype), widths, border, fillvalue)
            found = ss.convolve2d(turned(ext), full, "valid")
        return project(turned(found) if is_correlation else found, in2)

    return y, (into_full, (by_first, by_second))
