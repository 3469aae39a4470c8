"""Distances between many points: `cdist`, `pdist`, and what goes with them."""

import numpy as np
from scipy import spatial
from scipy.spatial import distance as sd

from rules_scipy.shared.linear.matrices import given
from rules_scipy.shared.points.metrics import (
    METRICS,
    broadcast_back,
    by_inverse,
    by_variances,
    over,
)
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.spatial.distances", may_raise=True)
ArrayLike = Numeric | list | tuple
STEPS = ("dice", "hamming", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
OPTIONS = {"minkowski": ("w", "p"), "seuclidean": ("V",), "mahalanobis": ("VI",)}
BLOCK = 2**18  # numbers that are held at once
rule.constant(sd.is_valid_dm, sd.is_valid_y, sd.num_obs_dm, sd.num_obs_y)


class Metric:
    """Read a metric and its options, as SciPy does.

    Attributes:
        name: SciPy's full name of the metric, `None` for one that is a step function.
        options: its options by name, with those that SciPy computes of the points.
        estimated: the name of the option that SciPy has computed, or `None`.
    """

    def __init__(self, f, metric, points, out, options):
        if out is not None:
            raise NotImplementedError(
                f"scipy.spatial.distance.{f.__name__} has no rule that writes to `out`: use what "
                "it returns"
            )
        lower = metric.lower().removeprefix("test_")
        name = sd._METRIC_ALIAS[lower].canonical_name
        self.name = None if name in STEPS else name
        if self.name is None:
            return
        if any(map(np.iscomplexobj, points)):
            raise NotImplementedError(
                f"scipy.spatial.distance.{f.__name__} has no rule for complex points"
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
            rows = [x.reshape(-1, x.shape[-1]) for x in (u - v, d, dy)]
            by = by_variances if self.estimated == "V" else by_inverse
            estimate = by(*rows, self.options)
        return np.sum(du, 1), np.sum(dv, 0), estimate

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


def cdist_rule(XA, XB, metric, out, options):
    """Return the value of `cdist` and its pullback."""
    a, b = np.asarray(XA), np.asarray(XB)
    known = Metric(sd.cdist, metric, (a, b), out, options)
    y = sd.cdist(XA, XB, metric, **options)

    def pullback(dy):
        if known.name is None:
            return None, None
        x, z = a.astype(float), b.astype(float)
        rows = max(1, BLOCK // max(1, z.size))
        parts, dz, destimate = [np.zeros_like(x[:0])], np.zeros_like(z), None
        for start in range(0, len(x), rows):
            part = slice(start, start + rows)
            du, dv, estimate = known.pulled(x[part], z, y[part], dy[part])
            parts.append(du)
            dz = dz + dv
            if estimate is not None:
                destimate = estimate if destimate is None else destimate + estimate
        dx = np.concatenate(parts)
        if destimate is not None:
            both = known.of_estimate(destimate, np.concatenate([x, z]))
            dx, dz = dx + both[: len(x)], dz + both[len(x) :]
        return project(dx, XA), project(dz, XB)

    return y, pullback


@rule(sd.cdist)
def _(XA: ArrayLike, XB: ArrayLike, *, out=None, w=None, p=None, V=None, VI=None):
    options = given(w=w, p=p, V=V, VI=VI)
    return cdist_rule(XA, XB, "euclidean", out, options)


@rule(sd.cdist)
def _(XA: ArrayLike, XB: ArrayLike, metric: str, *, out=None, w=None, p=None, V=None, VI=None):
    options = given(w=w, p=p, V=V, VI=VI)
    y, back = cdist_rule(XA, XB, metric, out, options)
    return y, lambda dy: (*back(dy), None)


def pdist_rule(X, metric, out, options):
    """Return the value of `pdist` and its pullback."""
    x = np.asarray(X)
    known = Metric(sd.pdist, metric, (x,), out, options)
    y = sd.pdist(X, metric, **options)

    def pullback(dy):
        if known.name is None:
            return None
        points, n, start = x.astype(float), len(x), 0
        dx, destimate = np.zeros_like(points), None
        for i in range(n - 1):
            part = slice(start, start + n - 1 - i)
            start = part.stop
            du, dv, estimate = known.pulled(
                points[i : i + 1], points[i + 1 :], y[part][None], dy[part][None]
            )
            dx = dx + np.concatenate([np.zeros_like(points[:i]), du, dv])
            if estimate is not None:
                destimate = estimate if destimate is None else destimate + estimate
        if destimate is not None:
            dx = dx + known.of_estimate(destimate, points)
        return project(dx, X)

    return y, pullback


@rule(sd.pdist)
def _(X: ArrayLike, *, out=None, w=None, p=None, V=None, VI=None):
    options = given(w=w, p=p, V=V, VI=VI)
    y, back = pdist_rule(X, "euclidean", out, options)
    return y, lambda dy: (back(dy),)


@rule(sd.pdist)
def _(X: ArrayLike, metric: str, *, out=None, w=None, p=None, V=None, VI=None):
    options = given(w=w, p=p, V=V, VI=VI)
    y, back = pdist_rule(X, metric, out, options)
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
