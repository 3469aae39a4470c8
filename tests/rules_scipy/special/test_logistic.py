"""The logistic function and Box-Cox transforms, against differences and mpmath."""

import mpmath as mp
from scipy import special as sp

from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_hard_points(hard, agrees):
    agrees(*hard)


def boxcox(x, lmbda):
    return mp.expm1(lmbda * mp.log(x)) / lmbda


def inverse(x, lmbda):
    return mp.exp(mp.log1p(lmbda * x) / lmbda)


SMALL = [(2.0, 1e-9), (0.3, -1e-4), (5.0, 0.7), (1e-3, -2.0)]
HARD = [
    (sp.expit, lambda x: 1 / (1 + mp.exp(-x)), 0, [(40.0,), (-700.0,), (0.0,)], 1e-12, 400),
    (sp.boxcox, boxcox, 1, SMALL, 1e-11),
    (sp.inv_boxcox1p, lambda x, p: inverse(x, p) - 1, 0, [(-32.8, -1.4e-5), (0.4, 0.3)], 1e-12),
    (sp.inv_boxcox, inverse, 1, [(2.0, 1e-9), (0.3, -1e-4), (5.0, 0.7), (0.4, -2.0)], 1e-11),
]
