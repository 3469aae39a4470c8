"""Reading parts of arrays: subscripts, and the scatter that undoes them."""

import operator

import numpy as np

from rulescore import Array, RuleSet, project

rule = RuleSet("rules_base")


@rule(operator.getitem)
def _(x: Array, index: object):
    def pullback(dy):
        return scatter(dy, x, index), None

    return x[index], pullback


def scatter(dy, x, index):
    """Return the cotangent of `x` from that of `x[index]`: zeros, and `dy` added in its place."""
    kind = x.dtype.kind
    if kind not in "iufc":
        return None
    if not isinstance(x, np.ndarray):
        return scatter_lazily(dy, x, index)
    if kind != "c":
        dy = np.real(dy)
    dx = np.zeros_like(x, dtype=x.dtype if kind in "fc" else np.result_type(dy, np.float16))
    if may_repeat(index):
        np.add.at(dx, index, dy)
    else:
        dx[index] = dy
    return dx


def may_repeat(index):
    """Return whether `index` holds integer arrays, which may name an entry more than once."""
    if type(index) is tuple:
        return any(may_repeat(part) for part in index)
    if isinstance(index, np.ndarray):
        return index.dtype.kind != "b" and index.ndim > 0
    return isinstance(index, list) and np.asarray(index).dtype.kind != "b"


def scatter_lazily(dy, x, index):
    """Scatter into an array of a foreign type, through the flat positions of its entries."""
    positions = np.arange(x.size).reshape(x.shape)[index]
    order = np.argsort(positions, axis=None, kind="stable")
    ranked = np.reshape(positions, (-1,))[order]
    values = np.reshape(np.broadcast_to(dy, positions.shape), (-1,))[order]
    # the sum of what falls on one position is a difference of running sums
    sums = np.concatenate([np.zeros_like(values[:1]), np.cumsum(values)])
    first = np.searchsorted(ranked, np.arange(x.size), side="left")
    last = np.searchsorted(ranked, np.arange(x.size), side="right")
    return project(np.reshape(sums[last] - sums[first], x.shape), x)


CUBE = np.arange(24.0).reshape(2, 3, 4) / 7
for index in (
    1,
    (0, 2),
    (slice(None), 1),
    slice(None, None, -1),
    (Ellipsis, slice(1, 3)),
    (None, 0),
    [0, 1, 1],
    np.array([[0, 1], [1, 1]]),
    (slice(None), [0, 2, 2], [1, 3, 3]),
    (0, slice(None), np.array([3, 3, 0])),
    CUBE > 1.5,
    (),
):
    rule.example(operator.getitem, CUBE, index)
