"""Shape and order of arrays: the same entries elsewhere, so the cotangent goes the way back."""

import numpy as np

from rules_base.numpy.arrays.indexing import from_positions
from rules_base.shared.axes import reshaped, shape_of
from rulescore import Array, Numeric, RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.arrays.shaping")


@rule(np.reshape)
def _(x: Numeric, shape=None, order="C"):
    def pullback(dy):
        return (project(in_order(dy, x, order), x),)

    return reshaped(x, shape, order), pullback


@rule(np.ndarray.reshape, np.generic.reshape)
def _(x: Array | np.generic, *shape: object, order="C"):
    def pullback(dy):
        return project(in_order(dy, x, order), x), *(None,) * len(shape)

    y = x.reshape(*shape) if order == "C" else x.reshape(*shape, order=order)
    return y, pullback


@rule(np.ravel, np.ndarray.ravel, np.generic.ravel)
def _(x: Numeric, order="C"):
    def pullback(dy):
        return (project(in_order(dy, x, order), x),)

    return (np.ravel(x) if order == "C" else np.ravel(x, order)), pullback


@rule(np.ndarray.flatten, np.generic.flatten)
def _(x: Array | np.generic, order="C"):
    def pullback(dy):
        return (project(in_order(dy, x, order), x),)

    return (x.flatten() if order == "C" else x.flatten(order)), pullback


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


@rule(np.transpose)
def _(x: Numeric, axes=None):
    def pullback(dy):
        return (project(np.transpose(dy, inverse_of(axes)), x),)

    return np.transpose(x, axes), pullback


@rule(np.ndarray.transpose, np.generic.transpose)
def _(x: Array | np.generic, *axes: object):
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None

    def pullback(dy):
        return (project(np.transpose(dy, inverse_of(order)), x), *(None for _ in axes))

    return np.transpose(x, order), pullback


def inverse_of(axes):
    """Return the permutation that undoes `axes`; `None`, which reverses all, undoes itself."""
    if axes is None or isinstance(axes, int | np.integer):  # the only axis of a vector
        return None
    return [int(a) for a in np.argsort([a % len(axes) for a in axes])]


@rule(np.matrix_transpose)
def _(x: Array):
    def pullback(dy):
        return (project(np.swapaxes(dy, -1, -2), x),)

    return np.matrix_transpose(x), pullback


@rule(np.swapaxes, np.ndarray.swapaxes)
def _(x: Array, axis1=None, axis2=None):
    def pullback(dy):
        return (project(np.swapaxes(dy, axis1, axis2), x),)

    return np.swapaxes(x, axis1, axis2), pullback


@rule(np.broadcast_to)
def _(x: Numeric, shape=None):
    def pullback(dy):
        return (project(dy, x),)

    return np.broadcast_to(x, shape), pullback


@rule(np.squeeze, np.ndarray.squeeze, np.generic.squeeze)
def _(x: Numeric, axis=None):
    def pullback(dy):
        return (project(reshaped(dy, shape_of(x)), x),)

    return np.squeeze(x, axis), pullback


@rule(np.expand_dims)
def _(x: Numeric, axis=None):
    def pullback(dy):
        return (project(reshaped(dy, shape_of(x)), x),)

    return np.expand_dims(x, axis), pullback
