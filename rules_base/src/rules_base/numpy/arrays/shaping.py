"""Shape and order of arrays: the same entries elsewhere, so the cotangent goes the way back."""

import numpy as np

from rules_base.numpy.arrays.indexing import from_positions
from rules_base.shared.axes import reshaped, shape_of
from rulescore import Array, Numeric, RuleSet

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.arrays.shaping")


@rule.linear(np.reshape)
def _(dy, x: Numeric, shape=None, order="C"):
    return in_order(dy, x, order)


@rule.linear(np.ndarray.reshape, np.generic.reshape)
def _(dy, x: Array | np.generic, *shape: object, order="C"):
    return in_order(dy, x, order)


@rule.linear(np.ravel, np.ndarray.ravel, np.generic.ravel)
def _(dy, x: Numeric, order="C"):
    return in_order(dy, x, order)


@rule.linear(np.ndarray.flatten, np.generic.flatten)
def _(dy, x: Array | np.generic, order="C"):
    return in_order(dy, x, order)


def in_order(dy, x, order):
    """Return `dy` in the shape of `x`, whose memory decides what the orders "A" and "K" are."""
    if order == "C" or order == "F":
        return reshaped(dy, shape_of(x), order)
    order = order.upper()
    if order == "A":
        order = "F" if isinstance(x, np.ndarray) and x.flags.fnc else "C"
    if order != "K":
        return np.reshape(np.ravel(dy, order), shape_of(x), order=order)
    places = np.empty_like(x, dtype=np.intp)  # with its axes in the order of those of `x`
    places[...] = np.reshape(np.arange(places.size), places.shape)
    return from_positions(dy, x, np.ravel(places, "K"))


@rule.linear(np.transpose)
def _(dy, x: Numeric, axes=None):
    return np.transpose(dy, inverse_of(axes))


@rule.linear(np.ndarray.transpose, np.generic.transpose)
def _(dy, x: Array | np.generic, *axes: object):
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
    return np.transpose(dy, inverse_of(order))


def inverse_of(axes):
    """Return the permutation that undoes `axes`; `None`, which reverses all, undoes itself."""
    if axes is None or isinstance(axes, int | np.integer):  # the only axis of a vector
        return None
    return [int(a) for a in np.argsort([a % len(axes) for a in axes])]


@rule.linear(np.matrix_transpose)
def _(dy, x: Array):
    return np.swapaxes(dy, -1, -2)


@rule.linear(np.swapaxes, np.ndarray.swapaxes)
def _(dy, x: Array, axis1=None, axis2=None):
    return np.swapaxes(dy, axis1, axis2)


@rule.linear(np.broadcast_to)
def _(dy, x: Numeric, shape=None, subok=False):
    return dy


@rule.linear(np.squeeze, np.ndarray.squeeze, np.generic.squeeze)
def _(dy, x: Numeric, axis=None):
    return reshaped(dy, shape_of(x))


@rule.linear(np.expand_dims)
def _(dy, x: Numeric, axis=None):
    return reshaped(dy, shape_of(x))
