"""Legendre functions and spherical harmonics, against differences."""

import math

import numpy as np
import pytest
from scipy import special as sp

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_degree_zero_has_slopes_at_the_ends():
    for x in (1.0, -1.0):
        slope = rrule(sp.lpmv, 0, 3, x)[1](1.0)[3]
        assert slope == pytest.approx(6.0)


@pytest.mark.parametrize("x", [-1.0, 1.0, 1 - 1e-12])
def test_third_derivatives_at_the_ends(x):
    n = 6
    slope = rrule(sp.legendre_p, n, x, diff_n=2)[1](np.array([0.0, 0.0, 1.0]))[2]
    exact = math.factorial(n + 3) / math.factorial(n - 3) / 48  # DLMF 18.6.1 and 18.9.19
    assert slope == pytest.approx(x * exact, rel=1e-9)


def test_third_derivatives_of_large_degree():
    mpmath = pytest.importorskip("mpmath")
    for n, x in ((40, 0.97), (41, -0.3)):
        slope = rrule(sp.legendre_p, n, x, diff_n=2)[1](np.array([0.0, 0.0, 1.0]))[2]
        with mpmath.workdps(40):
            exact = mpmath.diff(lambda x, n=n: mpmath.legendre(n, x), x, 3)
        assert slope == pytest.approx(float(exact), rel=1e-10)
