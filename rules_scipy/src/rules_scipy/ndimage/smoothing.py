"""Means over windows, and Gaussians: by the image, and by the width of a Gaussian.

The weights of a Gaussian are computed here anew, with their derivatives by its width.
"""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.ndimage.convolutions import by_line, by_weights, margins
from rules_scipy.shared.batches import of_lines
from rules_scipy.shared.pixels.boundaries import (
    axes_of_filter,
    extended,
    folded_axis,
    one_for_each,
    spread_on_axes,
)
from rules_scipy.shared.pixels.outputs import value_of
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.ndimage.smoothing")
ArrayLike = Numeric | list | tuple
FINITE = 1e-15  # narrower Gaussians are left out


def of_means(dy, size, axis, mode, origin):
    """Return the cotangent of the image of a mean over windows along one axis."""
    around = [(0, 0)] * dy.ndim
    around[axis] = ((size - 1) // 2, size // 2)
    full = nd.uniform_filter1d(np.pad(dy, around), size, axis, None, "constant")
    before = size // 2 + origin
    return folded_axis(full, axis, before, size - 1 - before, mode)


@rule(nd.uniform_filter1d)
def _(input: ArrayLike, size: object, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    y = value_of(
        nd.uniform_filter1d, input, size, axis, output=output, mode=mode, cval=cval, origin=origin
    )

    def dinput(dy):
        return project(of_means(dy, int(size), axis % np.ndim(input), mode, origin), input)

    return y, (dinput, None)


@rule(nd.uniform_filter)
def _(input: ArrayLike, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    options = {} if axes is None else {"axes": axes}
    y = value_of(
        nd.uniform_filter,
        input,
        size=size,
        output=output,
        mode=mode,
        cval=cval,
        origin=origin,
        **options,
    )
    along = axes_of_filter(axes, np.ndim(input))
    given = [one_for_each(option, len(along)) for option in (size, mode, origin)]

    def pullback(dy):
        for axis, n, end, start in zip(along, *given, strict=True):
            if n > 1:
                dy = of_means(dy, int(n), axis, end, start)
        return (project(dy, input),)

    return y, pullback


def kernel(sigma, order, radius):
    """Return the weights of a Gaussian, or of its derivative of some order, from right to left.

    And their derivatives by `sigma`. Those of `g` are `-(x g' + n g) / sigma**2`, one from the two
    before it.
    """
    x = np.arange(radius, -radius - 1, -1.0)
    now = np.exp(-0.5 * (x / sigma) ** 2)
    now = now / np.sum(now)
    slope = now * (x * x - np.sum(now * x * x)) / sigma**3
    before, before_slope = np.zeros_like(now), np.zeros_like(now)
    for n in range(order):
        following = -(x * now + n * before) / (sigma * sigma)
        of_both = -(x * slope + n * before_slope) / (sigma * sigma)
        before_slope, slope = slope, of_both - 2 * following / sigma
        before, now = now, following
    return now, slope


class Gaussians:
    """Pull a cotangent back through Gaussians along several axes, one after the other.

    Arguments:
        input, sigma: what SciPy is given.
        axes: the axes.
        orders, modes, radii: lists with what belongs to each; `None` for the radius by `truncate`.
        cval, truncate: SciPy's options.
    """

    def __init__(self, input, sigma, axes, orders, modes, radii, cval, truncate):
        self.x, self.cval, self.axes, self.modes = np.asarray(input), cval, axes, modes
        self.sigmas = one_for_each(sigma, len(axes))
        self.kernels = [
            kernel(s, order, int(truncate * float(s) + 0.5) if radius is None else radius)
            if s > FINITE
            else None
            for s, order, radius in zip(self.sigmas, orders, radii, strict=True)
        ]

    def by_image(self, dy, count=None):
        """Return the cotangent of the image; or of what the first `count` axes have left of it."""
        for k in reversed(range(count or 0, len(self.axes))):
            if self.kernels[k] is not None:
                dy = by_line(dy, self.kernels[k][0], self.axes[k], self.modes[k], 0)
        return dy

    def image(self, count=None):
        """Return the image behind the first `count` of the axes, or behind all."""
        x = self.x
        for k in range(len(self.axes) if count is None else count):
            if self.kernels[k] is not None:
                shape = spread_on_axes([-1], [self.axes[k]], x.ndim, 1)
                weights = np.reshape(self.kernels[k][0], shape)
                modes = [self.modes[k]] * x.ndim
                reach = margins(weights.shape, [0] * x.ndim)
                x = inner(extended(x, reach, modes, self.cval), weights, x.shape)
        return x

    def by_sigmas(self, dy):
        """Return the cotangent of the width along each axis, in a list."""
        found, ndim = [], self.x.ndim
        for k, axis in enumerate(self.axes):
            if self.kernels[k] is None:
                found.append(0.0)
                continue
            after, before = self.by_image(dy, k + 1), self.image(k)
            slope = self.kernels[k][1]
            shape = spread_on_axes([slope.size], [axis], ndim, 1)
            modes = [self.modes[k]] * ndim
            dweights = by_weights(after, before, shape, modes, [0] * ndim, self.cval)
            found.append(np.sum(np.ravel(dweights) * slope))
        return found


def inner(around, weights, shape):
    """Return the correlation of an extended image with weights, in the shape of the image."""
    found = 0.0
    for start in np.ndindex(*weights.shape):
        part = tuple([slice(k, k + n) for k, n in zip(start, shape, strict=True)])
        found = found + weights[start] * around[part]
    return found


def of_widths(found, sigma):
    """Return the cotangent of `sigma`, which may be one for all axes, from those for each."""
    if np.ndim(sigma) == 0:
        return project(np.real(sum(found)), sigma)
    return project(np.real(np.stack(found)), sigma)


@rule(nd.gaussian_filter1d)
def _(
    input: ArrayLike,
    sigma: ArrayLike,
    axis=-1,
    order=0,
    output=None,
    mode="reflect",
    cval=0.0,
    truncate=4.0,
    *,
    radius=None,
):
    y = value_of(
        nd.gaussian_filter1d,
        input,
        sigma,
        axis,
        order=order,
        output=output,
        mode=mode,
        cval=cval,
        truncate=truncate,
        radius=radius,
    )
    along = [axis % np.ndim(input)]
    found = Gaussians(input, sigma, along, [order], [mode], [radius], cval, truncate)

    def dinput(dy):
        return project(found.by_image(dy), input)

    def dsigma(dy):
        return of_widths(found.by_sigmas(dy), sigma)

    return y, (dinput, dsigma)


@rule(nd.gaussian_filter)
def _(
    input: ArrayLike,
    sigma: ArrayLike,
    order=0,
    output=None,
    mode="reflect",
    cval=0.0,
    truncate=4.0,
    *,
    radius=None,
    axes=None,
):
    y = value_of(
        nd.gaussian_filter,
        input,
        sigma,
        order=order,
        output=output,
        mode=mode,
        cval=cval,
        truncate=truncate,
        radius=radius,
        axes=axes,
    )
    along = axes_of_filter(axes, np.ndim(input))
    lists = [one_for_each(option, len(along)) for option in (order, mode, radius)]
    found = Gaussians(input, sigma, along, *lists, cval, truncate)

    def dinput(dy):
        return project(found.by_image(dy), input)

    def dsigma(dy):
        return of_widths(found.by_sigmas(dy), sigma)

    return y, (dinput, dsigma)


def along_each_axis(input, sigma, order, mode, cval, truncate, radius, axes):
    """Return the Gaussians that SciPy takes, each with a derivative along one axis.

    Along the other axes there is none. All have the mode of their own axis.
    """
    ndim = np.ndim(input)
    found = []
    for axis, end in zip(axes, one_for_each(mode, len(axes)), strict=True):
        orders = spread_on_axes([order], [axis], ndim, 0)
        radii = one_for_each(radius, ndim)
        every = tuple(range(ndim))
        found.append(Gaussians(input, sigma, every, orders, [end] * ndim, radii, cval, truncate))
    return found


@rule(nd.gaussian_laplace)
def _(
    input: ArrayLike,
    sigma: ArrayLike,
    output=None,
    mode="reflect",
    cval=0.0,
    *,
    axes=None,
    **options,
):
    y = value_of(
        nd.gaussian_laplace,
        input,
        sigma,
        output=output,
        mode=mode,
        cval=cval,
        axes=axes,
        **options,
    )
    ndim = np.ndim(input)
    along = axes_of_filter(axes, ndim)
    sigmas = spread_on_axes(one_for_each(sigma, len(along)), along, ndim, 0)
    truncate, radius = options.get("truncate", 4.0), options.get("radius")
    found = along_each_axis(input, sigmas, 2, mode, cval, truncate, radius, along)

    def dinput(dy):
        return project(sum([each.by_image(dy) for each in found]) if found else dy, input)

    def dsigma(dy):
        widths = [each.by_sigmas(dy) for each in found]
        return of_widths([sum([of_one[k] for of_one in widths]) for k in along], sigma)

    return y, (dinput, dsigma)


@rule(nd.gaussian_gradient_magnitude)
def _(
    input: ArrayLike,
    sigma: ArrayLike,
    output=None,
    mode="reflect",
    cval=0.0,
    *,
    axes=None,
    **options,
):
    y = value_of(
        nd.gaussian_gradient_magnitude,
        input,
        sigma,
        output=output,
        mode=mode,
        cval=cval,
        axes=axes,
        **options,
    )
    along = axes_of_filter(axes, np.ndim(input))
    truncate, radius = options.get("truncate", 4.0), options.get("radius")
    found = along_each_axis(input, sigma, 1, mode, cval, truncate, radius, along)

    def parts(dy):
        images = [each.image() for each in found]
        length = np.sqrt(sum([image * image for image in images]))
        scaled = np.where(length == 0, 0.0, dy / np.where(length == 0, 1.0, length))
        return [scaled * image for image in images]

    def dinput(dys):
        total = sum([each.by_image(dy) for each, dy in zip(found, dys, strict=True)])
        return project(total, input)

    def dsigma(dys):
        widths = [each.by_sigmas(dy) for each, dy in zip(found, dys, strict=True)]
        return of_widths([sum(of_one) for of_one in zip(*widths, strict=True)], sigma)

    return y, (parts, (dinput, dsigma))


def magnitude(parts):
    """Return the length of a vector of images, which has no slope where it is zero.

    Its square root is taken of what is not zero alone.
    """
    square = sum([part * part for part in parts[1:]], parts[0] * parts[0])
    zero = square == 0
    return np.where(zero, 0, np.sqrt(np.where(zero, 1, square))).astype(square.dtype)


# -- of batches

for _f in (nd.uniform_filter1d, nd.gaussian_filter1d):
    rule.batched(_f)(of_lines(_f))
