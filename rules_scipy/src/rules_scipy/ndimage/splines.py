"""Coefficients of splines, and the values of splines at coordinates."""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.shared.linear.matrices import conjugate
from rules_scipy.shared.pixels.outputs import value_of
from rules_scipy.shared.pixels.splines import terms
from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.ndimage.splines")
ArrayLike = Numeric | list | tuple
EXACT = 64  # from so many entries on SciPy's way to begin at the ends is exact
HALVED = ("mirror", "constant", "wrap", "grid-constant")  # modes in which SciPy mirrors an image


def matrix_of(n, order, mode):
    """Return the matrix by which SciPy computes `n` coefficients."""
    return nd.spline_filter1d(np.eye(n), order, 0, np.float64, mode)


rule.constant(matrix_of)


def unfiltered(dy, order, axis, mode):
    """Return the cotangent of an image from that of its coefficients along one axis.

    The coefficients solve a system. It is symmetric, but where the image is mirrored at its first
    and last entries: there it is if these count half. What SciPy computes of a few entries is not
    its solution in all modes: then the matrix is formed.
    """
    if order < 2 or dy.shape[axis] < 2:
        return dy
    if mode not in HALVED:
        if dy.shape[axis] >= EXACT:
            return nd.spline_filter1d(dy, order, axis, dy.dtype, mode)
        turned = np.tensordot(dy, matrix_of(dy.shape[axis], order, mode), (axis, 0))
        return np.moveaxis(turned, -1, axis).astype(dy.dtype)
    shape = [1] * dy.ndim
    shape[axis] = -1
    ends = np.ones(dy.shape[axis])
    ends[[0, -1]] = 2.0
    ends = ends.astype(dy.real.dtype).reshape(shape)
    return nd.spline_filter1d(dy * ends, order, axis, dy.dtype, mode) / ends


@rule(nd.spline_filter1d)
def _(input: ArrayLike, order=3, axis=-1, output=np.float64, mode="mirror"):
    y = value_of(nd.spline_filter1d, input, order, axis, output=output, mode=mode)

    def pullback(dy):
        return (project(unfiltered(dy, order, axis % dy.ndim, mode), input),)

    return y, pullback


@rule(nd.spline_filter)
def _(input: ArrayLike, order=3, output=np.float64, mode="mirror"):
    y = value_of(nd.spline_filter, input, order, output=output, mode=mode)

    def pullback(dy):
        for axis in range(dy.ndim):
            dy = unfiltered(dy, order, axis, mode)
        return (project(dy, input),)

    return y, pullback


def sampled(c, coordinates, order, mode, cval, derivatives):
    """Return derivatives of a spline at coordinates.

    Arguments:
        c: the coefficients, an array.
        coordinates: an array with a coordinate for each axis of `c` in front.
        order, mode, cval: SciPy's options.
        derivatives: how often the spline is differentiated along each axis.
    """
    kind = np.result_type(c, 0.0)
    flat = np.asarray(c, kind)
    if mode == "grid-constant":
        flat = np.pad(flat, [(0, 1)] * flat.ndim, constant_values=cval)
    flat = np.ravel(flat)
    y = np.zeros(np.shape(coordinates)[1:], kind)
    for index, weight in terms(coordinates, np.shape(c), order, derivatives, mode):
        y = y + weight * flat[index]
    return y


def spread(dy, coordinates, shape, order, mode, derivatives):
    """Return the cotangent of the coefficients, an array of a shape: the adjoint of `sampled`."""
    whole = [n + (mode == "grid-constant") for n in shape]
    size = int(np.prod(whole))
    found = np.zeros(size, np.result_type(dy, 0.0))
    for index, weight in terms(coordinates, shape, order, derivatives, mode):
        index, part = np.ravel(index), np.ravel(weight * dy)
        if np.iscomplexobj(part):
            imaginary = np.bincount(index, part.imag, size)
            found += np.bincount(index, part.real, size) + 1j * imaginary
        else:
            found += np.bincount(index, part, size)
    found = found.reshape(whole)
    return found[tuple([slice(0, n) for n in shape])]


def raised(derivatives, axis):
    """Return the orders of a derivative that is taken once more along an axis."""
    return tuple([k + (i == axis) for i, k in enumerate(derivatives)])


@rule(sampled)
def _(
    c: Array,
    coordinates: Array,
    order: object,
    mode: object,
    cval: object,
    derivatives: object,
):
    def dc(dy):
        return project(spread(dy, coordinates, np.shape(c), order, mode, derivatives), c)

    def dcoordinates(dy):
        slopes = [
            sampled(c, coordinates, order, mode, cval, raised(derivatives, axis))
            for axis in range(np.ndim(c))
        ]
        return np.stack([np.real(conjugate(slope) * dy) for slope in slopes])

    y = sampled(c, coordinates, order, mode, cval, derivatives)
    return y, (dc, dcoordinates, None, None, None, None)


@rule(spread)
def _(
    dy: Array,
    coordinates: Array,
    shape: object,
    order: object,
    mode: object,
    derivatives: object,
):
    def ddy(dz):
        return project(sampled(dz, coordinates, order, mode, 0.0, derivatives), dy)

    def dcoordinates(dz):
        slopes = [
            sampled(dz, coordinates, order, mode, 0.0, raised(derivatives, axis))
            for axis in range(len(shape))
        ]
        return np.stack([np.real(conjugate(slope) * dy) for slope in slopes])

    y = spread(dy, coordinates, shape, order, mode, derivatives)
    return y, (ddy, dcoordinates, None, None, None, None)
