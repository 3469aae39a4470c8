"""Rules of `rules_scipy.stats.cancelling`, against mpmath."""

import mpmath as mp
import pytest
from scipy import stats

from rulescore.testing import check_rrule
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def below(z):
    return mp.gammainc(mp.mpf(1.5), 0, z, regularized=True)


ARGUS = {
    "logpdf": lambda c: 3 * mp.log(c) - mp.log(below(c * c / 2))
    - c * c * (1 - mp.mpf(0.3) ** 2) / 2,
    "sf": lambda c: below(c * c * (1 - mp.mpf(0.3) ** 2) / 2) / below(c * c / 2),
    "mean": lambda c: c * mp.exp(-c * c / 4) * mp.besseli(1, c * c / 4)
    * mp.sqrt(mp.pi / 2) / below(c * c / 2),
}  # fmt: skip
BRADFORD = {
    "pdf": lambda c: c / (c * mp.mpf(0.3) + 1) / mp.log1p(c),
    "cdf": lambda c: mp.log1p(c * mp.mpf(0.3)) / mp.log1p(c),
    "ppf": lambda c: mp.expm1(mp.mpf(0.3) * mp.log1p(c)) / c,
    "mean": lambda c: 1 / mp.log1p(c) - 1 / c,
    "var": lambda c: ((c + 2) * mp.log1p(c) - 2 * c) / (2 * c * mp.log1p(c) ** 2),
    "entropy": lambda c: mp.log1p(c) / 2 - mp.log(c / mp.log1p(c)),
}
HALF = {
    "logpdf": lambda c: mp.log(2) + (1 / c - 1) * mp.log1p(-c * mp.mpf(0.3))
    - 2 * mp.log1p(mp.exp(mp.log1p(-c * mp.mpf(0.3)) / c)),
    "sf": lambda c: 1 + mp.tanh(mp.log1p(-c * mp.mpf(0.3)) / (2 * c)),
    "ppf": lambda c: -mp.expm1(-2 * c * mp.atanh(mp.mpf(0.3))) / c,
}  # fmt: skip
CALLS = [
    *((stats.genhalflogistic, name, f) for name, f in HALF.items()),
    *((stats.argus, name, f) for name, f in ARGUS.items()),
    *((stats.bradford, name, f) for name, f in BRADFORD.items()),
]


@pytest.mark.parametrize("shape", [1e-9, 1e-4, 0.03, 0.7, 30.0])
@pytest.mark.parametrize(("distribution", "name", "reference"), CALLS)
def test_by_shapes_where_formulas_cancel(distribution, name, reference, shape):
    if distribution is stats.genhalflogistic and shape > 1:
        shape = 2.5  # the support ends at its reciprocal
    method = getattr(distribution, name)
    at = (0.3,) if name in ("logpdf", "pdf", "sf", "cdf", "ppf") else ()
    (found,) = gradient(lambda c: method(*at, c), shape)
    with mp.workdps(100):
        expected = float(mp.diff(reference, mp.mpf(shape), h=mp.mpf(10) ** -30))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_higher_moments_of_bradford():
    for name in "sk":
        (found,) = gradient(lambda c, n=name: stats.bradford.stats(c, moments=n) * 1.0, 2.5)
        wide, near = ((stats.bradford.stats(2.5 + h, moments=name)
                       - stats.bradford.stats(2.5 - h, moments=name)) / (2 * h)
                      for h in (2e-3, 1e-3))  # fmt: skip
        assert found == pytest.approx((4 * near - wide) / 3, rel=1e-8)


@pytest.mark.parametrize("lam", [-1.0, -0.3, 0.0, 1e-9, 0.14, 1.0, 3.0, 40.0])
def test_entropy_of_tukeys_lambda(lam):
    (found,) = gradient(stats.tukeylambda.entropy, lam)
    with mp.workdps(30):
        part = lambda p: mp.log(p) / (1 + ((1 - p) / p) ** (mp.mpf(lam) - 1))
        expected = 2 * mp.quad(part, [0, 0.25, 0.5, 0.75, 1])
    assert found == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize("shape", [1.0, 1.5, 4.0])
@pytest.mark.parametrize("distribution", [stats.dweibull, stats.gennorm, stats.dgamma])
def test_the_slope_of_a_probability_at_the_center_is_the_density(distribution, shape):
    for name, sign in (("cdf", 1), ("sf", -1)):
        method = getattr(distribution, name)
        by_x, by_shape, by_loc, by_scale = gradient(
            lambda *xs, f=method: f(*xs), 0.3, shape, 0.3, 2.0
        )
        assert by_x == -by_loc == pytest.approx(sign * distribution.pdf(0.3, shape, 0.3, 2.0))
        assert by_shape == by_scale == 0.0


@pytest.mark.parametrize("c", [1e-9, 1e-3, 0.7])
def test_quantiles_of_the_generalized_exponential(c):
    def reference(c):
        below = lambda x: -2 * x + (1 - mp.exp(-c * x)) / c - mp.log(mp.mpf(0.7))
        return mp.findroot(below, 0.5)

    (found,) = gradient(lambda c: stats.genexpon.ppf(0.3, 1.0, 1.0, c), c)
    with mp.workdps(60):
        expected = float(mp.diff(reference, mp.mpf(c), h=mp.mpf(10) ** -18))
    assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("a", [0.3, 20.0, 700.0])
def test_quantiles_of_kappa3(a):
    quantile = lambda q, a: (a / (q**-a - 1)) ** (1 / a)
    for f, reference in (
        (stats.kappa3.ppf, quantile),
        (stats.kappa3.isf, lambda q, a: quantile(1 - q, a)),
    ):
        found = gradient(lambda q, a, f=f: f(q, a), 0.6, a)
        with mp.workdps(60):
            given = mp.mpf(0.6), mp.mpf(a)
            expected = [mp.diff(reference, given, n) for n in ((1, 0), (0, 1))]
        assert found == pytest.approx([float(x) for x in expected], rel=1e-9)


def slopes_by_steps(f, xs):
    """Return differences, of two steps."""
    found = []
    for i, x in enumerate(xs):
        far, near = ((f(*xs[:i], x + h, *xs[i + 1 :]) - f(*xs[:i], x - h, *xs[i + 1 :])) / (2 * h)
                     for h in (2e-4, 1e-4))  # fmt: skip
        found.append((4 * near - far) / 3)
    return found


@pytest.mark.parametrize("shape", [0.4, 1.5])
@pytest.mark.parametrize("name", ["pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"])
def test_generalized_logistic_at_its_location(name, shape):
    method = getattr(stats.genlogistic, name)
    xs = (0.3, shape, 0.3, 2.0)
    found = gradient(lambda *xs: method(*xs), *xs)
    assert found == pytest.approx(slopes_by_steps(method, xs), rel=1e-8)


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_far_from_the_location():
    for name in ("cdf", "sf", "logsf"):
        for distribution, shape in ((stats.genlogistic, 0.4), (stats.gennorm, 1e3)):
            method = getattr(distribution, name)
            for x in (-1e3, 1e3):
                if method(x, shape) in (0.0, 1.0):
                    assert gradient(lambda *xs, f=method: f(*xs), x, shape, 0.0, 1.0) == (0.0,) * 4


@pytest.mark.parametrize("beta", [1.3, 2.0, 7.0])
def test_quantiles_of_the_generalized_normal_distribution(beta):
    (found,) = gradient(lambda q: stats.gennorm.ppf(q, beta), 0.5)
    assert found == pytest.approx(1 / stats.gennorm.pdf(0.0, beta))
    found = gradient(lambda q, b: stats.gennorm.isf(q, b), 0.2, beta)
    assert found == pytest.approx(slopes_by_steps(stats.gennorm.isf, (0.2, beta)), rel=1e-6)
