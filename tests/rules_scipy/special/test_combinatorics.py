"""Binomial coefficients and factorials, against differences and mpmath."""

import mpmath as mp
from scipy import special as sp

from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_hard_points(hard, agrees):
    agrees(*hard)


HARD = [
    (sp.binom, mp.binomial, 0, [(5.5, 2.5), (3.0, 5.0), (1e6, 3.0)], 1e-9),
    (sp.binom, mp.binomial, 0, [(-0.5, 1e-10), (-0.5, 1e-20), (-200.5, -1e-10), (3.0, 1e-5)], 1e-9),
    (sp.binom, mp.binomial, 1, [(5.5, 2.5), (3.0, 5.0), (3.0, -2.0)], 1e-9),
]
