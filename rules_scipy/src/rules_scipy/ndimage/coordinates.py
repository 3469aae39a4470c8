"""Images that are moved: each entry of the result is the value of a spline at some coordinates.

So are all of SciPy's functions here: what differs is how the coordinates are made. They have
derivatives by the image and by what makes the coordinates. A spline of order 0 is a step function
of these.
"""

import math

import numpy as np
from scipy import ndimage as nd
from scipy import special

from rules_scipy.ndimage.splines import sampled, spread, unfiltered
from rules_scipy.shared.pixels.boundaries import folded, one_for_each
from rules_scipy.shared.pixels.outputs import refuse_given, refuse_truncated, value_of
from rules_scipy.shared.pixels.splines import PADDED, PADDING
from rulescore import Numeric, RuleSet, accumulate, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.ndimage.coordinates")
ArrayLike = Numeric | list | tuple
STEPS = "it sets the size of the result, which is rounded: the value is a step function of it"


class Moved:
    """Pull a cotangent back through a spline at coordinates.

    Arguments:
        x: the image, an array.
        coordinates: an array with a coordinate for each axis of the image in front.
        order, mode, cval, prefilter: SciPy's options.
    """

    def __init__(self, x, coordinates, order, mode, cval, prefilter):
        self.x, self.order, self.mode, self.cval = x, order, mode, cval
        self.filters = prefilter and order > 1
        self.padding = PADDING if self.filters and mode in PADDED else 0
        self.places = coordinates + self.padding

    def coefficients(self):
        """Return the coefficients of the spline."""
        c, width = self.x, self.padding
        if width and self.mode == "nearest":
            c = np.pad(c, width, "edge")
        elif width:
            c = np.pad(c, width, constant_values=self.cval)
        if self.filters:
            return nd.spline_filter(c, self.order, np.result_type(c, np.float64), self.mode)
        return c.astype(np.result_type(c, np.float64))

    def by_image(self, dy):
        """Return the cotangent of the image."""
        shape = tuple([n + 2 * self.padding for n in self.x.shape])
        none = (0,) * self.x.ndim
        dc = spread(widened(dy), self.places, shape, self.order, self.mode, none)
        if self.filters:
            for axis in range(dc.ndim):
                dc = unfiltered(dc, self.order, axis, self.mode)
        widths = [(self.padding, self.padding)] * dc.ndim
        return folded(dc, widths, [self.mode] * dc.ndim)

    def by_coordinates(self, dy):
        """Return the cotangent of the coordinates."""
        c, ndim, dy = self.coefficients(), self.x.ndim, widened(dy)
        found = []
        for axis in range(ndim):
            once = tuple([int(k == axis) for k in range(ndim)])
            slope = sampled(c, self.places, self.order, self.mode, self.cval, once)
            found.append(np.real(np.conj(slope) * dy))
        return np.stack(found)


def widened(dy):
    """Return a cotangent in the precision in which SciPy computes."""
    return dy.astype(np.result_type(dy, np.float64))


@rule(nd.map_coordinates)
def _(
    input: ArrayLike,
    coordinates: ArrayLike,
    output=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    given = {"order": order, "mode": mode, "cval": cval, "prefilter": prefilter}
    y = value_of(nd.map_coordinates, input, coordinates, output=output, **given)
    places = np.asarray(coordinates, float)
    found = Moved(np.asarray(input), places, order, mode, cval, prefilter)

    def dinput(dy):
        return project(found.by_image(dy), input)

    def dcoordinates(dy):
        return project(found.by_coordinates(dy), coordinates)

    return y, (dinput, dcoordinates)


def grid(shape):
    """Return the indices of an array of a shape, as numbers."""
    return np.indices(shape, float)


def sums(dplaces):
    """Return the sum of a cotangent of coordinates for each axis of the image."""
    return np.sum(dplaces, tuple(range(1, dplaces.ndim)))


rule.constant(grid)


@rule(nd.shift)
def _(
    input: ArrayLike,
    shift: ArrayLike,
    output=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    given = {"order": order, "mode": mode, "cval": cval, "prefilter": prefilter}
    y = value_of(nd.shift, input, shift, output=output, **given)
    x = np.asarray(input)
    back = np.reshape(np.asarray(one_for_each(shift, x.ndim), float), (-1,) + (1,) * x.ndim)
    found = Moved(x, grid(x.shape) - back, order, mode, cval, prefilter)

    def dinput(dy):
        return project(found.by_image(dy), input)

    def dshift(dy):
        return of_axes(-sums(found.by_coordinates(dy)), shift)

    return y, (dinput, dshift)


def of_axes(found, given):
    """Return the cotangent of what may be one number for all axes."""
    return project(np.sum(found) if np.ndim(given) == 0 else found, given)


@rule(nd.zoom, refuses={"zoom": STEPS})
def _(
    input: ArrayLike,
    zoom: ArrayLike,
    output=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
    *,
    grid_mode=False,
):
    given = {"order": order, "mode": mode, "cval": cval, "prefilter": prefilter}
    y = value_of(nd.zoom, input, zoom, output=output, grid_mode=grid_mode, **given)
    x = np.asarray(input)
    if prefilter and all(z == 1 for z in one_for_each(zoom, x.ndim)):
        return y, (lambda dy: project(dy, input), None)
    places = []
    for n, m, k in zip(x.shape, y.shape, grid(y.shape), strict=True):
        if grid_mode:
            places.append((k + 0.5) * (n / m if m else 1.0) - 0.5)
        else:
            places.append(k * ((n - 1) / (m - 1) if m != 1 else 1.0))
    found = Moved(x, np.stack(places), order, mode, cval, prefilter)

    def dinput(dy):
        return project(found.by_image(dy), input)

    return y, (dinput, None)


@rule(nd.affine_transform)
def _(
    input: ArrayLike,
    matrix: ArrayLike,
    offset=0.0,
    output_shape=None,
    output=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    return affine(
        input, matrix, offset, output_shape, output, order, mode, cval, prefilter, count=2
    )


@rule(nd.affine_transform)
def _(
    input: ArrayLike,
    matrix: ArrayLike,
    offset: ArrayLike,
    output_shape=None,
    output=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    return affine(
        input, matrix, offset, output_shape, output, order, mode, cval, prefilter, count=3
    )


def affine(input, matrix, offset, output_shape, output, order, mode, cval, prefilter, count):
    """Return the value and the parts of the pullback of `scipy.ndimage.affine_transform`.

    Arguments:
        count: for how many arguments there are parts.
    """
    given = {"order": order, "mode": mode, "cval": cval, "prefilter": prefilter}
    y = value_of(
        nd.affine_transform,
        input,
        matrix,
        offset,
        output_shape=output_shape,
        output=output,
        **given,
    )
    x, m = np.asarray(input), np.asarray(matrix, float)
    ndim, at = x.ndim, grid(y.shape)
    homogeneous = m.ndim == 2 and m.shape[1] == ndim + 1
    start = m[:ndim, ndim] if homogeneous else np.asarray(one_for_each(offset, ndim), float)
    places = scaled(m, start, at) if m.ndim == 1 else turned(m[:ndim, :ndim], start, at)
    found = Moved(x, places, order, mode, cval, prefilter)

    def dinput(dy):
        return project(found.by_image(dy), input)

    def dmatrix(dy):
        dplaces = found.by_coordinates(dy)
        if m.ndim == 1:
            return project(sums(dplaces * at), matrix)
        axes = tuple(range(1, ndim + 1))
        by_matrix = np.tensordot(dplaces, at, (axes, axes))
        if homogeneous:
            column = np.reshape(sums(dplaces), (ndim, 1))
            by_matrix = np.concatenate([by_matrix, column], 1)
            by_matrix = np.pad(by_matrix, ((0, m.shape[0] - ndim), (0, 0)))
        return project(by_matrix, matrix)

    def doffset(dy):
        dstart = sums(found.by_coordinates(dy))
        return of_axes(np.zeros(ndim) if homogeneous else dstart, offset)

    return y, (dinput, dmatrix, doffset)[:count]


def scaled(zoom, start, at):
    """Return indices times a number for each axis, moved: rounded as SciPy rounds them."""
    beside = (-1,) + (1,) * (at.ndim - 1)
    is_zero = zoom == 0
    before = np.where(is_zero, 0.0, start / np.where(is_zero, 1.0, zoom))
    after = np.where(is_zero, start, 0.0)
    return (at + before.reshape(beside)) * zoom.reshape(beside) + after.reshape(beside)


def turned(matrix, start, at):
    """Return a matrix times indices, moved: rounded as SciPy rounds them, at a jump that counts."""
    beside = (-1,) + (1,) * (at.ndim - 1)
    places = start.reshape(beside)
    for column, index in zip(matrix.T, at, strict=True):
        places = places + column.reshape(beside) * index
    return places


@rule(nd.rotate)
def _(
    input: ArrayLike,
    angle: float,
    axes=(1, 0),
    reshape=True,
    output=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
):
    given = {"order": order, "mode": mode, "cval": cval, "prefilter": prefilter}
    y = value_of(nd.rotate, input, angle, axes=axes, reshape=reshape, output=output, **given)
    x = np.asarray(input)
    if not x.size:
        return y, (lambda dy: project(np.zeros(x.shape), input), lambda dy: project(0.0, angle))
    plane = sorted([int(axis) % x.ndim for axis in axes])
    shape, from_shape = [y.shape[k] for k in plane], [x.shape[k] for k in plane]
    out, centre = (np.array(shape) - 1) / 2, (np.array(from_shape) - 1) / 2
    c, s = special.cosdg(angle), special.sindg(angle)
    matrix = np.stack([np.stack([c, s]), np.stack([-s, c])])
    places = turned(matrix, centre - matrix @ out, grid(shape))
    at = grid(shape) - out[:, None, None]
    turning = np.stack([c * at[1] - s * at[0], -c * at[0] - s * at[1]])

    def planes(image):
        """Return the planes of an image that are turned, one after the other."""
        moved = np.moveaxis(image, plane, (-2, -1))
        return np.reshape(moved, (math.prod(moved.shape[:-2]), *moved.shape[-2:]))

    each = [Moved(part, places, order, mode, cval, prefilter) for part in planes(x)]

    def dinput(dy):
        found = [one.by_image(part) for one, part in zip(each, planes(dy), strict=True)]
        others = [n for k, n in enumerate(x.shape) if k not in plane]
        whole = np.reshape(np.stack(found), (*others, *from_shape))
        return project(np.moveaxis(whole, (-2, -1), plane), input)

    def dangle(dy):
        found = [one.by_coordinates(part) for one, part in zip(each, planes(dy), strict=True)]
        return project(np.deg2rad(np.sum(sum(found) * turning)), angle)

    return y, (dinput, dangle)


@rule(nd.geometric_transform)
def _(
    input: ArrayLike,
    mapping: object,
    output_shape=None,
    output=None,
    order=3,
    mode="constant",
    cval=0.0,
    prefilter=True,
    extra_arguments=(),
    extra_keywords=None,
    *,
    ad,
):
    refuse_given(nd.geometric_transform, output)
    if not callable(mapping):
        raise NotImplementedError(
            "scipy.ndimage.geometric_transform has a rule for a mapping in Python alone: write "
            "it in Python"
        )
    x = np.asarray(input)
    shape = x.shape if output_shape is None else tuple(output_shape)
    named = extra_keywords or {}

    def mapped(f, at):
        return f(at, *extra_arguments, **named)

    found = [ad(mapped, mapping, at) for at in np.ndindex(*shape)]
    points = np.array([point for point, _ in found], float)
    places = points.T.reshape(x.ndim, *shape)
    y = nd.map_coordinates(x, places, output, order, mode, cval, prefilter)
    refuse_truncated(nd.geometric_transform, y)
    inside = Moved(x, places, order, mode, cval, prefilter)

    def dinput(dy):
        return project(inside.by_image(dy), input)

    def dmapping(dy):
        dplaces = inside.by_coordinates(dy).reshape(x.ndim, -1).T
        total = None
        for (point, back), dpoint in zip(found, dplaces, strict=True):
            total = accumulate(total, back(project(dpoint, point))[1])
        return total

    return y, (dinput, dmapping)
