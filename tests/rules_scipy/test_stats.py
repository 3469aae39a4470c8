"""Distributions of `scipy.stats`, which are differentiated through their own source."""

import numpy as np
import pytest
from scipy import stats

from zygote_lite import gradient

CONTINUOUS = {
    "beta": (0.4, 2.3, 0.7), "burr": (0.8, 10.5, 4.3), "cauchy": (0.4,), "chi2": (3.0, 5.5),
    "expon": (0.4,), "exponnorm": (0.7, 1.5), "f": (1.4, 29.0, 18.0), "gamma": (1.4, 2.0),
    "genextreme": (0.4, -0.1), "genpareto": (0.4, 0.1), "gumbel_r": (0.4,), "invgamma": (0.4, 4.1),
    "laplace": (0.4,), "logistic": (0.4,), "loggamma": (0.2, 0.4), "lognorm": (1.4, 0.95),
    "norm": (0.4,), "pareto": (1.4, 2.6), "powerlaw": (0.4, 1.7), "rayleigh": (0.4,),
    "t": (0.4, 2.7), "weibull_min": (1.4, 2.5),
}  # fmt: skip
DISCRETE = {"poisson": (2, 0.6), "nbinom": (3, 4.5, 0.4), "geom": (2, 0.5), "bernoulli": (1, 0.3)}


def check(f, *xs, first=0):
    """Compare the gradient with differences, from the argument `first` on."""
    found = gradient(lambda *xs: f(*xs), *xs)
    for i in range(first, len(xs)):
        h = 1e-5 * max(1.0, abs(xs[i]))
        ends = [f(*xs[:i], xs[i] + s * h, *xs[i + 1 :]) for s in (1, -1)]
        slope = 0.0 if found[i] is None else found[i]
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-5, abs=1e-8), i


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_distributions(name):
    distribution, xs = getattr(stats, name), CONTINUOUS[name]
    check(distribution.logpdf, *xs)
    check(distribution.cdf, *xs)


@pytest.mark.parametrize("name", ["norm", "gamma", "beta", "t", "expon", "weibull_min", "lognorm"])
def test_quantiles(name):
    check(getattr(stats, name).ppf, 0.37, *CONTINUOUS[name][1:])


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete_distributions(name):
    check(getattr(stats, name).logpmf, *DISCRETE[name], first=1)


def test_arrays_and_frozen_distributions():
    x, scale = np.array([0.4, 1.3, 2.2]), np.array([0.7, 1.1, 0.9])

    def total(scale):
        return np.sum(stats.gamma(2.0, scale=scale).logpdf(x))

    (found,) = gradient(total, scale)
    np.testing.assert_allclose(found, x / scale**2 - 2 / scale, rtol=1e-10)


def test_the_normal_distribution_of_several_variables():
    a = np.array([[2.0, 0.3], [0.3, 1.0]])
    x = np.array([0.4, -0.7])
    _, dmean = gradient(lambda x, m: stats.multivariate_normal.logpdf(x, m, a), x, 0 * x)
    np.testing.assert_allclose(dmean, np.linalg.solve(a, x), rtol=1e-10)
