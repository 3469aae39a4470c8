"""Distributions of `scipy.stats`, which are differentiated through their own source."""

from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from tests.rules_scipy.exact import compare_exactly
from tests.rules_scipy.sweep import REFUSED
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


def test_entropies():
    check(stats.pearson3.entropy, 1.0)
    check(lambda p: stats.binom.entropy(2000, p), 0.3)
    check(lambda odds: stats.nchypergeom_wallenius.entropy(140, 80, 60, odds), 0.5)


def test_the_table_of_refusals_names_those_of_the_sweep():
    page = (Path(__file__).parents[2] / "docs" / "scipy.md").read_text()
    rows = [row for row in page.splitlines() if row.startswith("| `")]
    for name, known in REFUSED.items():
        asked = [", by the counts"] * ("" in known) + [f"`{method}`" for method in known if method]
        for part in asked:
            assert any(f"`{name}`" in row and part in row for row in rows), (name, part)


def test_densities_by_many_degrees_of_freedom():
    def log_density(n, d, x):
        w = n * x / d
        return n / 2 * mp.log(w) - (n + d) / 2 * mp.log1p(w) - mp.log(mp.beta(n / 2, d / 2))

    for n, d, x in ((3.0, 1e7, 0.7), (1e6, 4.0, 1.6), (30.0, 50.0, 1.1)):
        found = gradient(lambda n, d, x=x: stats.f.logpdf(x, n, d), n, d)
        with mp.workdps(40):
            expected = [mp.diff(log_density, (n, d, x), k) for k in ((1, 0, 0), (0, 1, 0))]
        np.testing.assert_allclose(found, np.array(expected, float), rtol=1e-9)


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


X = np.array([2.67, 2.33, 3.33, 2.64, 1.8, 2.97, 4.2, 3.73])
Y = np.array([0.63, -0.1, 1.04, 1.36, -1.42, 1.27, 0.85, 2.6])
A = np.array([[2.0, 0.3], [0.3, 1.0]])
STATISTICS = {
    "describe": lambda x: stats.describe(x).skewness,
    "kurtosis": lambda x: stats.kurtosis(x),
    "sem": lambda x: stats.sem(x),
    "moment": lambda x: stats.moment(x, 3),
    "iqr": lambda x: stats.iqr(x),
    "trim_mean": lambda x: stats.trim_mean(x, 0.2),
    "gmean": lambda x: stats.gmean(x),
    "entropy": lambda x: stats.entropy(x, X[::-1]),
    "zscore": lambda x: np.sum(stats.zscore(x) ** 3),
    "wasserstein_distance": lambda x: stats.wasserstein_distance(x, Y),
    "energy_distance": lambda x: stats.energy_distance(x, Y),
    "boxcox_llf": lambda x: stats.boxcox_llf(0.7, x),
    "f_oneway": lambda x: stats.f_oneway(x, Y)[0],
    "pearsonr": lambda x: stats.pearsonr(x, Y).pvalue,
    "linregress": lambda x: stats.linregress(x, Y).intercept_stderr,
    "ttest_1samp": lambda x: stats.ttest_1samp(x, 2.5).confidence_interval(0.9).high,
    "ttest_rel": lambda x: stats.ttest_rel(x, Y + 2).pvalue,
    "gaussian_kde": lambda x: np.sum(stats.gaussian_kde(x).logpdf([0.4, 2.0])),
    "multivariate_normal": lambda x: stats.multivariate_normal.logpdf(x[:2], x[2:4], A),
    "multivariate_t": lambda x: stats.multivariate_t.logpdf(x[:2], x[2:4], A, x[4]),
    "dirichlet": lambda x: stats.dirichlet.logpdf([0.2, 0.3, 0.5], x[:3]),
    "frozen": lambda x: stats.gamma(x[0], 0.1, x[1]).logpdf(Y[2]) + stats.norm(x[0]).cdf(x[1]),
    "rv_histogram": lambda x: stats.rv_histogram((x, np.arange(9.0))).cdf(2.5),
    "wishart": lambda x: stats.wishart.logpdf(A, 4.5, np.outer(x[:2], x[:2]) + A),
    "norm.fit": lambda x: stats.norm.fit(x)[1],
    "gamma.fit": lambda x: stats.gamma.fit(x + 9.0, floc=0)[0] / 9,
    "norm.expect": lambda x: stats.norm.expect(lambda y: np.tanh(y), loc=x[0]),
    "expon.fit": lambda x: stats.expon.fit(x)[1],
    "laplace.fit": lambda x: stats.laplace.fit(x)[1],
    "rayleigh.fit": lambda x: stats.rayleigh.fit(x, floc=0)[1],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_of_samples(name):
    f = STATISTICS[name]
    (found,) = gradient(f, X)
    steps = 1e-4 * np.eye(len(X))
    wide, near = ([(f(X + h * s) - f(X - h * s)) / (2e-4 * h) for s in steps] for h in (1, 0.1))
    expected = (100 * np.array(near) - np.array(wide)) / 99
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


HARD = [
    (stats.norm.logcdf, lambda x, m: mp.log(mp.ncdf(x - m)), (-200.0, 0.1)),
    (stats.t.logpdf, lambda x, v: mp.log(mp.rf(v / 2, 0.5) / mp.sqrt(v * mp.pi))
     - (v + 1) / 2 * mp.log1p(x * x / v), (3.0, 1e8)),
    (stats.beta.logcdf, lambda x, a, b: mp.log(mp.betainc(a, b, 0, x, regularized=True)),
     (0.1, 50.0, 60.0)),
    (stats.genextreme.logsf, lambda x, c: mp.log(-mp.expm1(-mp.exp(mp.log1p(-c * x) / c))),
     (20.0, 1e-4)),
    (stats.invgauss.logcdf, lambda x, m: mp.log(mp.ncdf((x / m - 1) / mp.sqrt(x)) + mp.exp(2 / m)
     * mp.ncdf(-(x / m + 1) / mp.sqrt(x))), (0.05, 0.5)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "reference", "xs"), HARD)
def test_tails_and_large_parameters(f, reference, xs):
    compare_exactly(f, reference, xs, rel=1e-9)
