"""Error functions, against differences and mpmath."""

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


def erfcx(z):
    return mp.exp(z * z) * mp.erfc(z)


def dawson(z):
    return mp.sqrt(mp.pi) / 2 * mp.exp(-z * z) * mp.erfi(z)


def voigt(x, sigma, gamma):
    z = (x + 1j * gamma) / (sigma * mp.sqrt(2))
    return mp.re(erfcx(-1j * z)) / (sigma * mp.sqrt(2 * mp.pi))


FAR = [(1e-9,), (11.9,), (12.1,), (1e4,), (1e8,)]
VOIGT = [(0.3, 1.2, 0.7), (50.0, 0.5, 1e-3), (1e3, 1e-3, 0.5), (0.1, 1e-5, 1.0), (20.0, 1.0, 1.0)]
HARD = [
    (sp.erf, mp.erf, 0, [(5.0,), (-7.0,), (3 + 4j,)], 1e-12, 80),
    (sp.erfcx, erfcx, 0, [*FAR, (-3.0,), (-15.0,), (30 + 1j,), (2 - 15j,)], 1e-11),
    (sp.dawsn, dawson, 0, [*FAR[:4], (-40.0,), (2 + 15j,)], 1e-11, 250),
    (sp.voigt_profile, voigt, 0, VOIGT, 1e-10),
    (sp.voigt_profile, voigt, 1, VOIGT, 1e-9),
    (sp.voigt_profile, voigt, 2, VOIGT, 1e-10),
    (sp.log_ndtr, lambda x: mp.log(mp.ncdf(x)), 0, [(-1e3,), (-8.0,), (8.0,)]),
]


def test_the_normal_distribution_far_out():
    y, back = rrule(sp.ndtri_exp, -1e6)
    x = mp.mpf(float(y))
    assert back(1.0)[1] == pytest.approx(float(1 / (-x - 1 / x)), rel=1e-9)


def test_no_slope_at_the_width_zero_of_a_symmetric_profile():
    _, dx, dsigma, dgamma = rrule(sp.voigt_profile, 0.4, 0.0, 0.7)[1](1.0)
    cauchy = -2 * 0.4 * 0.7 / np.pi / (0.4**2 + 0.7**2) ** 2
    assert (dx, dsigma) == (pytest.approx(cauchy), 0.0)
    assert dgamma == pytest.approx((0.4**2 - 0.7**2) / np.pi / (0.4**2 + 0.7**2) ** 2)


@pytest.mark.parametrize("f", [sp.modfresnelp, sp.modfresnelm])
def test_what_scipy_gets_wrong_is_refused(f):
    y, back = rrule(f, -1.0)
    with pytest.raises(NotImplementedError, match="values are wrong"):
        back(y)


@pytest.mark.parametrize("xs", [(-1.3, -1.0, 0.7), (0.4, -2.5, 0.7), (9.0, -0.6, 0.7)])
def test_the_voigt_profile_of_a_negative_width_is_differentiated_as_scipy_computes_it(xs):
    _, back = rrule(sp.voigt_profile, *xs)
    for i, found in enumerate(back(1.0)[1:]):
        moved = [sp.voigt_profile(*xs[:i], xs[i] + h, *xs[i + 1 :]) for h in (1e-6, -1e-6)]
        assert found == pytest.approx((moved[0] - moved[1]) / 2e-6, rel=1e-4)
