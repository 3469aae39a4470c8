"""Elliptic integrals and functions, against differences and mpmath."""

import math

import mpmath as mp
import pytest
from scipy import special as sp

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_hard_points(hard, agrees):
    agrees(*hard)


INCOMPLETE = [(1e-4, 0.5), (1.5, 0.999), (1.5707, -50.0), (4.0, 0.3), (-20.0, 0.9)]
CARLSON = [(0.3, 1.2, 2.5), (1e-6, 1.0, 1e6), (1.0, 1.0, 1.0), (0.0, 1.0, 2.0)]
BESIDE_CUT = [(0.35 - 1e-8j, -0.03 - 4e-7j, 0.05 + 6e-5j), (2.0 + 1j, -3 + 1e-6j, -3.001 + 1e-6j)]
HARD = [
    (sp.ellipk, mp.ellipk, 0, [(0.0,), (1e-9,), (1 - 1e-9,), (-1e6,)], 1e-11),
    (sp.ellipe, mp.ellipe, 0, [(0.0,), (1e-9,), (1 - 1e-9,), (-1e6,)], 1e-11),
    (sp.ellipkinc, mp.ellipf, 1, INCOMPLETE, 1e-9),
    (sp.ellipeinc, mp.ellipe, 1, INCOMPLETE, 1e-9),
    (sp.elliprf, mp.elliprf, 1, CARLSON, 1e-12),
    (sp.elliprd, mp.elliprd, 0, CARLSON[:3], 1e-11),
    (sp.elliprd, mp.elliprd, 1, CARLSON, 1e-11),
    (sp.elliprd, mp.elliprd, 2, CARLSON, 1e-11),
    (sp.elliprd, mp.elliprd, 1, BESIDE_CUT, 1e-10),
    (sp.elliprd, mp.elliprd, 2, BESIDE_CUT, 1e-10),
    (sp.elliprj, mp.elliprj, 0, [(0.3 + 0j, 1.2 + 0j, 2.5 + 0j, -2 - 1e-5j)], 1e-10),
    (sp.elliprj, mp.elliprj, 3, [(0.3 + 0j, 1.2 + 0j, 2.5 + 0j, -2 - 1e-5j)], 1e-10),
    (sp.elliprg, mp.elliprg, 0, CARLSON[:3], 1e-11),
    (sp.elliprj, mp.elliprj, 3, [(0.3, 1.2, 2.5, 0.7), (1.0, 1.0, 1.0, 1.0)], 1e-11),
    (sp.agm, mp.agm, 0, [(1.0, 1.0), (1e-6, 2.0), (3.0, 3.0000001)], 1e-11),
]


def test_nearly_equal_arguments_across_the_cut_are_refused():
    y, back = rrule(sp.elliprd, -2 + 1e-9j, 1.0 + 0j, -2 - 1e-9j)
    with pytest.raises(NotImplementedError, match="nearly equal"):
        back(y)


def test_jacobi_by_the_parameter():
    for u, m in [(0.4, 0.3), (2.5, 0.99), (7.0, 0.5)]:
        back = rrule(sp.ellipj, u, m)[1]
        for i, name in enumerate(("sn", "cn", "dn")):
            found = back(tuple(1.0 if i == j else None for j in range(4)))[2]
            expected = mp.diff(lambda m: mp.ellipfun(name, u, m=m), mp.mpf(m))
            assert abs(found - expected) < 1e-8


def test_the_second_integral_by_its_parameter_at_one():
    slope = rrule(sp.ellipeinc, 0.4, 1.0)[1](1.0)[2]
    # the integral of -sin(x)**2 / (2 cos(x)) up to 0.4
    expected = (math.sin(0.4) - math.atanh(math.sin(0.4))) / 2
    assert slope == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("f", [sp.elliprd, sp.elliprj, sp.elliprg])
def test_carlsons_slopes_at_infinity_are_zero(f, at):
    xs = [0.4, 0.7, 1.3, 0.9][: 4 if f is sp.elliprj else 3]
    xs[at - 1] = math.inf
    assert rrule(f, *xs)[1](1.0)[at] == 0


def test_carlsons_slopes_at_zero_and_beside_it():
    assert rrule(sp.elliprd, 0.0, 0.7, 1.3)[1](1.0)[1] == -math.inf
    assert rrule(sp.elliprj, 0.0, 0.7, 1.3, 0.9)[1](1.0)[1] == -math.inf
    near = rrule(sp.elliprj, 1e-310, 0.7, 1.3, 0.9)[1](1.0)[2:]
    at = rrule(sp.elliprj, 0.0, 0.7, 1.3, 0.9)[1](1.0)[2:]
    assert near == pytest.approx(at, rel=1e-9)
    # of degree -5/2
    large = rrule(sp.elliprd, 1e100, 2e100, 3e100)[1](1.0)[1:]
    usual = rrule(sp.elliprd, 1.0, 2.0, 3.0)[1](1.0)[1:]
    assert [x * 1e250 for x in large] == pytest.approx(usual, rel=1e-9)
    far = rrule(sp.elliprd, 1e300, 0.7, 1.3)[1](1.0)[2]
    assert far == pytest.approx(rrule(sp.elliprd, 1e200, 0.7, 1.3)[1](1.0)[2] * 1e-50, rel=1e-9)
