"""The `statistics` module: means, medians and spreads of lists of numbers."""

import math
import statistics
from numbers import Number

import numpy as np

from rules_base.shared.nesting import in_kind_of
from rulescore import RuleSet, project

rule = RuleSet("rules_base", examples="rules_base.examples.python.statistics", may_raise=False)

Data = list | tuple | np.ndarray


def like(xs, dxs):
    """Return the cotangents `dxs` in the kind of `xs`, each in the kind of its own number."""
    if isinstance(xs, np.ndarray):
        return project(np.array(dxs), xs)
    return in_kind_of(xs, [project(dx, x) for dx, x in zip(dxs, xs, strict=True)])


@rule(statistics.mean)
def _(xs: Data):
    def pullback(dy):
        return (like(xs, [dy / len(xs)] * len(xs)),)

    return statistics.mean(xs), pullback


@rule(statistics.fmean)
def _(xs: Data):
    def pullback(dy):
        return (like(xs, [dy / len(xs)] * len(xs)),)

    return statistics.fmean(xs), pullback


@rule(statistics.fmean)
def _(xs: Data, weights: Data):
    y = statistics.fmean(xs, weights)

    def pullback(dy):
        share = dy / sum(weights)
        dxs = like(xs, [share * w for w in weights])
        return dxs, like(weights, [share * (x - y) for x in xs])

    return y, pullback


@rule(statistics.geometric_mean)
def _(xs: Data):
    y = statistics.geometric_mean(xs)

    def pullback(dy):
        return (like(xs, [dy * y / (len(xs) * x) for x in xs]),)

    return y, pullback


@rule(statistics.harmonic_mean)
def _(xs: Data):
    y = statistics.harmonic_mean(xs)

    def pullback(dy):
        return (like(xs, [dy * (y / x) ** 2 / len(xs) if x else 0.0 for x in xs]),)

    return y, pullback


def middle_back(dy, xs, places):
    """Return the cotangent of `xs`, whose sorted entries at `places` share `dy`."""
    order = sorted(range(len(xs)), key=xs.__getitem__)
    dxs = [0.0] * len(xs)
    for place in places:
        dxs[order[place]] += dy / len(places)
    return like(xs, dxs)


@rule(statistics.median)
def _(xs: Data):
    def pullback(dy):
        return (middle_back(dy, xs, {(len(xs) - 1) // 2, len(xs) // 2}),)

    return statistics.median(xs), pullback


@rule(statistics.mode)
def _(xs: Data):
    y = statistics.mode(xs)

    def pullback(dy):
        first = next(i for i, x in enumerate(xs) if x == y)
        return (like(xs, [dy if i == first else 0.0 for i in range(len(xs))]),)

    return y, pullback


@rule(statistics.median_low)
def _(xs: Data):
    def pullback(dy):
        return (middle_back(dy, xs, {(len(xs) - 1) // 2}),)

    return statistics.median_low(xs), pullback


@rule(statistics.median_high)
def _(xs: Data):
    def pullback(dy):
        return (middle_back(dy, xs, {len(xs) // 2}),)

    return statistics.median_high(xs), pullback


def declare_variance(variance, deviation, ddof):
    """Declare the rules of a variance and of its root, with `ddof` degrees of freedom less."""

    @rule(variance)
    def _(xs: Data):
        def pullback(dy):
            mean, n = math.fsum(xs) / len(xs), len(xs) - ddof
            return (like(xs, [2 * dy * (x - mean) / n for x in xs]),)

        return variance(xs), pullback

    @rule(variance)
    def _(xs: Data, center: Number):
        def pullback(dy):
            slopes = [2 * dy * (x - center) / (len(xs) - ddof) for x in xs]
            return like(xs, slopes), project(-math.fsum(slopes), center)

        return variance(xs, center), pullback

    @rule(deviation)
    def _(xs: Data):
        y = deviation(xs)

        def pullback(dy):
            mean, n = math.fsum(xs) / len(xs), len(xs) - ddof
            return (like(xs, [dy * (x - mean) / (n * y) if y else 0.0 for x in xs]),)

        return y, pullback

    @rule(deviation)
    def _(xs: Data, center: Number):
        y = deviation(xs, center)

        def pullback(dy):
            n = len(xs) - ddof
            slopes = [dy * (x - center) / (n * y) if y else 0.0 for x in xs]
            return like(xs, slopes), project(-math.fsum(slopes), center)

        return y, pullback


declare_variance(statistics.pvariance, statistics.pstdev, 0)
declare_variance(statistics.variance, statistics.stdev, 1)


@rule(statistics.covariance)
def _(xs: Data, ys: Data):
    def pullback(dout):
        n, share = len(xs), dout / (len(xs) - 1)
        x_mean, y_mean = math.fsum(xs) / n, math.fsum(ys) / n
        return like(xs, [share * (y - y_mean) for y in ys]), like(
            ys, [share * (x - x_mean) for x in xs]
        )

    return statistics.covariance(xs, ys), pullback


@rule(statistics.correlation)
def _(xs: Data, ys: Data):
    r = statistics.correlation(xs, ys)

    def pullback(dr):
        u, u_norm = normalized(xs)
        v, v_norm = normalized(ys)
        dxs = [dr * (b - r * a) / u_norm for a, b in zip(u, v, strict=True)]
        dys = [dr * (a - r * b) / v_norm for a, b in zip(u, v, strict=True)]
        return like(xs, dxs), like(ys, dys)

    return r, pullback


def normalized(xs):
    """Return `xs` less its mean, at length one, and the length that it had."""
    mean = math.fsum(xs) / len(xs)
    norm = math.hypot(*(x - mean for x in xs))
    return [(x - mean) / norm for x in xs], norm


@rule.scalar(statistics._normal_dist_inv_cdf)  # the quantile, of `NormalDist.inv_cdf`
def _(p, mu, sigma, out):
    z = (out - mu) / sigma
    return sigma * math.sqrt(2.0 * math.pi) * math.exp(0.5 * z * z), 1.0, z
