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
            source = np.pad(np.arange(n), width, mode=mode)
            for at in (slice(width), slice(width + n, None)):
                hits = (source[at, None] == np.arange(n)).astype(rows.real.dtype)
                inner = inner + np.tensordot(hits, rows[at], (0, 0))
        dx = np.moveaxis(inner, 0, axis)
    return dx
