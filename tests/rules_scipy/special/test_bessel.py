"""Bessel functions, against differences and mpmath."""

import mpmath as mp
import numpy as np
import pytest
from scipy import special as sp

from rulescore import RuleError, rrule
from rulescore.testing import check_rrule
from zygote_lite import gradient


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_hard_points(hard, agrees):
    agrees(*hard)


def scaled_i(v, x):
    return mp.besseli(v, x) * mp.exp(-abs(x))


def scaled_k(v, x):
    return mp.besselk(v, x) * mp.exp(x)


def scaled_hankel(v, z):
    return mp.hankel1(v, z) * mp.exp(-1j * z)


def other_hankel(v, z):
    return mp.hankel2(v, z) * mp.exp(1j * z)


ORDERS = [(0.3, 1e-8), (0.3, 2.0), (-2.5, 0.1), (0.0, 3.0), (40.0, 0.5), (1.5, 300.0), (1e-3, 1.0)]
FAR = [(0.5, 1e3), (2.0, 1e6), (1.0, 29.0), (1.0, 61.0), (0.0, 31.0)]
HARD = [
    (sp.jv, mp.besselj, 1, [(0.5, 1e-8), (20.0, 3.0), (2.5, 1e3), (1.5, 2 + 30j)], 1e-9),
    (sp.kv, mp.besselk, 0, ORDERS[:3] + ORDERS[4:], 1e-11),
    (sp.kve, scaled_k, 0, ORDERS[:3] + ORDERS[4:], 1e-11),
    (sp.kve, scaled_k, 1, FAR[2:], 1e-11),
    (sp.ive, scaled_i, 1, FAR[:1] + FAR[2:], 1e-11),
    (sp.hankel1e, scaled_hankel, 1, [(0.5, 100 + 0j), (2.0, 1e4 + 0j), (1.5, -9 - 0.1j)], 1e-9, 60),
    (sp.hankel2e, other_hankel, 1, [(0.3, -9 + 0.1j), (2.0, -4 - 3j), (-1.5, -90 + 2j)], 1e-9, 60),
    (sp.k0e, lambda x: scaled_k(0, x), 0, [(1e-9,), (1e5,)], 1e-11),
    (sp.i1e, lambda x: scaled_i(1, x), 0, [(1e-9,), (-1e5,), (1e5,)], 1e-11),
]


def test_the_order_of_kv_zero_is_a_minimum():
    assert rrule(sp.kv, 0.0, 3.0)[1](1.0)[1] == 0


@pytest.mark.parametrize("f", [sp.jv, sp.yv, sp.iv, sp.jve, sp.hankel1])
def test_orders_are_refused_where_they_are_asked_for(f):
    y, back = rrule(f, 1.5, 2.0)
    with pytest.raises(RuleError, match=r"scipy\.special\..* has no derivative by .v.: no formula"):
        back(y)
    assert back.only((False, False, True))(1.0)[2] is not None
    assert rrule(f, 2, 2.0)[1](y)[1] is None  # an integer is a choice
    with pytest.raises(TypeError, match=r"test_bessel.py:\d+: scipy\.special\..* no derivative"):
        gradient(lambda v: abs(f(v, 2.0)), 2)


@pytest.mark.parametrize("f", [sp.jve, sp.yve, sp.ive])
def test_what_is_not_analytic_is_refused(f):
    y, back = rrule(f, 1, 0.5 + 0.5j)
    with pytest.raises(NotImplementedError, match="not analytic"):
        back(y)


def test_at_zero():
    assert rrule(sp.j1, 0.0)[1](1.0)[1] == 0.5
    assert rrule(sp.i1e, 0.0)[1](1.0)[1] == 0.5
    assert rrule(sp.spherical_jn, 1, 0.0)[1](1.0)[2] == pytest.approx(1 / 3)
    assert rrule(sp.it2i0k0, 1e-3)[1]((1.0, None))[1] == pytest.approx(1e-3 / 4)
    assert np.isinf(rrule(sp.y0, 0.0)[1](1.0)[1])


@pytest.mark.parametrize("x", [5e-324, -1e-310, 0.0])
def test_slope_of_i1_where_iv_has_no_value(x):
    assert gradient(sp.i1, x) == (0.5,)
    (dx,) = gradient(lambda x: np.sum(sp.i1(x)), np.array([x, 1.0]))
    assert dx[0] == 0.5
    assert dx[1] == pytest.approx((sp.i1(1.001) - sp.i1(0.999)) / 0.002, rel=1e-6)
