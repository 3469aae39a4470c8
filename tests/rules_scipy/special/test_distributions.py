"""Distribution functions and their inverses, against differences and mpmath."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special as sp

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_hard_points(hard, agrees):
    agrees(*hard)


def student(df, t):
    return mp.mpf(1) / 2 + t * mp.gamma((df + 1) / 2) * mp.hyp2f1(
        0.5, (df + 1) / 2, 1.5, -t * t / df
    ) / (mp.sqrt(df * mp.pi) * mp.gamma(df / 2))


def variance_ratio(dfn, dfd, x):
    return mp.betainc(dfn / 2, dfd / 2, 0, dfn * x / (dfd + dfn * x), regularized=True)


TAILS = [(3.0, 0.5), (3.0, -20.0), (1.0, 1e-3), (50.0, 2.0), (0.4, 3.0)]


def kolmogorov(y):
    return 2 * mp.nsum(lambda k: (-1) ** (int(k) - 1) * mp.exp(-2 * k * k * y * y), [1, mp.inf])


HARD = [
    (sp.stdtr, student, 0, TAILS, 1e-10),
    (sp.stdtr, student, 1, TAILS, 1e-12),
    (sp.stdtr, student, 0, [(1e4, 0.5), (1e6, -2.0), (1e8, 1e-3), (3e6, 4.0)], 1e-11),
    (sp.stdtr, student, 1, [(1e6, 0.5)], 1e-12),
    (sp.fdtr, variance_ratio, 0, [(1e6, 3.0, 0.7), (1e5, 0.1, 4.0)], 1e-10),
    (sp.fdtr, variance_ratio, 1, [(3.0, 1e6, 0.7), (0.1, 1e5, 4.0), (40.0, 600.0, 1.3)], 1e-11),
    (sp.kolmogorov, kolmogorov, 0, [(0.4,), (0.79,), (0.85,), (2.0,)], 1e-12),
    (sp.chdtr, lambda v, x: mp.gammainc(v / 2, 0, x / 2, regularized=True), 0, [(3.0, 80.0)]),
]


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (sp.bdtrik, (0.2, 1.0, 0.4)),
        (sp.nbdtrik, (0.2, 1.0, 0.4)),
        (sp.fdtridfd, (3.0, 0.6, 0.5)),
        (sp.stdtridf, (0.8, -1.0)),
        (sp.chndtrinc, (0.5, 3, 0.3)),
        (sp.ncfdtrinc, (3, 5, 0.3, 1e-6)),
    ],
)
def test_where_the_search_ends_at_a_bound_nothing_moves(f, xs):
    y, back = rrule(f, *xs)
    needed = [False, *(i not in back.rule.refuses for i in range(len(xs)))]
    slopes = back.only(needed)(1.0)[1:]
    for i, x in enumerate(xs):
        if slopes[i] is not None:
            assert f(*xs[:i], x * (1 + 1e-6), *xs[i + 1 :]) == y
            assert slopes[i] == 0.0
    assert any(slope is not None for slope in slopes)


@pytest.mark.parametrize("f", [sp.bdtrin, sp.nbdtrin])
def test_at_an_infinite_count_nothing_moves_or_there_is_no_solution(f):
    y, back = rrule(f, np.inf, 0.2, 0.3)
    assert f(np.inf, 0.2 * (1 + 1e-6), 0.3) == pytest.approx(y, rel=0, nan_ok=True)
    # up to SciPy 1.17 the search ends at a bound, from 1.18 on the value is nan
    expected = np.full(3, np.nan if np.isnan(y) else 0.0)
    np.testing.assert_array_equal(back(1.0)[1:], expected)


@pytest.mark.parametrize("x", [0.0, 1e-8, 0.1, 0.37, 0.8])
def test_the_slope_of_smirnovs_density_near_zero(x):
    n = 5  # SciPy's own values lose digits: the sum of Birnbaum and Tingey, by polynomials
    count = np.polynomial.Polynomial([0.0])
    for j in range(int(n * (1 - x)) + (x < 0.9)):
        if j < n * (1 - x):
            inner = np.polynomial.Polynomial([j / n, 1.0]) ** (j - 1) if j else 1.0
            rest = np.polynomial.Polynomial([1 - j / n, -1.0]) ** (n - j)
            times_x = np.polynomial.Polynomial([0.0, 1.0]) if j else 1.0
            count = count + math.comb(n, j) * times_x * inner * rest
    slope = rrule(sp._ufuncs._smirnovp, n, x)[1](1.0)[2]
    assert slope == pytest.approx(count.deriv(2)(x), rel=1e-12)


def test_kolmogorovs_density_is_flat_below_zero():
    for x in (-1.0, 0.0, 0.01, np.inf):
        assert rrule(sp._ufuncs._kolmogp, x)[1](1.0)[1] == 0.0


@pytest.mark.parametrize(
    ("f", "xs", "places"),
    [
        (sp.gammainc, (2.0, np.inf), [1]),
        (sp.gammaincc, (0.4, np.inf), [1]),
        (sp.chdtr, (3.0, np.inf), [1]),
        (sp.gdtr, (1.5, 2.0, np.inf), [0, 1, 2]),
        (sp.gdtrc, (np.inf, 2.0, 0.3), [0, 2]),
        (sp.rgamma, (np.inf,), [0]),
        (sp.dawsn, (-np.inf,), [0]),
        (sp.exprel, (-np.inf,), [0]),
        (sp.voigt_profile, (np.inf, 0.5, 0.7), [0, 1, 2]),
    ],
)
def test_slopes_at_infinity_are_zero_where_the_value_has_a_limit(f, xs, places):
    beside = [np.array([x, x if np.isfinite(x) else np.sign(x)]) for x in xs]  # one of two entries
    for i in places:
        assert rrule(f, *xs)[1](1.0)[1 + i] == 0.0
        slopes = rrule(f, *beside)[1](np.ones(2))[1 + i]
        alone = rrule(f, *[x[1] for x in beside])[1](1.0)[1 + i]
        np.testing.assert_allclose(slopes, [0.0, alone], rtol=1e-14)


@pytest.mark.filterwarnings("ignore:floating point number truncated")  # SciPy's own
@pytest.mark.filterwarnings("ignore:non-integer arg n")
@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (sp.yn, (1.5, 0.4)),
        (sp.kn, (1.5, 0.4)),
        (sp.expn, (0.6, 0.4)),
        (sp.pdtri, (2.5, 0.2)),
        (sp.bdtr, (1.0, 6.5, 0.2)),
        (sp.bdtrc, (1.0, 6.5, 0.2)),
        (sp.bdtri, (2.5, 6.5, 0.2)),
        (sp.nbdtr, (1.0, 6.5, 0.2)),
        (sp.nbdtrc, (1.0, 6.5, 0.2)),
        (sp.nbdtri, (2.5, 5.5, 0.2)),
        (sp._ufuncs._smirnovp, (6.5, 0.15)),
    ],
)
def test_counts_and_orders_are_truncated_as_scipy_does(f, xs):
    *orders, x = xs
    _, back = rrule(f, *xs)
    found = back.only([i == len(xs) for i in range(len(xs) + 1)])(1.0)[-1]
    assert found == pytest.approx((f(*orders, x + 1e-6) - f(*orders, x - 1e-6)) / 2e-6, rel=1e-5)


@pytest.mark.parametrize("many", [1e6, 1e12, 1e20, 1e100])
def test_of_many_degrees_of_freedom_no_digits_are_lost(many):
    # then the other parameter is that of a gamma distribution
    _, back = rrule(sp.betainc, 20.0, many, 25 / many)
    _, limit = rrule(sp.gammainc, 20.0, 25.0)
    assert back(1.0)[1] == pytest.approx(limit(1.0)[1], rel=500 / many + 1e-9)
    _, back = rrule(sp.fdtr, 0.8, many, 0.9)
    _, limit = rrule(sp.chdtr, 0.8, 0.8 * 0.9)
    of_both = limit(1.0)
    assert back(1.0)[1] == pytest.approx(of_both[1] + 0.9 * of_both[2], rel=500 / many + 1e-9)
    _, back = rrule(sp.bdtrc, 3, int(many) if many < 2**31 else 10**9, 1e-9)
    density = back.only([False, False, False, True])(1.0)[3]
    n = int(many) if many < 2**31 else 10**9
    with mp.workdps(40):
        p = mp.mpf(1e-9)
        expected = mp.exp(4 * mp.log(n) + 3 * mp.log(p) + (n - 4) * mp.log1p(-p)) / 6
        expected *= (1 - mp.mpf(1) / n) * (1 - mp.mpf(2) / n) * (1 - mp.mpf(3) / n)
    assert density == pytest.approx(float(expected), rel=1e-10)


@pytest.mark.parametrize("tiny", [0.0, 5e-324, 1e-310])
def test_of_the_smallest_parameters(tiny):
    _, back = rrule(sp.betaincc, tiny, 0.7, 0.2)
    _, limit = rrule(sp.betaincc, 1e-12, 0.7, 0.2)
    assert back(1.0)[1] == pytest.approx(limit(1.0)[1], rel=1e-9)


@pytest.mark.parametrize("a", [501.0, 1e5, 1e8, 1e12])
@pytest.mark.parametrize("z", [-6.0, -1.0, 0.3, 5.0])
def test_incomplete_gamma_functions_of_large_shapes(a, z):
    x = a + z * math.sqrt(a)
    found = rrule(sp.gammainc, a, x)[1](1.0)[2]
    with mp.workdps(50):
        log = (mp.mpf(a) - 1) * mp.log(x) - mp.mpf(x) - mp.loggamma(a)
        assert found == pytest.approx(float(mp.exp(log)), rel=1e-11)
