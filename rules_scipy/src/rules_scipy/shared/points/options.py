"""Slopes of distances between vectors by the options of a metric, for blocks of pairs.

Each function takes what the metrics of `metrics` take, and returns the slope of the distance by an
option, for all pairs: by `p` a number, by `w` and `V` a row.
"""

import numpy as np

from rules_scipy.shared.points.metrics import over


def of_ratio(parts):
    """Return the slope by `w` of a ratio of weighted sums, from the function of both summands."""

    def slope(u, v, d, o):
        above, below = [np.broadcast_to(x * 1.0, np.shape(u - v)) for x in parts(u, v)]
        total = np.sum(o["w"] * below, -1, keepdims=True)
        refuse_others(over(np.sum(o["w"] * above, -1, keepdims=True), total), d, total)
        return over(above - np.where(total == 0, 0.0, d) * below, total)

    return slope


def refuse_others(ratio, d, total):
    """Raise `NotImplementedError` where SciPy's distance is no ratio of these sums."""
    if np.any((np.abs(ratio - d) > 1e-6) & (total != 0)):
        raise NotImplementedError(
            "this version of SciPy has another distance of points that are no truth values, whose "
            "derivative by `w` is not known: let `w` be constant (`stop_gradient`)"
        )


def of_truth(parts):
    """Return the slope by `w` of a ratio of sums over truth values."""
    return of_ratio(lambda u, v: parts(u != 0, v != 0))


def yule(u, v, d, o):
    """Return the slope by `w` of Yule's ratio of products of counts."""
    x, y = u != 0, v != 0
    cases = [1.0 * case for case in (x & y, ~x & ~y, x & ~y, ~x & y)]
    tt, ff, tf, ft = [np.sum(o["w"] * case, -1, keepdims=True) for case in cases]
    equal = cases[0] * ff + tt * cases[1]
    apart = cases[2] * ft + tf * cases[3]
    total = tt * ff + tf * ft
    refuse_others(over(2 * tf * ft, total), d, total)
    return over((2 - d) * apart - d * equal, total)


def minkowski(u, v, d, o):
    """Return the slope of a norm by `w`; where all weights are zero it may be infinite."""
    p, size = o.get("p", 2.0), np.abs(u - v)
    if p == np.inf:
        return np.zeros_like(size)
    ratio = over(size, d)
    zero = ratio == 0
    inside = np.where(zero, 0.0, d * np.where(zero, 1.0, ratio) ** p / p)
    if p < 1:
        return inside
    edge = np.where(size == 0, 0.0, size if p == 1 else np.inf)
    return np.where(d == 0, edge, inside)


def by_power(u, v, d, o):
    """Return the slope of a norm by its power `p`."""
    p = o["p"]
    if p == np.inf:
        return np.zeros_like(d)
    ratio = over(np.abs(u - v), d)
    zero = ratio == 0
    ratio = np.where(zero, 1.0, ratio)
    shares = np.where(zero, 0.0, o["w"] * ratio**p * np.log(ratio))
    return d / p * np.sum(shares, -1, keepdims=True)


def cosine(u, v, d, o):
    """Return the slope by `w` of one less the cosine of an angle."""
    uu, vv, uv = [np.sum(o["w"] * x, -1, keepdims=True) for x in (u * u, v * v, u * v)]
    size = np.sqrt(uu * vv)
    return over(uv, size) * (over(u * u, uu) + over(v * v, vv)) / 2 - over(u * v, size)


def correlation(u, v, d, o):
    """Return the slope by `w` of one less a correlation; by the means there is none."""
    share = o["w"] / np.sum(o["w"])
    return cosine(*[x - np.sum(share * x, -1, keepdims=True) for x in (u, v)], d, o)


BY_WEIGHTS = {
    "sqeuclidean": lambda u, v, d, o: (u - v) ** 2,
    "euclidean": minkowski,
    "cityblock": lambda u, v, d, o: np.abs(u - v),
    "chebyshev": lambda u, v, d, o: np.zeros_like(u - v),
    "minkowski": minkowski,
    "canberra": lambda u, v, d, o: over(np.abs(u - v), np.abs(u) + np.abs(v)),
    "braycurtis": of_ratio(lambda u, v: (np.abs(u - v), np.abs(u + v))),
    "cosine": cosine,
    "correlation": correlation,
    "hamming": of_ratio(lambda u, v: (u != v, 1.0)),
    "jaccard": of_truth(lambda u, v: (u ^ v, u | v)),
    "dice": of_ratio(lambda u, v: (u != v, ((u != 0) & (v != 0)) * 2 + (u != v))),
    "rogerstanimoto": of_truth(lambda u, v: ((u ^ v) * 2, 1 + (u ^ v))),
    "russellrao": of_truth(lambda u, v: (~(u & v), 1.0)),
    "sokalsneath": of_truth(lambda u, v: ((u ^ v) * 2, (u & v) + (u ^ v) * 2)),
    "yule": yule,
}
"""The slope by the weights, for each metric that takes them."""


def by_variances(u, v, d, o):
    """Return the slope of scaled differences by the variances `V`."""
    return -over(((u - v) / o["V"]) ** 2, 2 * d)


def pulled(name, option, u, v, d, dy, o):
    """Return the cotangent of an option of a metric, for a block of pairs."""
    if option == "VI":
        x = (u - v).reshape(-1, np.shape(u)[-1])
        return x.T @ (over(dy, 2 * d).reshape(-1, 1) * x)
    if option == "p":
        return np.sum(dy * by_power(u, v, d, o))
    slope = by_variances if option == "V" else BY_WEIGHTS[name]
    return np.sum(dy * slope(u, v, d, o), (0, 1))
