"""`evalpoly`, and the functions of NumPy that take coefficients."""

import numpy as np
import pytest

from rules_base import evalpoly
from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_numbers_of_the_seeds():
    y, back = rrule(evalpoly, 1.2, [2.0, 0.0, 3.0, 4.0])
    assert y == pytest.approx(13.232)
    none, dx, dcoeffs = back(1.0)
    assert none is None
    assert dx == pytest.approx(24.48)
    assert type(dx) is float
    assert dcoeffs == pytest.approx([1.0, 1.2, 1.44, 1.728])
    assert type(dcoeffs) is list


def test_finite_at_zero():
    assert rrule(evalpoly, 0.0, (2.0, 5.0, 3.0))[1](1.0) == (None, 5.0, (1.0, 0.0, 0.0))
    assert rrule(evalpoly, 0, (2, 5))[1](1.0) == (None, 5.0, (1.0, 0.0))


def test_values():
    x, coeffs = np.array([[0.5, -2.0]]), [1.0, 2.0, 3.0]
    np.testing.assert_allclose(evalpoly(x, coeffs), np.polynomial.polynomial.polyval(x, coeffs))
    np.testing.assert_array_equal(evalpoly(x, [7.0]), [[7.0, 7.0]])
    assert evalpoly(3, [1, 2]) == 7
    with pytest.raises(ValueError, match="coefficient"):
        evalpoly(1.0, [])


def test_coefficients_that_are_arrays():
    x = 0.5
    coeffs = [np.ones(3), np.ones(3)]
    _, dx, dcoeffs = rrule(evalpoly, x, coeffs)[1](np.ones(3))
    assert dx == 3.0
    np.testing.assert_array_equal(dcoeffs[1], [0.5, 0.5, 0.5])


def test_coefficients_that_polymul_drops_are_refused():
    p, q = np.array([0.0, 1.0, 2.0]), np.array([3.0, 4.0])
    y, back = rrule(np.polymul, p, q)
    np.testing.assert_array_equal(back.only((False, False, True))(y)[2], [23.0, 26.0])
    with pytest.raises(NotImplementedError, match="which keeps them"):
        back(y)
