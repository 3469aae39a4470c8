"""Writes of values with more axes than what they are written to."""

import numpy as np
import pytest
from scipy import interpolate

from zygote_lite import gradient, hessian


def into_all(y):
    z = np.zeros(3)
    z[:] = y * y
    return np.sum(z**2 * np.arange(3.0))


def into_rows(y):
    z = np.zeros((2, 3))
    for i in range(2):
        z[i, :2] = y[None, :, :1] * y[:, 1]
    return np.sum(z**2)


def at_indices(y):
    z = np.zeros(3)
    z[[0, 0, 2]] = y * y
    return np.sum(z**2)


EXPECTED = {into_all: [0, 32, 216], into_rows: [32, 16, 0], at_indices: [0, 32, 108]}
SECOND = {into_all: [0, 48, 216], at_indices: [0, 48, 108]}


@pytest.mark.parametrize("f", EXPECTED)
def test_axes_of_length_one_in_front_are_left_out(f):
    y = np.array([[1.0, 2.0, 3.0]])
    for _ in range(3):
        np.testing.assert_allclose(gradient(f, y)[0], [EXPECTED[f]])
    if f in SECOND:
        found = np.reshape(hessian(f)(y), (3, 3))
        np.testing.assert_allclose(found, np.diag(SECOND[f]))


def test_a_pchip_of_two_points_is_a_line():
    value = lambda y: interpolate.PchipInterpolator([0.0, 1.0], y)(0.3)
    np.testing.assert_allclose(gradient(value, np.array([1.0, 3.0]))[0], [0.7, 0.3])
