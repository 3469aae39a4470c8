"""What SciPy finds by searching: powers that make a sample most normal, expectiles, and parameters.

A power is where the derivative of a criterion by it vanishes, and has the derivative of an implicit
function. The criterion is of the transformed sample: half the logarithm of its variance and the
Jacobian (Box and Cox 1964), or the correlation with medians of normal order statistics. The search
for parameters is refused: its steps compare likelihoods, and have no derivative.
"""

import numpy as np
from scipy import special as sp
from scipy import stats

from rules_scipy.shared.linear.matrices import ArrayLike
from rulescore import Numeric, RuleSet, project

rule = RuleSet("rules_scipy", examples="rules_scipy.examples.stats.searches")


@rule(stats.boxcox_normmax)
def _(x: ArrayLike, brack=None, method="pearsonr", optimizer=None, **options):
    y = stats.boxcox_normmax(x, brack, method, optimizer, **options)
    methods = ("pearsonr", "mle") if method == "all" else (method,)
    sample = np.asarray(x, float)

    def slopes(power, method):
        return implicit(power, 1.0, sample, power, method)

    each = [slopes(*pair) for pair in zip(np.atleast_1d(y), methods, strict=True)]

    def pullback(dy):
        return (project(np.atleast_1d(dy) @ np.stack(each), x),)

    return y, pullback


@rule(stats.yeojohnson_normmax)
def _(x: ArrayLike, brack=None):
    y = stats.yeojohnson_normmax(x, brack)
    sample = np.asarray(x, float)
    sign = np.where(sample < 0, -1.0, 1.0)
    slopes = implicit(y, sign, 1 + abs(sample), np.where(sample < 0, 2 - y, y), "mle")
    return y, lambda dy: (project(dy * slopes, x),)


@rule(stats.expectile)
def _(a: ArrayLike, *, weights=None):
    y, (by_sample, _) = expectile(a, 0.5, weights)
    return y, (by_sample,)


@rule(stats.expectile)
def _(a: ArrayLike, alpha: Numeric, *, weights=None):
    return expectile(a, alpha, weights)


def expectile(a, alpha, weights):
    """Return an expectile, and pullbacks by the sample and the level (Newey and Powell 1987)."""
    y = stats.expectile(a, alpha, weights=weights)
    if np.ndim(y):  # of rows, from SciPy 1.18 on
        raise NotImplementedError(
            "scipy.stats.expectile has a rule for one value: call it for each row, in a loop"
        )
    sample = np.asarray(a)
    given = 1.0 if weights is None else np.asarray(weights)
    sides = np.broadcast_to(given * np.where(sample <= y, 1 - alpha, alpha), sample.shape)

    def by_sample(dy):
        return project(dy * sides / np.sum(sides), a)

    def by_level(dy):
        return project(dy * np.sum(given * np.abs(sample - y)) / np.sum(sides), alpha)

    return y, (by_sample, by_level)


def implicit(power, sign, x, exponent, method):
    """Return the derivatives of a power by the sample.

    The transformed sample is `sign * boxcox(x, exponent)`, and `sign` is the derivative of `x` by
    the sample, and of `exponent` by the power.
    """
    log = np.log(x)
    by_power = log**2 * sp.hyp1f1(2, 3, exponent * log) / 2
    twice = sign * log**3 * sp.hyp1f1(3, 4, exponent * log) / 3
    by_x = x ** (exponent - 1)
    y = sign * sp.boxcox(x, exponent)
    gradient, product = (likelihood if method == "mle" else correlation)(y, by_power)
    jacobian = (np.sum(sign * log), 1 / x) if method == "mle" else (0.0, 0.0)
    slope = gradient @ by_power + jacobian[0]
    curvature = product @ by_power + gradient @ twice
    if not abs(slope) <= 1e-4 * (1 + abs(power)) * abs(curvature):
        raise NotImplementedError(
            "the power that SciPy found is no maximum, but a bound or what an optimizer gave, "
            "and has no derivative: let it be constant (`stop_gradient`)"
        )
    return -(product * by_x + gradient * sign * by_x * log + jacobian[1]) / curvature


def likelihood(y, v):
    """Return the gradient of `-n / 2 * log(var(y))`, and the product of its Hessian with `v`."""
    y, v, n = y - np.mean(y), v - np.mean(v), len(y)
    square = y @ y
    return -n * y / square, -n * (v / square - 2 * y * (y @ v) / square**2)


def correlation(y, v):
    """Return the gradient of the logarithm of the correlation, and its Hessian's product."""
    n = len(y)
    medians = (np.arange(1, n + 1) - 0.3175) / (n + 0.365)  # Filliben (1975)
    medians[-1] = 0.5 ** (1 / n)
    medians[0] = 1 - medians[-1]
    normal = sp.ndtri(medians)[np.argsort(np.argsort(y))]
    parts = likelihood(y, v)
    v, along = v - np.mean(v), normal @ y
    return normal / along + parts[0] / n, parts[1] / n - normal * (normal @ v) / along**2


@rule(stats.rv_continuous.fit)
def _(self: stats.rv_continuous, data: ArrayLike, *args: Numeric, **options):
    raise NotImplementedError(
        f"scipy.stats.{self.name}.fit has no rule: it searches for the parameters; "
        f"differentiate `{self.name}.nnlf`, which it minimizes"
    )
