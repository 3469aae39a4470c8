"""Rules of `rules_scipy.special.hypergeometric`, against differences and mpmath."""

import mpmath as mp
from scipy import special as sp

from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_hard_points(hard, agrees):
    agrees(*hard)


HARD = [(sp.hyperu, mp.hyperu, 2, [(0.15, -10.5, 13.0), (0.06, -2.0, 6.5), (2.0, 3.5, 0.1)], 1e-10)]
