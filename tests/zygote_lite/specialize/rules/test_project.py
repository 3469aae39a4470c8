"""The kind of a cotangent: as precise as its primal, whatever it is multiplied with."""

import math

import numpy as np
import pytest

from zygote_lite import grad, gradient, testing
from zygote_lite.testing import transformed_only

X = np.array([0.3, 0.7, 1.9])
SINGLE = np.array([1.1, 2.3, 3.7], np.float32)
SHORT = np.float32(1.3)


def summed(x):
    return (x * SINGLE).sum() * 2.1


def averaged(x):
    return (x * SINGLE).mean() * 6.3


def dotted(x):
    return 4.2 * (x @ SINGLE) - 2.1 * np.dot(SINGLE, x)


def by_entries(x):
    return (x[0] * SINGLE[0] + x[1:] @ SINGLE[1:]) * 2.1


def through_loops(x):
    y = np.dot(SINGLE, x)
    for _ in range(2):
        y = y * SHORT
    return y * (2.1 / float(SHORT) ** 2)


@pytest.mark.parametrize("f", [summed, averaged, dotted, by_entries, through_loops])
def test_factors_of_single_precision_leave_a_cotangent_double(f):
    with transformed_only():
        got = grad(f)(X)
    np.testing.assert_allclose(got, 2.1 * SINGLE.astype(np.float64), rtol=1e-14)


def test_numbers_of_one_precision_are_not_projected():
    def f(x):
        return np.sin(x) * math.cos(x)

    for x, projects in ((0.7, False), (np.float32(0.7), True)):
        testing.forget()
        assert testing.why_recorded(f, x) is None
        (text,) = testing.programs(f)
        assert ("project(" in text) is projects


def test_the_cotangent_of_a_number_of_single_precision_is_rounded_where_the_tape_rounds_it():
    def f(x):
        return np.sum(np.array([1.0, 1 / 3]) * np.ediff1d(np.array([1.0, 2.0]), x * x))

    for x in np.array([0.34285714, 0.5428571], np.float32):
        with testing.recorded_only():
            want = gradient(f, x)
        with transformed_only():
            assert gradient(f, x) == want
