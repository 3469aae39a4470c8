"""Filters of spectra: products with the transform of a window, by the spectrum and the window."""

import numpy as np
from scipy import ndimage as nd
from scipy import special as sc

from rules_scipy.shared.linear.matrices import conjugate
from rules_scipy.shared.pixels.boundaries import one_for_each
from rules_scipy.shared.pixels.outputs import value_of
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.ndimage.fourier")
ArrayLike = Numeric | list | tuple


def frequencies(shape, n, axis):
    """Return the frequencies along each axis, in the shape in which they act there.

    Along `axis` they are those of a real transform of length `n`, if that is not negative.
    """
    found = []
    for k, size in enumerate(shape):
        is_real = n >= 0 and k == axis % len(shape)
        f = np.arange(size) / max(n, 1) if is_real else np.fft.fftfreq(size)
        found.append(f.reshape((-1,) + (1,) * (len(shape) - 1 - k)))
    return found


def gaussian(s, f):
    """Return the transform of a Gaussian of width `s`, and its derivative by that."""
    y = np.exp(-2 * (np.pi * s * f) ** 2)
    return y, -4 * np.pi**2 * s * f * f * y


def box(s, f):
    """Return the transform of a mean over `s` entries, and its derivative by `s`.

    SciPy takes the mean frequency alone where `s` is not positive: a constant.
    """
    if s <= 0:
        return np.where(f == 0, 1.0, 0.0), np.zeros_like(f)
    x = np.pi * s * f
    small = np.abs(x) < 1e-3
    large = np.where(small, 1.0, x)
    slope = np.where(small, -x / 3 + x**3 / 30, (np.cos(large) - np.sin(large) / large) / large)
    return np.sinc(s * f), np.pi * f * slope


rule.constant(frequencies)


def by_parameters(dy, x, given, transform, fs):
    """Return the cotangent of the widths of a window, of which there may be one for all axes."""
    each = [transform(s, f) for s, f in zip(one_for_each(given, x.ndim), fs, strict=True)]
    found = []
    for k in range(x.ndim):
        slope = x
        for i, (y, dy_by_s) in enumerate(each):
            slope = slope * (dy_by_s if i == k else y)
        found.append(np.sum(np.real(conjugate(slope) * dy)))
    return project(sum(found) if np.ndim(given) == 0 else np.stack(found), given)


def declare(f, transform):
    """Declare the rule of a filter with a real window."""

    @rule(f)
    def _(input: ArrayLike, sigma: ArrayLike, n=-1, axis=-1, output=None):
        y = value_of(f, input, sigma, n, axis, output=output)
        x = np.asarray(input)

        def dinput(dy):
            return project(f(dy, sigma, n, axis), input)

        def dsigma(dy):
            return by_parameters(dy, x, sigma, transform, frequencies(x.shape, n, axis))

        return y, (dinput, dsigma)


declare(nd.fourier_gaussian, gaussian)
declare(nd.fourier_uniform, box)


def slope_of_ball(x, ndim):
    """Return the derivative by `x` of the transform of a ball, divided by `x`.

    The transform is `j0(x)`, `2 J1(x) / x` or `3 j1(x) / x`, in one, two and three dimensions, with
    Bessel functions `J` and spherical ones `j`. (DLMF 10.6.6, 10.51.3)
    """
    small = np.abs(x) < 1e-2
    large = np.where(small, 1.0, x)
    if ndim == 2:
        found = -2 * sc.jv(2, large) / large**2
    else:
        found = -ndim * sc.spherical_jn((ndim + 1) // 2, large) / large ** ((ndim + 1) // 2)
    first, second = {1: (3, 30), 2: (4, 48), 3: (5, 70)}[ndim]
    return np.where(small, -1 / first + x**2 / second, found)


@rule(nd.fourier_ellipsoid)
def _(input: ArrayLike, size: ArrayLike, n=-1, axis=-1, output=None):
    y = value_of(nd.fourier_ellipsoid, input, size, n, axis, output=output)
    x = np.asarray(input)

    def dinput(dy):
        return project(nd.fourier_ellipsoid(dy, size, n, axis), input)

    def dsize(dy):
        sizes = one_for_each(size, x.ndim)
        waves = [np.pi * f for f in frequencies(x.shape, n, axis)]
        radius = np.sqrt(sum([(s * w) ** 2 for s, w in zip(sizes, waves, strict=True)]))
        slope = np.real(conjugate(x * slope_of_ball(radius, x.ndim)) * dy)
        found = [np.sum(slope * s * w**2) for s, w in zip(sizes, waves, strict=True)]
        return project(sum(found) if np.ndim(size) == 0 else np.stack(found), size)

    return y, (dinput, dsize)


@rule(nd.fourier_shift)
def _(input: ArrayLike, shift: ArrayLike, n=-1, axis=-1, output=None):
    y = value_of(nd.fourier_shift, input, shift, n, axis, output=output)
    shape = np.shape(input)

    def dinput(dy):
        back = np.negative(shift)
        return project(nd.fourier_shift(dy, back, n, axis), input)

    def dshift(dy):
        moved = nd.fourier_shift(input, shift, n, axis)
        found = []
        for f in frequencies(shape, n, axis):
            found.append(np.sum(np.real(conjugate(-2j * np.pi * f * moved) * dy)))
        return project(sum(found) if np.ndim(shift) == 0 else np.stack(found), shift)

    return y, (dinput, dshift)
