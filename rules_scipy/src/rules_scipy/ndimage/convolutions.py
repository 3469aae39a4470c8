"""Correlations and convolutions with weights, by the image and by the weights."""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.shared.batches import of_lines
from rules_scipy.shared.linear.matrices import conjugate
from rules_scipy.shared.pixels.boundaries import (
    axes_of_filter,
    extended,
    extended_axis,
    folded,
    folded_axis,
    one_for_each,
    places,
    spread_on_axes,
)
from rules_scipy.shared.pixels.outputs import value_of
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.ndimage.convolutions")
ArrayLike = Numeric | list | tuple
rule.constant(axes_of_filter, places)


@rule(extended_axis)
def _(x: np.ndarray, axis: object, before: object, after: object, mode: object, cval: object):
    def dx(dz):
        return project(folded_axis(dz, axis, before, after, mode), x)

    return extended_axis(x, axis, before, after, mode, cval), (dx, None, None, None, None, None)


@rule(folded_axis)
def _(z: np.ndarray, axis: object, before: object, after: object, mode: object):
    def dz(dx):
        return project(extended_axis(dx, axis, before, after, mode, 0.0), z)

    return folded_axis(z, axis, before, after, mode), (dz, None, None, None, None)


def margins(shape, origins):
    """Return how far the weights of a correlation reach beyond the ends of each axis."""
    return [
        (size // 2 + origin, size - 1 - size // 2 - origin)
        for size, origin in zip(shape, origins, strict=True)
    ]


def reversed_axes(x):
    """Return an array in the opposite order along all axes."""
    return x[(slice(None, None, -1),) * x.ndim]


def by_image(dy, weights, modes, origins):
    """Return the cotangent of the image of a correlation: the sums over all that reads an entry.

    Arguments:
        dy: the cotangent of the correlation.
        weights: what `dy` is multiplied by, in the order of `numpy.correlate`, with as many axes.
        modes, origins: SciPy's options, for each axis.
    """
    around = [((size - 1) // 2, size // 2) for size in weights.shape]
    turned = reversed_axes(conjugate(weights))  # which SciPy conjugates again
    full = nd.correlate(np.pad(dy, around), turned, None, "constant")
    return folded(full, margins(weights.shape, origins), modes)


def by_weights(dy, x, shape, modes, origins, cval):
    """Return the cotangent of the weights, of a shape, by which a correlation multiplies."""
    around = extended(x, margins(shape, origins), modes, cval)
    around = conjugate(around)
    found = []
    for start in np.ndindex(*shape):
        part = tuple([slice(k, k + n) for k, n in zip(start, dy.shape, strict=True)])
        found.append(np.sum(dy * around[part]))
    return np.stack(found).reshape(shape)


def by_line(dy, weights, axis, mode, origin):
    """Return the cotangent of the image of a correlation along one axis."""
    ndim = dy.ndim
    weights = np.reshape(weights, spread_on_axes([-1], [axis], ndim, 1))
    origins = spread_on_axes([origin], [axis], ndim, 0)
    return by_image(dy, weights, [mode] * ndim, origins)


rule.constant(margins)


def pullbacks(input, weights, convolves, modes, cval, origins, axes):
    """Return the parts of the pullback of a correlation or convolution.

    Arguments:
        input, weights: what SciPy is given.
        convolves: whether it turns the weights around, and does not conjugate them.
        modes, cval, origins: its options; the first and last for each of `axes`.
        axes: those along which the weights lie.
    """
    x, w = np.asarray(input), np.asarray(weights)
    shape = tuple(spread_on_axes(w.shape, sorted(axes), x.ndim, 1))
    origins = spread_on_axes(origins, axes, x.ndim, 0)
    modes = spread_on_axes(modes, axes, x.ndim, "reflect")
    if convolves:
        origins = [-o - (1 - n % 2) for o, n in zip(origins, shape, strict=True)]

    def in_order(w):
        return reversed_axes(conjugate(w)) if convolves else w

    def dinput(dy):
        return project(by_image(dy, in_order(w.reshape(shape)), modes, origins), input)

    def dweights(dy):
        found = by_weights(dy, x, shape, modes, origins, cval)
        found = reversed_axes(found) if convolves else conjugate(found)
        return project(found.reshape(w.shape), weights)

    return dinput, dweights


def declare(f, convolves):
    """Declare the rule of a filter with weights along all axes."""

    @rule(f)
    def _(
        input: ArrayLike,
        weights: ArrayLike,
        output=None,
        mode="reflect",
        cval=0.0,
        origin=0,
        *,
        axes=None,
    ):
        options = {} if axes is None else {"axes": axes}
        y = value_of(
            f, input, weights, output=output, mode=mode, cval=cval, origin=origin, **options
        )
        along = axes_of_filter(axes, np.ndim(input))
        origins = one_for_each(origin, len(along))
        modes = [mode] * len(along)
        return y, pullbacks(input, weights, convolves, modes, cval, origins, along)


def declare_line(f, convolves):
    """Declare the rule of a filter with weights along one axis."""

    @rule(f)
    def _(
        input: ArrayLike,
        weights: ArrayLike,
        axis=-1,
        output=None,
        mode="reflect",
        cval=0.0,
        origin=0,
    ):
        y = value_of(f, input, weights, axis, output=output, mode=mode, cval=cval, origin=origin)
        along = (axis % np.ndim(input),)
        return y, pullbacks(input, weights, convolves, [mode], cval, [origin], along)


declare(nd.correlate, False)
declare(nd.convolve, True)
declare_line(nd.correlate1d, False)
declare_line(nd.convolve1d, True)


# -- of batches

for _f in (nd.correlate1d, nd.convolve1d):
    rule.batched(_f)(of_lines(_f))
