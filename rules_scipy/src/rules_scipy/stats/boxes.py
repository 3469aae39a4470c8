"""Probabilities of boxes under normal and t distributions of several variables.

The derivative by a limit is the density there, times the probability of the other variables given
that one. The derivative by the covariance of two variables has both of them given (Plackett).
"""

import math
from itertools import product

import numpy as np
from scipy import special as sp
from scipy import stats
from scipy.linalg import LinAlgError

from rules_scipy.shared.linear.matrices import ArrayLike
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.boxes")

NORMAL, STUDENT = type(stats.multivariate_normal), type(stats.multivariate_t)
NODES = np.arange(241) / 240


@rule(NORMAL._cdf)
def _(
    self: object, x: Numeric, mean: Numeric, cov: Numeric, maxpts: object, abseps: object,
    releps: object, lower_limit: object, rng: object,
):  # fmt: skip
    y = self._cdf(x, mean, cov, maxpts, abseps, releps, lower_limit, rng)

    def box(low, high, cov, df):
        return normal(low, high, cov, None, maxpts, abseps, releps)

    shared, by_x, by_mean, by_cov, by_lower = _parts(x, mean, cov, lower_limit, None, box)
    return y, (shared, (None, by_x, by_mean, by_cov, None, None, None, by_lower, None))


@rule(STUDENT._cdf)
def _(
    self: object, x: ArrayLike, loc: Numeric, shape: Numeric, df: Numeric, dim: object,
    maxpts: object, lower_limit: object, random_state: object,
):  # fmt: skip
    if not 1 <= df < np.inf:
        raise NotImplementedError(
            "the distribution function of multivariate_t has no rule for less than one degree of "
            "freedom, nor for infinitely many, because SciPy's values are wrong: for infinitely "
            "many use multivariate_normal"
        )
    y = self._cdf(x, loc, shape, df, dim, maxpts, lower_limit, random_state)

    def box(low, high, cov, df):
        if len(low) == 2:
            return over_scales(low, high, cov, df)[0]
        own = np.random.default_rng(0)
        return self._cdf(high, np.zeros(len(low)), cov, df, len(low), maxpts, low, own)

    points = self._process_quantiles(x, dim)
    shared, by_point, by_loc, by_shape, by_lower = _parts(points, loc, shape, lower_limit, df, box)

    def by_x(found):
        return project(np.reshape(by_point(found), np.shape(x)), x)

    def by_df(found):
        limits = zip(found[3].reshape(-1, dim), found[4].reshape(-1, dim), strict=True)
        every = [over_scales(low, high, shape, df)[1] for low, high in limits]
        return project(np.sum(found[5].ravel() * every), df)

    return y, (shared, (None, by_x, by_loc, by_shape, by_df, None, None, by_lower, None))


def _parts(x, mean, cov, lower, df, box):
    """Return the parts of a pullback: what they share, and by `x`, mean, covariance, lower limits.

    Arguments:
        df: the degrees of freedom, or `None` for a normal distribution.
        box: the probability of a box of at least two variables around the mean, by its limits, its
            covariance and the degrees of freedom.
    """

    def shared(dy):
        size = len(cov)
        if np.linalg.matrix_rank(cov) < size:
            raise LinAlgError("the distribution function of a singular covariance has no gradient")
        bottom = np.full(size, -np.inf) if lower is None else lower
        high, low = np.broadcast_arrays(x - np.asarray(mean), bottom - np.asarray(mean))
        dlow, dhigh = np.zeros(high.shape), np.zeros(high.shape)
        dcov, heights = np.zeros((size, size)), np.reshape(dy, high.shape[:-1])
        for at in np.ndindex(high.shape[:-1]):
            d = heights[at]
            first, second, curvature = slopes(low[at], high[at], cov, df, box)
            dlow[at], dhigh[at] = d * first, d * second
            dcov += d / 2 * curvature
        return dlow, dhigh, dcov, low, high, heights

    def by_x(found):
        return project(found[1], x)

    def by_mean(found):
        return project(-found[0] - found[1], mean)

    def by_cov(found):
        return project(found[2], cov)

    def by_lower(found):
        return project(found[0], lower)

    return shared, by_x, by_mean, by_cov, None if lower is None else by_lower


def slopes(low, high, cov, df, box):
    """Return the derivatives of a probability by lower and upper limits, and its curvature.

    The curvature is that of the normal distribution by both limits of two variables. Twice the
    derivative by a covariance is its entry; on the diagonal it follows from the others.
    """
    size = len(cov)
    limits, signs = (low, high), (-1, 1)
    first, curvature = np.zeros((2, size)), np.zeros((size, size))
    for side, i in product((0, 1), range(size)):
        first[side, i] = signs[side] * given([i], limits[side][[i]], low, high, cov, df, box)
    for i in range(size):
        for j in range(i):
            for k, m in product((0, 1), repeat=2):
                values = np.array([limits[k][i], limits[m][j]])
                curvature[i, j] += (
                    signs[k] * signs[m] * given([i, j], values, low, high, cov, df, box)
                )
            curvature[j, i] = curvature[i, j]
    moved = sum(np.where(np.isfinite(limits[k]), limits[k], 0.0) * first[k] for k in (0, 1))
    diagonal = -(moved + np.sum(cov * curvature, axis=1)) / np.diagonal(cov)
    return *first, curvature + np.diag(diagonal)


def given(fixed, values, low, high, cov, df, box):
    """Return the density of fixed variables, times the probability that others are in the box."""
    if not np.all(np.isfinite(values)):
        return 0.0
    count, rest = len(fixed), np.delete(np.arange(len(cov)), fixed)
    inner = cov[np.ix_(fixed, fixed)]
    across = np.linalg.solve(inner, cov[np.ix_(fixed, rest)])
    square = values @ np.linalg.solve(inner, values)
    size = math.sqrt(np.linalg.det(2 * np.pi * inner))
    scale, after = 1.0, df
    if df is None:
        density = math.exp(-square / 2) / size
    else:
        # of two variables without the factor of the scale, which the curvature does not have
        after = df + 2 - count if count == 1 else df
        density = math.exp(-after / 2 * math.log1p(square / df)) / size
        if count == 1:
            density *= math.exp(math.lgamma(after / 2) - math.lgamma(df / 2)) * (2 / df) ** 0.5
        scale = math.sqrt(after / (df + square))
    shift = values @ across
    left = cov[np.ix_(rest, rest)] - cov[np.ix_(rest, fixed)] @ across
    a, b = (low[rest] - shift) * scale, (high[rest] - shift) * scale
    return density * inside(a, b, left, after, box)


def inside(low, high, cov, df, box):
    """Return the probability of a box around the mean, of any number of variables."""
    if len(low) == 0:
        return 1.0
    if len(low) > 1:
        return box(low, high, cov, df)
    low, high = low[0] / cov[0, 0] ** 0.5, high[0] / cov[0, 0] ** 0.5
    if low > 0:  # the other tail has more digits
        low, high = -high, -low
    return sp.ndtr(high) - sp.ndtr(low) if df is None else sp.stdtr(df, high) - sp.stdtr(df, low)


def normal(low, high, cov, df=None, maxpts=None, abseps=1e-5, releps=1e-5):
    """Return the normal probability of a box of several variables around the mean."""
    size, own = len(low), np.random.default_rng(0)
    mean, maxpts = np.zeros(size), maxpts or 1_000_000 * size
    return stats.multivariate_normal._cdf(high, mean, cov, maxpts, abseps, releps, low, own)


def over_scales(low, high, cov, df):
    """Return the t probability of a box, and its derivative by `df`.

    It is the mean of normal ones over a random scale, whose logarithm is integrated over.
    """
    reach = math.sqrt(40 / df)
    t = -reach - 40 / df + (2 * reach + 40 / df) * NODES
    weights = np.exp(df * (t - np.expm1(2 * t) / 2))
    weights = weights / np.sum(weights)
    kept = weights > 1e-18
    t, weights = t[kept], weights[kept]
    parts = np.array([inside(low * s, high * s, cov, None, normal) for s in np.exp(t)])
    score = t - np.expm1(2 * t) / 2 + (math.log(df / 2) - sp.psi(df / 2)) / 2
    return weights @ parts, weights @ (score * parts)
