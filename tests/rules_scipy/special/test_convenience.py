"""Powers, logarithms and trigonometry in degrees, against differences and mpmath."""

import math

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


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (0.0, 0.3, (math.inf, 0.0)),
        (math.inf, 0.3, (0.0, math.inf)),
        (1e300, 0.3, (2.26220e-3, 1.089115e295)),
        (1e-200, 0.3, (None, None)),
        (1e200, 3e200, (None, None)),
    ],
)
def test_slopes_of_the_mean_at_ends_and_of_extreme_sizes(a, b, expected):
    for first, second, at in ((a, b, (1, 2)), (b, a, (2, 1))):
        found = [rrule(sp.agm, first, second)[1](1.0)[i] for i in at]
        if expected[0] is None:
            with mp.workdps(40):
                of = [mp.diff(lambda t: mp.agm(t, b), a, h=a * 1e-15)]
                of.append(mp.diff(lambda t: mp.agm(a, t), b, h=b * 1e-15))
            np.testing.assert_allclose(found, [float(x) for x in of], rtol=1e-8)
        else:
            np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_slope_of_exprel_at_infinity():
    assert rrule(sp.exprel, math.inf)[1](1.0)[1] == math.inf
