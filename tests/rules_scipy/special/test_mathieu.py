"""Rules of `rules_scipy.special.mathieu`, against differences."""

import numpy as np
import pytest
from scipy import special as sp

from rulescore import rrule
from rulescore.testing import check_rrule
from zygote_lite import grad


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_derivatives_at_zero_by_their_series():
    """Those of DLMF 28.6.1 and 28.6.4: `a0 = -q**2/2 + 7q**4/128`, `b2 = 4 - q**2/12`."""
    value = lambda q: sp.mathieu_a(0, q)
    assert grad(grad(value))(1e-3) == pytest.approx(-1.0 + 21e-6 / 32, rel=1e-10)
    assert grad(grad(lambda q: sp.mathieu_b(2, q)))(1e-5) == pytest.approx(-1 / 6, rel=1e-8)
    assert grad(grad(grad(value)))(1e-3) == pytest.approx(21e-3 / 16, rel=1e-4)


@pytest.mark.parametrize("f", [sp.mathieu_a, sp.mathieu_b])
def test_far_out_the_derivative_is_that_of_the_value_of_scipy(f):
    """At a large parameter SciPy returns some values that belong to another order."""
    orders, q, h = np.array([4, 7, 12, 25]), 3000.0, 0.5
    found = rrule(f, orders, q * np.ones(4))[1](np.ones(4))[2]
    ends = [f(orders, q + k * h) for k in (-2, -1, 1, 2)]
    expected = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * h)
    np.testing.assert_allclose(found, expected, rtol=1e-7)
