"""Filters that choose an entry of each window: minima, maxima, medians, ranks, grey morphology.

The gradient goes to the entry that was chosen, and in equal parts to those that are equal to it.
"""

import numpy as np
from scipy import ndimage as nd

from rules_scipy.ndimage.convolutions import margins
from rules_scipy.shared.pixels.boundaries import (
    axes_of_filter,
    extended,
    folded,
    one_for_each,
    spread_on_axes,
)
from rules_scipy.shared.pixels.outputs import value_of
from rules_scipy.shared.solvers import name_of
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.ndimage.ranks")
ArrayLike = Numeric | list | tuple


class Windows:
    """Find what a filter has chosen in the window of each entry.

    Arguments:
        input: the image.
        y: what was chosen, an array of the same shape.
        footprint: which entries a window has, an array of truth values with as many axes.
        modes, origins: SciPy's options, for each axis.
        cval: the entries beyond the ends.
        heights: what is added to each entry before it is chosen; `None` for nothing.
    """

    def __init__(self, input, y, footprint, modes, origins, cval, heights=None):
        self.x, self.y, self.modes, self.cval = np.asarray(input), np.asarray(y), modes, cval
        self.reach = margins(footprint.shape, origins)
        self.offsets = list(zip(*map(np.ndarray.tolist, np.nonzero(footprint)), strict=True))
        self.heights = [0.0 if heights is None else heights[k].item() for k in self.offsets]

    def parts(self):
        """Return the part of the extended image that each entry of the windows reads."""
        return [
            tuple([slice(k, k + n) for k, n in zip(offset, self.x.shape, strict=True)])
            for offset in self.offsets
        ]

    def distances(self):
        """Return how far each entry of the windows is from what was chosen."""
        around = extended(self.x, self.reach, self.modes, self.cval)
        for part, height in zip(self.parts(), self.heights, strict=True):
            yield np.abs((around[part] + height).astype(self.y.dtype) - self.y)

    def choices(self):
        """Return, for each entry of the windows, its share in what was chosen."""
        least = np.inf
        for distance in self.distances():
            least = np.minimum(least, distance)
        chosen = [distance == least for distance in self.distances()]
        count = sum([each.astype(int) for each in chosen])
        return [each / np.maximum(count, 1) for each in chosen]

    def by_image(self, dy):
        """Return the cotangent of the image."""
        return spread(dy, self.shares(), tuple(self.parts()), self.reach, self.modes)

    def shares(self):
        """Return the shares, which are constant beside the steps."""
        return settled(self)


def settled(windows):
    """Return the shares of what was chosen; no gradient passes through them."""
    return windows.choices()


def spread(dy, shares, parts, reach, modes):
    """Return the cotangent of an image whose entries have shares in a choice."""
    shape = [n + before + after for n, (before, after) in zip(dy.shape, reach, strict=True)]
    full = np.zeros(shape, dy.dtype)
    for share, part in zip(shares, parts, strict=True):
        full[part] += dy * share
    return folded(full, reach, modes)


rule.constant(settled)


def footprint_of(f, size, footprint, axes, ndim):
    """Return the footprint of a filter along some axes, with as many axes as the image has."""
    if list(axes) != sorted(axes):
        raise NotImplementedError(
            f"{name_of(f)} has a rule for `axes` in ascending order alone: sort them"
        )
    if footprint is None:
        footprint = np.ones([int(n) for n in one_for_each(size, len(axes))], bool)
    footprint = np.asarray(footprint, bool)
    return np.reshape(footprint, spread_on_axes(footprint.shape, axes, ndim, 1))


def choice(f, input, y, size, footprint, mode, cval, origin, axes):
    """Return the windows of a filter with SciPy's options."""
    ndim = np.ndim(input)
    along = axes_of_filter(axes, ndim)
    found = footprint_of(f, size, footprint, along, ndim)
    modes = spread_on_axes(one_for_each(mode, len(along)), along, ndim, "reflect")
    origins = spread_on_axes(one_for_each(origin, len(along)), along, ndim, 0)
    return Windows(input, y, found, modes, origins, cval)


def declare_line(f):
    """Declare the rule of a minimum or maximum along one axis."""

    @rule(f)
    def _(input: ArrayLike, size: object, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
        y = value_of(f, input, size, axis, output=output, mode=mode, cval=cval, origin=origin)
        axis = axis % np.ndim(input)
        found = choice(f, input, y, int(size), None, mode, cval, origin, (axis,))

        def dinput(dy):
            return project(found.by_image(dy), input)

        return y, (dinput, None)


def declare(f):
    """Declare the rule of a filter that chooses without a parameter."""

    @rule(f)
    def _(
        input: ArrayLike,
        size=None,
        footprint=None,
        output=None,
        mode="reflect",
        cval=0.0,
        origin=0,
        *,
        axes=None,
    ):
        given = {"size": size, "footprint": footprint, "mode": mode, "cval": cval}
        y = value_of(f, input, output=output, origin=origin, axes=axes, **given)
        found = choice(f, input, y, size, footprint, mode, cval, origin, axes)

        def pullback(dy):
            return (project(found.by_image(dy), input),)

        return y, pullback


def declare_rank(f):
    """Declare the rule of a filter that is told which entry to choose: a step function of that."""

    @rule(f)
    def _(
        input: ArrayLike,
        rank: object,
        size=None,
        footprint=None,
        output=None,
        mode="reflect",
        cval=0.0,
        origin=0,
        *,
        axes=None,
    ):
        given = {"size": size, "footprint": footprint, "mode": mode, "cval": cval}
        y = value_of(f, input, rank, output=output, origin=origin, axes=axes, **given)
        found = choice(f, input, y, size, footprint, mode, cval, origin, axes)

        def pullback(dy):
            return project(found.by_image(dy), input), None

        return y, pullback


declare_line(nd.minimum_filter1d)
declare_line(nd.maximum_filter1d)
declare(nd.minimum_filter)
declare(nd.maximum_filter)
declare(nd.median_filter)
declare_rank(nd.rank_filter)
declare_rank(nd.percentile_filter)


def declare_morphology(f, sign):
    """Declare the rule of an erosion (`sign` -1) or dilation (`sign` 1), which turns its window."""

    @rule(f)
    def _(
        input: ArrayLike,
        size=None,
        footprint=None,
        structure=None,
        output=None,
        mode="reflect",
        cval=0.0,
        origin=0,
        *,
        axes=None,
    ):
        y = value_of(
            f,
            input,
            size=size,
            footprint=footprint,
            structure=structure,
            output=output,
            mode=mode,
            cval=cval,
            origin=origin,
            axes=axes,
        )
        found = morphology(f, input, y, sign, size, footprint, structure, mode, cval, origin, axes)

        def pullback(dy):
            return (project(found.by_image(dy), input),)

        return y, pullback


def morphology(f, input, y, sign, size, footprint, structure, mode, cval, origin, axes):
    """Return the windows of an erosion or dilation with SciPy's options."""
    ndim = np.ndim(input)
    along = axes_of_filter(axes, ndim)
    if footprint is None and structure is not None:
        footprint = np.ones(np.shape(structure))
    found = footprint_of(f, size, footprint, along, ndim)
    heights = None
    if structure is not None:
        heights = sign * np.reshape(np.asarray(structure, float), found.shape)
    origins = spread_on_axes(one_for_each(origin, len(along)), along, ndim, 0)
    if sign > 0:
        turned = (slice(None, None, -1),) * ndim
        found, heights = found[turned], None if heights is None else heights[turned]
        origins = [-o - (1 - n % 2) for o, n in zip(origins, found.shape, strict=True)]
    modes = spread_on_axes(one_for_each(mode, len(along)), along, ndim, "reflect")
    return Windows(input, y, found, modes, origins, cval, heights)


declare_morphology(nd.grey_erosion, -1)
declare_morphology(nd.grey_dilation, 1)
