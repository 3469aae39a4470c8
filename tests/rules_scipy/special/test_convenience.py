"""Powers, logarithms and trigonometry in degrees, against differences and mpmath."""

import mpmath as mp
from scipy import special as sp

from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_hard_points(hard, agrees):
    agrees(*hard)


def exprel(x):
    return mp.expm1(x) / x


def dirichlet(x, n):
    return mp.sin(n * x / 2) / (n * mp.sin(x / 2))


HARD = [
    (sp.exprel, exprel, 0, [(1e-9,), (-0.999,), (1.001,), (-40.0,), (30.0,)], 1e-11),
    (
        sp.diric,
        dirichlet,
        0,
        [(1e-6, 5), (6.28, 4)],
        1e-9,
    ),
]
