"""The gamma and beta functions, against differences and mpmath."""

import mpmath as mp
import pytest
from scipy import special as sp

from rulescore.testing import check_rrule
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_hard_points(hard, agrees):
    agrees(*hard)


def lower(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def beta(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


SHAPES = [(1e-6, 1e-3), (1e-6, 2.0), (0.3, 5.0), (0.5, 30.0), (2.0, 1e-5), (5.0, 4.0), (5.0, 40.0)]
SHAPES += [(50.0, 51.0), (50.0, 20.0), (50.0, 100.0), (1.0, 1.0), (0.99, 1.01)]
BETAS = [(1e-3, 2.0, 1e-6), (0.3, 0.4, 0.2), (0.3, 0.4, 0.9), (2.0, 3.0, 0.01), (50.0, 60.0, 0.3)]
BETAS += [(0.5, 0.5, 1e-8), (100.0, 0.01, 0.9999), (0.01, 100.0, 1e-4), (2.5, 0.5, 0.999)]
BETAS += [(1e-3, 0.15, 0.017), (0.036, 2e-3, 0.86)]
# SciPy's `psi` has lost its digits there
BESIDE_POLES = [(-1 - 2e-16,), (-2 + 4e-16,), (-5 + 1e-14,), (-9 - 1e-10,), (-3.005,)]
LARGE = [(1e4, 1e4), (1e3, 1100.0)]
HARD = [
    (sp.gamma, mp.gamma, 0, [(1e-8,), (-2.000001,), (150.0,), (-30.5,), (20 + 40j,)]),
    (sp.gammaln, mp.loggamma, 0, [(1e-8,), (1e10,)]),
    (sp.loggamma, mp.loggamma, 0, [(1e-8j,), (-20.3 + 1e-3j,), (1e5 + 1e5j,)]),
    (sp.rgamma, mp.rgamma, 0, [(-3.0,), (0.0,), (1e-9,), (30.0,), (5e-324,), (-1e-310,), (170.0,)]),
    (sp.psi, mp.digamma, 0, [(1e-4,), (-3.3,), (1e8,), (3 + 4j,), (-5.3 + 1e-2j,), (1e3j,)]),
    (sp.psi, mp.digamma, 0, [(-20.3,), (-8.01,), (-7.99,)]),
    (sp.gamma, mp.gamma, 0, BESIDE_POLES),
    (sp.gammaln, lambda x: mp.log(abs(mp.gamma(x))), 0, BESIDE_POLES),
    (sp.rgamma, mp.rgamma, 0, BESIDE_POLES),
    (sp.poch, mp.rf, 1, [(0.25, -1.25 + 4e-16), (0.25, -5.25 + 1e-9)], 1e-9),
    (sp.beta, mp.beta, 0, [(0.3, -2.3), (0.25, -2.25 + 1e-9), (0.4, -1e-9)], 1e-9),
    (sp.gammainc, lower, 0, SHAPES),
    (sp.gammainc, lower, 0, LARGE, 1e-10),
    (sp.gammainc, lower, 1, SHAPES),
    (sp.betainc, beta, 0, BETAS, 2e-12),
    (sp.betainc, beta, 1, BETAS, 2e-12),
    (sp.betainc, beta, 2, BETAS),
    (sp.betaincinv, lambda a, b, y: 1 - (1 - y) ** (1 / b), 2, [(1.0, 0.4, 1 - 1e-9)], 1e-9),
    (sp.betainccinv, lambda a, b, y: 1 - y ** (1 / b), 1, [(1.0, 0.4, 1e-9)], 1e-9),
    (sp.beta, mp.beta, 0, [(1e-5, 3.0), (200.0, 0.5), (1e6, 2.0)], 1e-9),
    (sp.poch, mp.rf, 0, [(0.3, 2.5), (-2.0, 5.0), (1e5, 1.5)], 1e-9),
    (sp.poch, mp.rf, 0, [(-1.5, 1e-10), (-200.5, 1e-10), (-1.001, 2e-9), (3.0, -1e-5)], 1e-9),
    (sp.beta, mp.beta, 0, [(10.0, 1e-10), (0.5, 1e-10), (50.0, 1e-12)], 1e-9),
]


SECOND = [
    (sp.rgamma, mp.rgamma, (-3.0, 0.0, -2.5)),
    (lambda n: sp.binom(n, 5.0), lambda n: mp.binomial(n, 5), (3.0, 0.0, 4.5)),
    (lambda k: sp.binom(4.0, k), lambda k: mp.binomial(4, k), (6.0, -2.0, 2.5)),
    (lambda z: sp.poch(z, 2.5), lambda z: mp.rf(z, 2.5), (-2.0, 0.0, 0.4)),
]


@pytest.mark.parametrize(("f", "reference", "points"), SECOND)
def test_second_derivatives_where_a_pole_makes_a_zero(f, reference, points):
    for x in points:
        (found,) = gradient(lambda x: gradient(f, x)[0], x)
        assert found == pytest.approx(float(mp.diff(reference, x, 2)), rel=1e-8)


def test_slope_of_psi_far_on_the_left_takes_no_time():
    (found,) = gradient(sp.psi, -1e14 - 0.5)  # SciPy's zeta adds up as many terms
    assert found == pytest.approx(float(mp.pi**2))
