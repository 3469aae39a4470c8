"""Padding: what is added around an array is constant, a copy of its entries, or made of them."""

import numpy as np

from rules_base.numpy.arrays.rearranging import from_positions
from rules_base.numpy.reductions import take_slice
from rules_base.shared.axes import inexact_type, like
from rulescore import Array, RuleSet, project, rrule

rule = RuleSet("rules_base", examples="rules_base.examples.numpy.arrays.padding", may_raise=False)

COPIED = ("edge", "reflect", "symmetric", "wrap")
STATISTICS = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}
MODES = ("constant", "linear_ramp", *COPIED, *STATISTICS)


@rule(np.pad)
def _(x: Array, pad_width=None, mode="constant", **options):
    if callable(mode):
        raise NotImplementedError(
            "np.pad has no rule for a function as mode: join the array and its borders by "
            "`np.concatenate`"
        )
    if mode not in MODES or options.get("reflect_type", "even") != "even":
        raise NotImplementedError(
            f"np.pad has no rule for mode={mode!r} with these options: use one of "
            f"{', '.join(MODES)}, and even reflections"
        )
    if mode == "median" and not isinstance(x, np.ndarray):
        raise NotImplementedError(
            "np.pad with mode 'median' has a rule for NumPy's own arrays alone: use 'mean' or "
            "'edge'"
        )
    length = options.get("stat_length")
    if length is not None and not isinstance(x, np.ndarray):  # dask does not see where x ends
        ends = np.minimum(np.broadcast_to(length, (x.ndim, 2)), np.reshape(x.shape, (-1, 1)))
        options["stat_length"] = ends.tolist()
    y = np.pad(x, pad_width, mode, **options)

    def pullback(dy):
        if x.size == 0:
            return (np.zeros_like(x, dtype=inexact_type(dy)),)
        if mode in COPIED:
            positions = np.reshape(np.arange(x.size), x.shape)
            return (from_positions(dy, x, np.pad(positions, pad_width, mode)),)
        starts = starts_of(x, pad_width)
        if mode == "constant":
            inner = [slice(start, start + n) for start, n in zip(starts, x.shape, strict=True)]
            return (project(dy[tuple(inner)], x),)
        for axis in range(x.ndim - 1, -1, -1):  # NumPy pads the axes in order, each time the whole
            dy = pads_back(dy, y, x.shape, starts, axis, mode, options.get("stat_length"))
        return (project(dy, x),)

    return y, pullback


def pads_back(dy, y, shape, starts, axis, mode, stat_length):
    """Return the cotangent of what was padded along `axis`, later axes of `y` not yet padded."""
    start, n = starts[axis], shape[axis]
    before = take_slice(dy, axis, slice(0, start))
    after = take_slice(dy, axis, slice(start + n, None))
    dx = take_slice(dy, axis, slice(start, start + n))
    if mode == "linear_ramp":
        dx = dx + ramp_back(before, axis, n, 0)
        return dx + ramp_back(np.flip(after, axis), axis, n, n - 1)
    x = y
    for other in range(axis, len(shape)):
        x = take_slice(x, other, slice(starts[other], starts[other] + shape[other]))
    lengths = np.broadcast_to(stat_length, (len(shape), 2))[axis]
    left, right = (n if length is None else min(length, n) for length in lengths)
    dx = dx + statistic_back(STATISTICS[mode], before, x, axis, slice(0, left))
    return dx + statistic_back(STATISTICS[mode], after, x, axis, slice(n - right, n))


def starts_of(x, pad_width):
    """Return at which index of each axis the entries of `x` begin, in the padded array."""
    marked = np.pad(np.ones(x.shape, bool), pad_width)
    return np.unravel_index(np.argmax(marked), marked.shape)


def ramp_back(dy, axis, n, edge):
    """Return the cotangent of `n` entries from that of a ramp that rises to the one at `edge`."""
    width = dy.shape[axis]
    shape = [1] * dy.ndim
    shape[axis] = width
    weights = np.reshape(np.arange(width, **like(dy)) / max(width, 1), shape)
    return placed(np.sum(dy * weights, axis=axis, keepdims=True), axis, n, edge)


def statistic_back(f, dy, x, axis, part):
    """Return the cotangent of `x` from that of pads which hold `f` of a `part` of it."""
    _, back = rrule(f, take_slice(x, axis, part), axis=axis, keepdims=True)
    dpart = back(np.sum(dy, axis=axis, keepdims=True))[1]
    return placed(dpart, axis, x.shape[axis], part.start)


def placed(dx, axis, n, start):
    """Return `dx` among `n` entries along `axis`, the others zero."""
    width = [(0, 0)] * dx.ndim
    width[axis] = (start, n - start - dx.shape[axis])
    return np.pad(dx, width)
