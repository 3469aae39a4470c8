"""Zeta functions, against differences and mpmath."""

import math

import mpmath as mp
from scipy import special as sp

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_hard_points(hard, agrees):
    agrees(*hard)


POINTS = [
    (-4.7e-7,),
    (1.0001,),
    (2.0,),
    (30.0,),
    (0.5,),
    (0.0,),
    (-0.5,),
    (-2.0,),
    (-15.5,),
    (-30.2,),
]
HURWITZ = [(1.0001, 0.3), (2.5, 1e-3), (2.5, 100.0), (12.0, 3.0)]
HARD = [
    (sp.zeta, mp.zeta, 0, POINTS, 1e-11),
    (sp.zeta, mp.zeta, 0, HURWITZ, 1e-11),
    (sp.zeta, mp.zeta, 1, HURWITZ, 1e-11),
]


def test_the_tail_of_an_infinite_start_is_flat():
    assert rrule(sp.zeta, 2.0, math.inf)[1](1.0)[1:] == (0.0, 0.0)
