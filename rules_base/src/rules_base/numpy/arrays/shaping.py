"""Shape and order of arrays: the same entries elsewhere, and the pullback moves them back."""

import numpy as np
from numpy.lib.stride_tricks import as_strided

from rules_base.numpy.arrays.indexing import from_positions
from rules_base.shared.axes import reshaped, shape_of
from rules_base.shared.batches import flat
from rulescore import Array, Numeric, RuleSet
from rulescore.batching import behind

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.arrays.shaping", may_raise=False)


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
    order = order_of(x, order)
    if order != "K":
        return reshaped(dy, shape_of(x), order)
    return from_positions(dy, x, places_in_memory(x))


def order_of(x, order):
    """Return the order in which the entries of `x` are read, where its memory decides."""
    if order == "C" or order == "F":
        return order
    order = order.upper()
    if order == "A":
        order = "F" if isinstance(x, np.ndarray) and x.flags.fnc else "C"
    return order


def places_in_memory(x):
    """Return where the entries of `x` stand among all, as they follow each other in memory."""
    shape = np.shape(x)
    strides = [abs(stride) for stride in getattr(x, "strides", ())]  # a Python number has none
    ends = as_strided(np.empty(1), [min(n, 2) for n in shape], strides)  # never read
    axes: list[int] = []  # the quickest first
    steps = np.nditer(ends, ["multi_index", "zerosize_ok"], order="K")
    for _ in steps:
        axes += [axis for axis, i in enumerate(steps.multi_index) if i and axis not in axes]
    axes += [axis for axis in range(len(shape)) if axis not in axes]
    return np.transpose(np.reshape(np.arange(np.size(x)), shape), axes[::-1]).ravel()


def in_shape_of(dx, x, y, order):
    """Return a tangent in the shape of `y`, its entries read in the order of those of `x`."""
    order = order_of(x, order)
    if order != "K":
        return reshaped(dx, shape_of(y), order)
    return np.ravel(dx)[places_in_memory(x)]


@rule.forward(np.reshape)
def _(x: Numeric, shape=None, order="C"):
    y = np.reshape(x, shape, **named_order(order))
    return y, (lambda dx: in_shape_of(dx, x, y, order),)


@rule.forward(np.ndarray.reshape, np.generic.reshape)
def _(x: Array | np.generic, *shape: object, order="C"):
    y = x.reshape(*shape, **named_order(order))
    return y, lambda dx, *_: in_shape_of(dx, x, y, order)


@rule.forward(np.ravel, np.ndarray.ravel, np.generic.ravel)
def _(x: Numeric, order="C"):
    y = np.ravel(x, **named_order(order))
    return y, (lambda dx: in_shape_of(dx, x, y, order),)


@rule.forward(np.ndarray.flatten, np.generic.flatten)
def _(x: Array | np.generic, order="C"):
    y = x.flatten(**named_order(order))
    return y, (lambda dx: in_shape_of(dx, x, y, order),)


def named_order(order):
    """Return an order as options: few libraries take the usual one."""
    return {} if order == "C" else {"order": order}


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


# -- of batches


@rule.batched(np.reshape)
def _(x: Numeric, shape=None, order="C"):
    return in_shape(x, shape, order)


@rule.batched(np.ndarray.reshape, np.generic.reshape)
def _(x: Array | np.generic, *shape, order="C"):
    return in_shape(x, shape[0] if len(shape) == 1 else shape, order)


def in_shape(x, shape, order):
    """Return a batch whose entries have another shape."""
    if order != "C":
        return NotImplemented
    return np.reshape(x, (len(x), *(shape if isinstance(shape, tuple | list) else (shape,))))


@rule.batched(np.ravel, np.ndarray.ravel, np.generic.ravel)
def _(x: Numeric, order="C"):
    return flat(x) if order == "C" else NotImplemented


@rule.batched(np.ndarray.flatten, np.generic.flatten)
def _(x: Array | np.generic, order="C"):
    return flat(x) if order == "C" else NotImplemented


@rule.batched(np.transpose)
def _(x: Numeric, axes=None):
    return in_order_of_axes(x, axes)


@rule.batched(np.ndarray.transpose, np.generic.transpose)
def _(x: Array | np.generic, *axes):
    order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
    return in_order_of_axes(x, order)


@rule.batched(np.ndarray.T)
def _(x: Array):
    return in_order_of_axes(x, None)


def in_order_of_axes(x, axes):
    """Return a batch whose entries have their axes in another order."""
    order = behind(axes, x)
    return np.transpose(x, (0, *(reversed(order) if axes is None else order)))


@rule.batched(np.matrix_transpose)
def _(x: Array):
    return np.swapaxes(x, -1, -2) if x.ndim > 2 else NotImplemented


@rule.batched(np.swapaxes, np.ndarray.swapaxes)
def _(x: Array, axis1=None, axis2=None):
    return np.swapaxes(x, behind(axis1, x), behind(axis2, x))


@rule.batched(np.broadcast_to)
def _(x: Numeric, shape=None, subok=False):
    shape = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    missing = len(shape) + 1 - x.ndim
    if missing < 0:
        return NotImplemented
    return np.broadcast_to(np.reshape(x, (len(x), *(1,) * missing, *x.shape[1:])), (len(x), *shape))


@rule.batched(np.squeeze, np.ndarray.squeeze, np.generic.squeeze)
def _(x: Numeric, axis=None):
    axes = tuple([a for a in range(1, x.ndim) if x.shape[a] == 1])
    return np.squeeze(x, axes if axis is None else behind(axis, x))


@rule.batched(np.expand_dims)
def _(x: Numeric, axis=None):
    axes = tuple(axis) if isinstance(axis, tuple | list) else (axis,)
    count = x.ndim - 1 + len(axes)
    if not all(-count <= a < count for a in axes):
        return NotImplemented
    return np.expand_dims(x, tuple([a % count + 1 for a in axes]))
