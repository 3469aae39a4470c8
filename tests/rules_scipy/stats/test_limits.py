"""Rules of `rules_scipy.stats.limits`, against differences and mpmath."""

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from rulescore.testing import check_rrule
from tests.rules_scipy.sweep import differences
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


CALLS = [
    (stats.genpareto, (0.0,)),
    (stats.genextreme, (0.0,)),
    (stats.kappa4, (0.4, 0.0)),
    (stats.skewnorm, (0.0,)),
]


@pytest.mark.parametrize(("distribution", "shapes"), CALLS)
def test_where_scipy_takes_another_formula(distribution, shapes):
    def together(*shapes):
        logpdf, cdf = distribution.logpdf(0.8, *shapes), distribution.cdf(0.8, *shapes)
        return logpdf + 2 * cdf + 3 * distribution.ppf(0.3, *shapes)

    found = gradient(together, *shapes)
    for i, slope in enumerate(found):
        expected, error = differences(together, shapes, i)
        if np.isfinite(expected):
            assert slope == pytest.approx(expected, rel=1e-7, abs=10 * error)


def pearson(x, s):
    b, a = 2 / s, 4 / s**2
    return mp.log(abs(b)) + (a - 1) * mp.log(b * x + a) - b * x - a - mp.loggamma(a)


def below(s):
    a, t = 4 / s**2, 4 / s**2 - mp.mpf("1.8") / s
    return mp.gammainc(a, *((0, t) if s > 0 else (t, mp.inf)), regularized=True)


@pytest.mark.parametrize("s", [2e-5, -1e-3, 0.05, -0.31, 1.5])
def test_pearson3_by_its_skewness(s):
    with mp.workdps(60):
        expected = [float(mp.diff(lambda s, x=x: pearson(mp.mpf(x), s), s)) for x in (-0.9, 2.5)]

    found = [gradient(lambda s, x=x: stats.pearson3.logpdf(x, s), s)[0] for x in (-0.9, 2.5)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)

    if abs(s) > 1e-2:
        (found,) = gradient(lambda s: stats.pearson3.cdf(-0.9, s), s)
        with mp.workdps(40):
            assert found == pytest.approx(float(mp.diff(below, s)), rel=1e-8)


def test_other_formulas_of_moments():
    (found,) = gradient(lambda c: stats.genpareto.moment(3, c), 0.0)
    assert found == pytest.approx(36.0)  # 6 / ((1 - c) (1 - 2 c) (1 - 3 c))
    found = gradient(stats.truncpareto.var, 2.0, 4.0)  # where the order is the power
    for i, slope in enumerate(found):
        expected, error = differences(stats.truncpareto.var, [2.0, 4.0], i)
        assert slope == pytest.approx(expected, rel=1e-9, abs=10 * error)


@pytest.mark.parametrize("c", [1e-20, 1e-6, -0.03, 0.06, 0.7])
def test_moments_of_extremes(c):
    def moment(c, k):
        g1, g2, g3, g4 = (mp.gamma(n * c + 1) for n in (1, 2, 3, 4))
        var = (g2 - g1**2) / c**2
        skew = (-g3 + 3 * g1 * g2 - 2 * g1**3) / c**3 / var**1.5
        kurtosis = (g4 - 4 * g3 * g1 + 6 * g2 * g1**2 - 3 * g1**4) / c**4 / var**2 - 3
        return ((1 - g1) / c, var, skew, kurtosis)[k]

    for k, name in enumerate("mvsk"):
        (found,) = gradient(lambda c, n=name: stats.genextreme.stats(c, moments=n) * 1.0, c)
        with mp.workdps(160):
            expected = mp.diff(lambda c, k=k: moment(c, k), mp.mpf(c), h=mp.mpf(10) ** -24)
        assert found == pytest.approx(float(expected), rel=1e-9)


def test_the_end_of_a_shape_has_the_derivative_of_the_side_that_there_is():
    for method in (stats.triang.pdf, stats.triang.cdf, stats.triang.ppf):
        for c, inner in ((0.0, 1e-6), (1.0, -1e-6)):
            (found,) = gradient(lambda c, f=method: f(0.4, c), c)
            expected = (4 * method(0.4, c + inner) - method(0.4, c + 2 * inner)
                        - 3 * method(0.4, c)) / (2 * inner)  # fmt: skip
            assert found == pytest.approx(expected, rel=1e-6)


def test_von_mises_over_several_turns():
    def cdf(kappa):
        return np.sum(stats.vonmises.cdf(np.array([-9.1, -0.4, 3.1, 8.3]), kappa, 0.2))

    for kappa in (0.7, 30.0):
        expected = (cdf(kappa + 1e-5) - cdf(kappa - 1e-5)) / 2e-5
        assert gradient(cdf, kappa)[0] == pytest.approx(expected, rel=1e-5, abs=1e-6)


def test_the_mode_of_a_triangle_is_a_maximum_with_a_kink():
    for method in (stats.triang.pdf, stats.triang.logpdf):
        by_x, by_c = gradient(lambda x, c, f=method: f(x, c), 0.4, 0.4)
        assert by_x == by_c == 0.0
        beside = method(0.4 + 1e-6, 0.4), method(0.4 - 1e-6, 0.4)
        assert max(beside) < method(0.4, 0.4)
