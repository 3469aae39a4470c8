"""Exponential integrals, against differences and mpmath."""

import mpmath as mp
from scipy import special as sp

from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_hard_points(hard, agrees):
    agrees(*hard)


def dilogarithm(z):
    return mp.polylog(2, 1 - z)


HARD = [
    (sp.exp1, mp.e1, 0, [(1e-8,), (50.0,), (3 + 4j,)]),
    (sp.expn, mp.expint, 1, [(0, 0.3), (3, 1e-6), (3, 40.0)]),
    (
        sp.spence,
        dilogarithm,
        0,
        [(1e-8,), (1 + 1e-9,), (1e6,), (3 + 4j,)],
        1e-11,
    ),
]
