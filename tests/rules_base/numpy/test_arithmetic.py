"""Operators and arithmetic ufuncs."""

import math
import operator

import numpy as np
import pytest

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_numbers_of_the_seeds():
    y, back = rrule(operator.truediv, 2, 3)
    assert y == 2 / 3
    assert back(1.2) == pytest.approx((None, 0.4, -0.26666666666666666), abs=1e-15)


def test_python_floats_stay_python_floats():
    for f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
        _, dx, dy = rrule(f, 1.5, 2.5)[1](1.0)
        assert type(dx) is float
        assert type(dy) is float


def test_broadcasting_is_undone():
    x, y = np.ones((3, 1)), np.ones((2, 1, 4))
    _, dx, dy = rrule(np.multiply, x, y)[1](np.ones((2, 3, 4)))
    np.testing.assert_array_equal(dx, np.full((3, 1), 8.0))
    np.testing.assert_array_equal(dy, np.full((2, 1, 4), 3.0))


@pytest.mark.parametrize("f", [operator.pow, np.power])
def test_powers_at_zero(f):
    assert rrule(f, 0.0, 2.0)[1](1.0) == (None, 0.0, 0.0)
    assert rrule(f, 0.0, 1.0)[1](1.0) == (None, 1.0, 0.0)
    assert rrule(f, 0.0, 0.0)[1](1.0) == (None, 0.0, 0.0)
    assert rrule(f, 0.0, 0.5)[1](1.0)[1] == math.inf
    assert rrule(f, -2.0, 3)[1](1.0)[1:] == pytest.approx((12.0, -8 * math.log(2)))


def test_powers_of_arrays_at_zero():
    x, y = np.array([0.0, 0.0, 0.0, -2.0]), np.array([2.0, 1.0, 0.0, 3.0])
    _, dx, dy = rrule(np.power, x, y)[1](np.ones(4))
    np.testing.assert_allclose(dx, [0.0, 1.0, 0.0, 12.0])
    np.testing.assert_allclose(dy, [0.0, 0.0, 0.0, -8 * math.log(2)])


def test_integer_powers_of_integers_have_a_slope():
    assert rrule(operator.pow, 3, 2)[1](1.0)[1] == 6.0
    assert type(rrule(operator.pow, 3, 2)[1](1.0)[1]) is float
    _, dx, _ = rrule(np.power, np.array([3, 0, -2]), np.array([2, 0, 3]))[1](np.ones(3))
    np.testing.assert_array_equal(dx, [6.0, 0.0, 12.0])


def test_a_zero_cotangent_wins_over_a_pole():
    x = np.array([0.0, 2.0])
    with np.errstate(divide="ignore"):
        _y, back = rrule(np.reciprocal, x)
    np.testing.assert_array_equal(back(np.array([0.0, 1.0]))[1], [0.0, -0.25])


def test_operators_on_containers_have_no_rule():
    assert rrule(operator.mul, [1], 3) is None
    assert rrule(operator.add, (1,), (2,)) is None
    assert rrule(operator.or_, {1: 2}, {3: 4}) is None


def test_divmod_of_one_result():
    (q, r), back = rrule(divmod, 7.5, 2.0)
    assert (q, r) == (3.0, 1.5)
    assert back((None, 1.0)) == (None, 1.0, -3.0)
    assert back((1.0, None)) == (None, None, None)


def test_masked_arrays_and_matrices_have_no_rule():
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    assert rrule(operator.add, masked, 1.0) is None
    assert rrule(np.sum, masked) is None
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1.0, 2.0], [3.0, 4.0]])
    assert rrule(operator.mul, matrix, matrix) is None


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: np.array([x])], ids=["number", "array"])
@pytest.mark.parametrize(("x", "y"), [(-2.0 + 0j, 0.5 + 0j), (-2.0, 1j), (0.5j, 2.0)])
def test_the_exponent_of_a_complex_power(wrap, x, y):
    """Its derivative is `x**y * log(x)`, with the complex logarithm for negative bases too."""
    _, back = rrule(np.power, wrap(x), wrap(y))
    dy = 1.0 + 0.5j
    expected = np.conj(np.power(x + 0j, y) * np.log(x + 0j)) * dy
    found = back(wrap(dy))[2]
    np.testing.assert_allclose(found, wrap(expected if isinstance(y, complex) else expected.real))


def test_a_negative_number_to_a_fractional_power_is_complex():
    y, back = rrule(pow, -2.0, 0.5)
    assert isinstance(y, complex)
    step = 1e-6
    difference = ((-2.0) ** (0.5 + step) - (-2.0) ** (0.5 - step)) / (2 * step)
    assert back(1.0)[2] == pytest.approx(difference.real)
    assert back(1j)[2] == pytest.approx(difference.imag)


@pytest.mark.parametrize("zero", [0.0, np.zeros(2)], ids=["number", "array"])
def test_a_power_of_zero_to_the_zero(zero):
    _, back = rrule(np.power, zero, zero)
    for dx in back(zero + 1)[1:]:
        np.testing.assert_array_equal(dx, zero)
