"""How SciPy extends an image beyond its ends, and the adjoint of that.

An extension copies entries: `places` says which. Its adjoint adds up what belongs to one entry.
"""

import numpy as np

FILLED = ("constant", "grid-constant")


def places(n, before, after, mode):
    """Return which entry of an axis stands at each position of the extended axis; -1 for `cval`.

    Arguments:
        n: the length of the axis.
        before, after: how many positions are added.
        mode: SciPy's name of the extension.
    """
    i = np.arange(-before, n + after)
    if mode in FILLED or n == 0:
        return np.where((i >= 0) & (i < n), i, -1)
    if mode == "nearest":
        return np.clip(i, 0, n - 1)
    if mode in ("wrap", "grid-wrap"):
        return i % n
    if mode == "mirror":
        return n - 1 - np.abs(i % max(2 * n - 2, 1) - (n - 1))
    i = i % (2 * n)
    return np.where(i < n, i, 2 * n - 1 - i)


def extended(x, widths, modes, cval):
    """Return an array with entries added on both sides of its axes.

    Arguments:
        x: the array.
        widths: a pair for each axis, how many are added before and after.
        modes: SciPy's name of the extension along each axis.
        cval: the entries beyond the ends where the mode is constant.
    """
    for axis, ((before, after), mode) in enumerate(zip(widths, modes, strict=True)):
        if before or after:
            x = extended_axis(x, axis, before, after, mode, cval)
    return x


def extended_axis(x, axis, before, after, mode, cval):
    """Return an array with entries added on both sides of one axis."""
    if x.shape[axis] == 0:
        return np.repeat(x.sum(axis, keepdims=True), before + after, axis)
    found = places(x.shape[axis], before, after, mode)
    y = np.take(x, np.maximum(found, 0), axis)
    if mode not in FILLED:
        return y
    inside = np.expand_dims(found >= 0, tuple(range(1, x.ndim - axis)))
    return np.where(inside, y, np.asarray(cval, np.result_type(y, 0.0)))


def folded(z, widths, modes):
    """Return the cotangent of an array from that of the extended one: the adjoint of `extended`."""
    for axis, ((before, after), mode) in enumerate(zip(widths, modes, strict=True)):
        if before or after:
            z = folded_axis(z, axis, before, after, mode)
    return z


def folded_axis(z, axis, before, after, mode):
    """Return an array with what stands beyond the ends of one axis added to where it comes from."""
    z = np.moveaxis(z, axis, 0)
    n = len(z) - before - after
    x = z[before : before + n].copy()
    if mode not in FILLED and n:
        found = places(n, before, after, mode)
        np.add.at(x, found[:before], z[:before])
        np.add.at(x, found[before + n :], z[before + n :])
    return np.moveaxis(x, 0, axis)


def spread_on_axes(values, axes, ndim, other):
    """Return a list with a value for each axis of an array, `other` for those not in `axes`."""
    found = [other] * ndim
    for value, axis in zip(values, axes, strict=True):
        found[axis] = value
    return found


def axes_of_filter(axes, ndim):
    """Return the axes along which a filter works, as indices that are not negative."""
    if axes is None:
        return tuple(range(ndim))
    return tuple([int(axis) % ndim for axis in np.atleast_1d(axes)])


def one_for_each(given, count):
    """Return an option as a list with an entry for each axis."""
    is_one = isinstance(given, str) or np.ndim(given) == 0
    return [given] * count if is_one else list(given)
