"""Discrete distributions: probabilities that SciPy computes in C, and counts that are constant."""

import inspect
import types

import numpy as np
from scipy import special as sp
from scipy import stats

from rules_scipy.shared.methods import of_both_sides, of_methods
from rules_scipy.shared.panels import IntegralError, quadrature
from rules_scipy.shared.refusals import INTEGER
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.discrete")
Discrete = stats.rv_discrete


@rule(Discrete._ppf)  # rv_generic's: that of continuous distributions is differentiated
def _(self: Discrete, q: Numeric, *args: Numeric):
    return type(self)._ppf(self, q, *args), None


def parameters_of(self, k):
    """Return the defaults of shapes and location, which a distribution takes by name, too."""
    given = inspect.signature(self._parse_args).parameters.values()
    return {p.name: p.default for p in given}


def whole_at_bounds(f):
    """Declare a method whose values SciPy clips to 0 and 1, where it may take these values itself.

    `np.clip` shares a slope there with its bound. The slope of a probability is not shared, as that
    of `binom.pmf(0, n, p)` at `p = 0`.
    """
    source = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__)

    @rule(f, names=parameters_of)
    def _(self: Discrete, k: Numeric | list | tuple, *args: Numeric | list | tuple, ad):
        y, back = ad(source, self, k, *args)

        def pullback(dy):
            return back(np.where((y == 0) | (y == 1), 2 * dy, dy))[1:]

        return y, pullback


for method in (Discrete.pmf, Discrete.cdf, Discrete.sf):
    whole_at_bounds(method)

of_methods(rule, stats.poisson, "_pmf")(None, lambda d, k, mu, y: poisson_slope(k, mu, y))
of_both_sides(rule, stats.geom)(None, lambda d, k, p, y: geometric_slope(k, p))


def poisson_slope(k, mu, y):
    """Return the derivative by the rate of a probability; without a rate there is one event."""
    rate = np.where(mu > 0, mu, 1.0)
    fewer = np.where(k > 0, np.power(mu, np.maximum(k - 1, 0)) / sp.gamma(np.maximum(k, 1)), 0.0)
    return np.where(mu > 0, y * (k - mu) / rate, np.exp(-mu) * fewer - y)


def geometric_slope(k, p):
    """Return the derivative by `p` of the probability that the first success is up to trial `k`."""
    k = np.floor(k)
    return k * (1 - p) ** (k - 1)


of_methods(rule, stats.binom, "_pmf")(
    None, None, lambda d, k, n, p, y: binomial_slope(d, k, n, p, y)
)


def binomial_slope(d, k, n, p, y):
    """Return the derivative by the probability of a success, which at 0 and 1 is that inside."""
    inside = (p > 0) & (p < 1)
    safe = np.where(inside, p, 0.5)
    fewer = np.where(k > 0, d._pmf(k - 1, n - 1, p), 0.0) - np.where(k < n, d._pmf(k, n - 1, p), 0)
    return np.where(inside, y * (k / safe - (n - k) / (1 - safe)), n * fewer)


# the difference of two Poisson variables
of_methods(rule, stats.skellam, "_pmf")(
    None,
    lambda d, k, a, b, y: d._pmf(k - 1, a, b) - y,
    lambda d, k, a, b, y: d._pmf(k + 1, a, b) - y,
)
of_methods(rule, stats.skellam, "_cdf")(
    None,
    lambda d, k, a, b, y: -d._pmf(np.floor(k), a, b),
    lambda d, k, a, b, y: d._pmf(np.floor(k) + 1, a, b),
)

COUNTS = dict.fromkeys(("M", "n", "N"), INTEGER)
of_methods(rule, stats.hypergeom, "_pmf", "_cdf", "_sf", refuses=COUNTS)(None, None, None, None)


# without a trial that succeeds, one success less is needed of the others
@rule(type(stats.poisson_binom)._pmf)
def _(self: Discrete, k: Numeric, *args: Numeric):
    return by_trials(
        self._pmf, k, args, lambda k, rest: successes(k - 1, rest) - successes(k, rest)
    )


@rule(type(stats.poisson_binom)._cdf)
def _(self: Discrete, k: Numeric, *args: Numeric):
    return by_trials(self._cdf, k, args, lambda k, rest: -successes(np.floor(k), rest))


def by_trials(f, k, args, slope):
    """Return `f(k, *args)` and its pullback: it is linear in the probability of each trial."""

    def pullback(dy):
        others = [args[:i] + args[i + 1 :] for i in range(len(args))]
        found = [project(dy * slope(k, rest), p) for rest, p in zip(others, args, strict=True)]
        return None, None, *found

    return f(k, *args), pullback


def successes(k, probabilities):
    """Return the probability of `k` successes in trials, which may be none."""
    possible = (k >= 0) & (k <= len(probabilities))
    if not probabilities:
        return np.where(possible, 1.0, 0.0)
    found = stats.poisson_binom._pmf(np.where(possible, k, 0), *probabilities)
    return np.where(possible, found, 0.0)


# drawing with odds: Fog (2008)
of_methods(rule, stats.nchypergeom_fisher, "_pmf", refuses=COUNTS)(
    None, None, None, None, lambda d, x, M, n, N, odds, y: by_odds(d, x, M, n, N, odds, y)
)


def by_odds(d, x, M, n, N, odds, y):
    """Return the derivative of a noncentral hypergeometric probability, which is `y`."""
    if isinstance(d, type(stats.nchypergeom_fisher)):
        return fisher_slope(d, x, M, n, N, odds, y)
    return wallenius_slope(x, M, n, N, odds, y)


def fisher_slope(d, x, M, n, N, odds, y):
    """Return the derivative by the odds, with which the probability grows to the power of `x`."""
    return y * (x - d._stats(M, n, N, odds)[0]) / odds


@np.vectorize(otypes="d")
def wallenius_slope(x, M, n, N, odds, y):
    """Return the derivative by the odds, from the integral over the time of the last drawing.

    SciPy's value is 0 where it is smaller than the accuracy, and has no derivative there.
    """
    if y == 0:
        return 0.0
    left = n - x
    rate = odds * left + (M - n) - (N - x)

    def rows(u):
        log = sp.xlogy(x, -np.expm1(-odds * u)) + sp.xlogy(N - x, -np.expm1(-u)) - rate * u
        score = x * u / np.expm1(odds * u) + left / rate - left * u
        return rate * np.exp(log + count) * [np.ones_like(u), score]

    def binomial(total, part):
        return -np.log1p(total) - sp.betaln(total - part + 1, part + 1)

    count = binomial(n, x) + binomial(M - n, N - x)
    u, weights = quadrature(rows, 0.0, np.inf)
    value, slope = np.nan_to_num(rows(u)) @ weights
    if not abs(value - y) <= 1e-6 * abs(y) + 1e-11:  # which is SciPy's accuracy
        raise IntegralError(
            f"the integral is {value}, where SciPy has {y}: let the odds be constant "
            "(`stop_gradient`)"
        )
    return slope


@rule(type(stats.nchypergeom_fisher)._stats)
def _(self: Discrete, M: Numeric, n: Numeric, N: Numeric, odds: Numeric, *, moments="mv", ad):
    y = self._stats(M, n, N, odds, moments)

    def pullback(dy):
        dmean, dvariance = [0.0 if d is None else d for d in dy[:2]]
        shape = np.broadcast_shapes(*map(np.shape, (M, n, N, odds)))
        found = np.zeros(shape)
        entries = np.broadcast_arrays(M, n, N, odds, y[0], dmean, dvariance)
        for place in np.ndindex(shape):
            *args, mean, by_mean, by_variance = [e[place] for e in entries]
            lower, upper = self._get_support(*args)
            x = np.arange(lower, upper + 1)
            dy = by_mean * x + by_variance * (x - mean) ** 2
            _, back = ad(type(self)._pmf, self, x, *args[:3], float(args[3]))
            found[place] = back(dy)[-1]
        return None, None, None, None, project(found, odds)

    return y, pullback
