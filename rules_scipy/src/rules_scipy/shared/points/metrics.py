"""Slopes of distances between vectors, for blocks of pairs.

Each function takes the vectors `u` and `v` with the coordinates in their last axis, the distances
`d` and their cotangents `dy`, both with an axis of length one there, and `o`, the options of the
metric by name. It returns the cotangents of `u` and `v`, for all pairs. Where two points are equal
a distance has a minimum, and its slope is zero.
"""

import numpy as np

from rulescore import project


def over(x, y):
    """Return `x / y`, and zero where `y` is zero."""
    zero = y == 0
    return np.where(zero, 0.0, x / np.where(zero, 1.0, y))


def of_difference(slope):
    """Return the metric of differences with this slope, a function of `u - v`, `d` and `o`."""

    def metric(u, v, d, dy, o):
        du = dy * slope(u - v, d, o)
        return du, -du

    return metric


def minkowski(x, d, o):
    """Return the slope of a norm of a difference."""
    p = o.get("p", 2.0)
    if p == np.inf:
        return chebyshev(x, d, o)
    size = np.abs(x)
    ratio = over(size, d)
    zero = ratio == 0
    if p >= 2:  # not by the sign, whose derivative is 0 where that of the slope is not
        limit = 1.0 if p == 2 else 0.0
        return o["w"] * over(x, d) * np.where(zero, limit, np.where(zero, 1.0, ratio) ** (p - 2))
    power = np.where(zero, 1.0 if p == 1 else 0.0, np.where(zero, 1.0, ratio) ** (p - 1))
    slope = np.sign(x) * power
    if p > 1:  # the second derivative by what is equal is infinite
        slope = slope + np.where((x == 0) & (d > 0), x, 0.0) ** (p - 1)
    return o["w"] * slope


def chebyshev(x, d, o):
    """Return the slope of the largest difference, in equal parts where several are largest."""
    size = np.abs(x) * (o["w"] > 0)
    largest = (size == np.max(size, -1, keepdims=True)) & (size > 0)
    return np.sign(x) * over(largest * 1.0, np.sum(largest, -1, keepdims=True))


def canberra(u, v, d, dy, o):
    """Return the cotangents for a sum of relative differences."""
    size = np.abs(u) + np.abs(v)
    towards = over(np.sign(u - v), size)
    whole = over(np.abs(u - v), size * size)
    scale = dy * o["w"]
    return scale * (towards - whole * np.sign(u)), scale * (-towards - whole * np.sign(v))


def braycurtis(u, v, d, dy, o):
    """Return the cotangents for a sum of differences over a sum of sums."""
    total = np.sum(o["w"] * np.abs(u + v), -1, keepdims=True)
    scale = over(dy * o["w"], total)
    whole = np.where(total == 0, 0.0, d) * np.sign(u + v)
    return scale * (np.sign(u - v) - whole), scale * (-np.sign(u - v) - whole)


def cosine(u, v, d, dy, o):
    """Return the cotangents for one less the cosine of an angle."""
    w = o["w"]
    uu, vv = [np.sum(w * x * x, -1, keepdims=True) for x in (u, v)]
    uv, size = np.sum(w * u * v, -1, keepdims=True), np.sqrt(uu * vv)
    du = over(-w * v, size) + over(uv * w * u, size * uu)
    dv = over(-w * u, size) + over(uv * w * v, size * vv)
    return dy * du, dy * dv


def correlation(u, v, d, dy, o):
    """Return the cotangents for one less a correlation."""
    share = o["w"] / np.sum(np.broadcast_to(o["w"], u.shape[-1:]))
    centred = [x - np.sum(share * x, -1, keepdims=True) for x in (u, v)]
    found = cosine(*centred, d, dy, o)
    return tuple([dx - share * np.sum(dx, -1, keepdims=True) for dx in found])


def jensenshannon(u, v, d, dy, o):
    """Return the cotangents for the distance of distributions by Jensen and Shannon."""
    totals = [np.sum(x, -1, keepdims=True) for x in (u, v)]
    p, q = u / totals[0], v / totals[1]
    found = []
    for x, total in zip((p, q), totals, strict=True):
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(x > 0, np.log(x / ((p + q) / 2)), -np.inf)
        mean = np.sum(np.where(x > 0, slope * x, 0.0), -1, keepdims=True)
        found.append(over(dy, 4 * d) * np.where(d == 0, 0.0, slope - mean) / total)
    return tuple(found)


METRICS = {
    "sqeuclidean": of_difference(lambda x, d, o: 2 * o["w"] * x),
    "euclidean": of_difference(lambda x, d, o: over(o["w"] * x, d)),
    "seuclidean": of_difference(lambda x, d, o: over(x / o["V"], d)),
    "mahalanobis": of_difference(lambda x, d, o: over(x @ ((o["VI"] + o["VI"].T) / 2), d)),
    "cityblock": of_difference(lambda x, d, o: o["w"] * np.sign(x)),
    "chebyshev": of_difference(chebyshev),
    "minkowski": of_difference(minkowski),
    "canberra": canberra,
    "braycurtis": braycurtis,
    "cosine": cosine,
    "correlation": correlation,
    "jensenshannon": jensenshannon,
}


def broadcast_back(dx, x):
    """Return the cotangent of an array that was broadcast, in its shape."""
    shape = np.shape(x)
    dx = np.sum(dx, tuple(range(dx.ndim - len(shape))))
    axes = tuple([k for k, n in enumerate(shape) if n == 1 and dx.shape[k] != 1])
    return project(np.sum(dx, axes, keepdims=True) if axes else dx, x)
