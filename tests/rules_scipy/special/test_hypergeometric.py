"""Rules of `rules_scipy.special.hypergeometric`, against differences and mpmath."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special as sp

from rulescore import rrule
from rulescore.testing import check_rrule
from zygote_lite import grad


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_hard_points(hard, agrees):
    agrees(*hard)


HARD = [
    (sp.hyperu, mp.hyperu, 2, [(0.15, -10.5, 13.0), (0.06, -2.0, 6.5), (2.0, 3.5, 0.1)], 1e-10),
    (sp.hyperu, mp.hyperu, 2, [(0.5, 2.0, 1e-10), (0.5, 2.0, 1e-5), (0.5, 3.0, 1e-4)], 1e-10),
    (sp.hyp1f1, mp.hyp1f1, 2, [(100.0, -0.5, -1.0), (20.0, 0.1, -0.5), (200.5, 3.0, -0.9)], 1e-10),
]


@pytest.mark.parametrize(
    ("f", "xs", "expected"),
    [
        (sp.hyp1f1, (-1.0, -1.0, 0.7), 1.0),  # 1 + x
        (sp.hyp1f1, (-1.0, -2.0, 0.7), 0.5),
        (sp.hyp1f1, (0.0, 2.0, 0.7), 0.0),
        (sp.hyp2f1, (0.0, 0.4, 0.0, 0.5), 0.4 * 0.5**-1.4),  # (1 - x)**-0.4
        (sp.hyp2f1, (0.0, 0.0, 1.0, 2.0), 0.0),
        (sp.hyp2f1, (1.0, -2.0, -2.0, -0.5), 0.0),  # 1 + x + x**2
        (sp.hyp2f1, (1.0, -2.0, -3.0, -1.0), 0.0),  # 1 + 2 x / 3 + x**2 / 3
        (sp.hyp2f1, (0.3, -2.0, 1.5, 0.4), -0.4 + 2 * 0.104 * 0.4),
        (sp.hyperu, (0.0, 0.5, math.inf), 0.0),
        (sp.hyperu, (0.0, -2.0, 0.0), 0.0),
        (sp.hyperu, (1.0, -2.0, 0.0), -1 / 6),
        (sp.hyperu, (1.0, -0.5, 0.0), -4 / 3),
    ],
)
def test_polynomials_and_ends(f, xs, expected):
    needed = [i == len(xs) for i in range(len(xs) + 1)]
    for given in (xs, (*xs[:-1], np.full(2, xs[-1])), tuple(np.full(2, x) for x in xs)):
        y, back = rrule(f, *given)
        found = back.only(needed)(np.ones_like(y))[-1]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("f", [sp.hyp1f1, sp.hyperu, lambda a, b, x: sp.hyp2f1(a, 0.7, b, x)])
def test_second_derivatives(f):
    x, up = np.array([0.3, 0.6]), np.array([1.0, -2.0])
    slope = grad(lambda x: np.sum(up * f(0.4, 1.3, x)))
    for _ in range(3):
        found = grad(lambda x: np.sum(slope(x)))(x)
        np.testing.assert_allclose(found, (slope(x + 1e-6) - slope(x - 1e-6)) / 2e-6, rtol=1e-6)
