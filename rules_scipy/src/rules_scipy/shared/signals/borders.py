"""Borders that an image is given before it is filtered, and their adjoint."""

import numpy as np


def bordered(x, widths, mode, fill=0):
    """Return an array with a border of `widths[i]` entries at both ends of axis `i`.

    Arguments:
        x: the array.
        widths: one for each axis.
        mode: as for `numpy.pad`.
        fill: the entries of a constant border.
    """
    values = {"constant_values": fill} if mode == "constant" else {}
    return np.pad(x, [(w, w) for w in widths], mode=mode, **values)


def folded(dx, widths, mode):
    """Return the cotangent of an array from that of the array with its border."""
    for axis, width in enumerate(widths):
        rows = np.moveaxis(dx, axis, 0)
        n = rows.shape[0] - 2 * width
        inner = rows[width : width + n]
        if mode != "constant" and width:
            inner = inner.copy()
            source = np.pad(np.arange(n), width, mode=mode)
            for at in (slice(width), slice(width + n, None)):
                places = np.unique(source[at])
                hits = (source[at, None] == places).astype(rows.real.dtype)
                inner[places] += np.tensordot(hits, rows[at], (0, 0))
        dx = np.moveaxis(inner, 0, axis)
    return dx


def continued(x, width, kind):
    """Return an array continued at both ends of its last axis, as `scipy.signal.filtfilt` does.

    Arguments:
        x: the array.
        width: the number of entries at either end, fewer than the array has.
        kind: 'even', 'odd' or 'constant'.
    """
    first, last, n = x[..., :1], x[..., -1:], x.shape[-1]
    left = np.flip(x[..., 1 : width + 1], -1)
    right = np.flip(x[..., n - width - 1 : n - 1], -1)
    if kind == "odd":
        left, right = 2 * first - left, 2 * last - right
    elif kind == "constant":
        left, right = np.broadcast_to(first, left.shape), np.broadcast_to(last, right.shape)
    return np.concatenate([left, x, right], -1)


def continued_back(dx, width, kind):
    """Return the cotangent of an array from that of the continued one."""
    n = dx.shape[-1] - 2 * width
    left, right = dx[..., :width], dx[..., width + n :]
    found = dx[..., width : width + n].copy()
    if kind != "even":
        weight = 2 if kind == "odd" else 1
        found[..., 0] += weight * np.sum(left, -1)
        found[..., -1] += weight * np.sum(right, -1)
    if kind != "constant":
        sign = -1 if kind == "odd" else 1
        found[..., 1 : width + 1] += sign * np.flip(left, -1)
        found[..., n - width - 1 : n - 1] += sign * np.flip(right, -1)
    return found
