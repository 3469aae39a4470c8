"""Distances between many points: `cdist`, `pdist`, and what goes with them."""

import numpy as np
from scipy import spatial
from scipy.spatial import distance as sd

from rules_scipy.shared.linear.matrices import given
from rules_scipy.shared.points import options as slopes
from rules_scipy.shared.points.metrics import METRICS, broadcast_back, over
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.spatial.distances")
ArrayLike = Numeric | list | tuple
STEPS = ("dice", "hamming", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
OPTIONS = {"minkowski": ("w", "p"), "seuclidean": ("V",), "mahalanobis": ("VI",)}
NAMES = ("w", "p", "V", "VI")
BLOCK = 2**18  # numbers that are held at once
rule.constant(sd.is_valid_dm, sd.is_valid_y, sd.num_obs_dm, sd.num_obs_y)


class Metric:
    """Read a metric and its options, as SciPy does.

    Attributes:
        name: SciPy's full name of the metric.
        is_step: whether it is a step function of the points.
        options: its options by name, with those that SciPy computes of the points.
        given: the names of the options that were given.
        estimated: the name of the option that SciPy has computed, or `None`.
    """

    def __init__(self, f, metric, points, out, options):
        if out is not None:
            raise NotImplementedError(
                f"scipy.spatial.distance.{f.__name__} has no rule that writes to `out`: use what "
                "it returns"
            )
        lower = metric.lower().removeprefix("test_")
        self.name = name = sd._METRIC_ALIAS[lower].canonical_name
        self.is_step = name in STEPS
        self.given = tuple(options)
        if not self.is_step and any(map(np.iscomplexobj, points)):
            raise NotImplementedError(
                f"scipy.spatial.distance.{f.__name__} has no rule for complex points: give real "
                "and imaginary parts as columns"
            )
        self.options = {"w": np.ones(()), **options}
        for k, x in options.items():
            self.options[k] = x if k == "p" else np.asarray(x, float)
        self.estimated = None
        for option, estimate in (("V", variances), ("VI", inverse_covariance)):
            if option in OPTIONS.get(name, ()) and option not in options:
                self.options[option], self.estimated = estimate(np.vstack(points)), option

    def pulled(self, u, v, d, dy):
        """Return the cotangents of `u` and `v` for all pairs, and that of what was estimated."""
        u, v, d, dy = u[:, None], v[None], d[..., None], dy[..., None]
        du, dv = METRICS[self.name](u, v, d, dy, self.options)
        estimate = None
        if self.estimated is not None:
            estimate = slopes.pulled(self.name, self.estimated, u, v, d, dy, self.options)
        return np.sum(du, 1), np.sum(dv, 0), estimate

    def of_given(self, blocks, options):
        """Return the cotangents of the options that were given, `None` for the others."""
        total = [0.0 for _ in self.given]
        for u, v, d, dy in blocks:
            pairs = u[:, None], v[None], d[..., None], dy[..., None]
            each = [slopes.pulled(self.name, k, *pairs, self.options) for k in self.given]
            total = [x + y for x, y in zip(total, each, strict=True)]
        found = dict(zip(self.given, total, strict=True))
        return [
            project(found[k] + np.zeros(np.shape(x)), x) if k in found else None
            for k, x in zip(NAMES, options, strict=False)
        ]

    def of_estimate(self, destimate, points):
        """Return the cotangent of all points from that of what was estimated."""
        centred = points - np.mean(points, 0)
        if self.estimated == "V":
            return 2 * destimate * centred / (len(points) - 1)
        inverse = self.options["VI"]
        dcovariance = -inverse.T @ destimate @ inverse.T
        return centred @ (dcovariance + dcovariance.T) / (len(points) - 1)


def variances(points):
    """Return the variances by which SciPy scales."""
    return np.var(points, axis=0, ddof=1)


def inverse_covariance(points):
    """Return the inverse of the covariance of points."""
    return np.linalg.inv(np.atleast_2d(np.cov(points.T))).T


def cdist_blocks(a, b, y, dy):
    """Return pairs of points in blocks, with their distances and the cotangents of these."""
    x, z = a.astype(float), b.astype(float)
    rows = max(1, BLOCK // max(1, z.size))
    parts = [slice(start, start + rows) for start in range(0, len(x), rows)]
    return [(x[part], z, y[part], dy[part]) for part in parts]


def cdist_rule(XA, XB, metric, out, options):
    """Return the value of `cdist`, its pullback, and the metric."""
    a, b = np.asarray(XA), np.asarray(XB)
    known = Metric(sd.cdist, metric, (a, b), out, options)
    y = sd.cdist(XA, XB, metric, **options)

    def pullback(dy):
        if known.is_step:
            return None, None
        x, z = a.astype(float), b.astype(float)
        parts, dz, destimate = [np.zeros_like(x[:0])], np.zeros_like(z), None
        for u, v, d, dd in cdist_blocks(a, b, y, dy):
            du, dv, estimate = known.pulled(u, v, d, dd)
            parts.append(du)
            dz = dz + dv
            if estimate is not None:
                destimate = estimate if destimate is None else destimate + estimate
        dx = np.concatenate(parts)
        if destimate is not None:
            both = known.of_estimate(destimate, np.concatenate([x, z]))
            dx, dz = dx + both[: len(x)], dz + both[len(x) :]
        return project(dx, XA), project(dz, XB)

    return y, pullback, known


def cdist_of(XA, XB, metric="euclidean", w=None, p=None, V=None, VI=None, *, out=None):
    """Return what `cdist` does, whose options have a name and no position."""
    return sd.cdist(XA, XB, metric, out=out, **given(w=w, p=p, V=V, VI=VI))


@rule(cdist_of)
def _(XA: ArrayLike, XB: ArrayLike, metric: str, *options: ArrayLike | None, out=None):
    named = given(**dict(zip(NAMES, options, strict=False)))
    y, back, known = cdist_rule(XA, XB, metric, out, named)

    def pullback(dy):
        blocks = cdist_blocks(np.asarray(XA), np.asarray(XB), y, dy)
        return (*back(dy), None, *known.of_given(blocks, options))

    return y, pullback


@rule(sd.cdist, by_position=cdist_of)
def _(XA: ArrayLike, XB: ArrayLike, *, out=None, w=None, p=None, V=None, VI=None):
    options = given(w=w, p=p, V=V, VI=VI)
    return cdist_rule(XA, XB, "euclidean", out, options)[:2]


@rule(sd.cdist, by_position=cdist_of)
def _(XA: ArrayLike, XB: ArrayLike, metric: str, *, out=None, w=None, p=None, V=None, VI=None):
    options = given(w=w, p=p, V=V, VI=VI)
    y, back, _ = cdist_rule(XA, XB, metric, out, options)
    return y, lambda dy: (*back(dy), None)


def pdist_blocks(x, y, dy):
    """Return the pairs of each point and those after it, with what `cdist_blocks` returns."""
    n, start, blocks = len(x), 0, []
    points = x.astype(float)
    for i in range(n - 1):
        part = slice(start, start + n - 1 - i)
        start = part.stop
        blocks.append((points[i : i + 1], points[i + 1 :], y[part][None], dy[part][None]))
    return blocks


def pdist_rule(X, metric, out, options):
    """Return the value of `pdist`, its pullback, and the metric."""
    x = np.asarray(X)
    known = Metric(sd.pdist, metric, (x,), out, options)
    y = sd.pdist(X, metric, **options)

    def pullback(dy):
        if known.is_step:
            return None
        points = x.astype(float)
        dx, destimate = np.zeros_like(points), None
        for i, (u, v, d, dd) in enumerate(pdist_blocks(x, y, dy)):
            du, dv, estimate = known.pulled(u, v, d, dd)
            dx = dx + np.concatenate([np.zeros_like(points[:i]), du, dv])
            if estimate is not None:
                destimate = estimate if destimate is None else destimate + estimate
        if destimate is not None:
            dx = dx + known.of_estimate(destimate, points)
        return project(dx, X)

    return y, pullback, known


def pdist_of(X, metric="euclidean", w=None, p=None, V=None, VI=None, *, out=None):
    """Return what `pdist` does, whose options have a name and no position."""
    return sd.pdist(X, metric, out=out, **given(w=w, p=p, V=V, VI=VI))


@rule(pdist_of)
def _(X: ArrayLike, metric: str, *options: ArrayLike | None, out=None):
    named = given(**dict(zip(NAMES, options, strict=False)))
    y, back, known = pdist_rule(X, metric, out, named)

    def pullback(dy):
        blocks = pdist_blocks(np.asarray(X), y, dy)
        return (back(dy), None, *known.of_given(blocks, options))

    return y, pullback


@rule(sd.pdist, by_position=pdist_of)
def _(X: ArrayLike, *, out=None, w=None, p=None, V=None, VI=None):
    options = given(w=w, p=p, V=V, VI=VI)
    y, back, _ = pdist_rule(X, "euclidean", out, options)
    return y, lambda dy: (back(dy),)


@rule(sd.pdist, by_position=pdist_of)
def _(X: ArrayLike, metric: str, *, out=None, w=None, p=None, V=None, VI=None):
    options = given(w=w, p=p, V=V, VI=VI)
    y, back, _ = pdist_rule(X, metric, out, options)
    return y, lambda dy: (back(dy), None)


@rule.linear(sd.squareform)
def _(dy, X: ArrayLike, force="no", checks=True):
    n = len(dy)
    if np.ndim(X) == 1:  # `dy` is of a matrix, which may not be symmetric
        upper = np.triu_indices(n, 1)
        return dy[upper] + dy.T[upper]
    size = len(X)
    matrix = np.zeros((size, size), np.result_type(dy))
    matrix[np.triu_indices(size, 1)] = dy
    return matrix  # SciPy reads the upper triangle


@rule(sd.directed_hausdorff)
def _(u: ArrayLike, v: ArrayLike, rng=0):
    y = sd.directed_hausdorff(u, v, rng)

    def pullback(dy):
        dd = dy[0]  # the others are indices, which are a choice
        if dd is None:
            return None, None
        x, z = np.asarray(u, float), np.asarray(v, float)
        slope = dd * over(x[y[1]] - z[y[2]], y[0])
        du, dv = np.zeros_like(x), np.zeros_like(z)
        du[y[1]], dv[y[2]] = slope, -slope
        return project(du, u), project(dv, v)

    return y, pullback


@rule(spatial.minkowski_distance)
def _(x: ArrayLike, y: ArrayLike, p=2.0):
    d = spatial.minkowski_distance(x, y, p)

    def pullback(dd):
        a, b = np.asarray(x), np.asarray(y)
        dx, dy = METRICS["minkowski"](
            a, b, np.expand_dims(d, -1), np.expand_dims(dd, -1), {"w": np.ones(()), "p": p}
        )
        return broadcast_back(dx, x), broadcast_back(dy, y)

    return d, pullback
