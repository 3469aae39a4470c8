"""Rules whose bodies are differentiated again: second derivatives through them."""

import numpy as np

from zygote_lite import hessian

X = np.array([0.5, 1.5, -0.3])
PLACES, HEIGHTS = np.array([-1.0, 0.0, 2.0]), np.array([0.0, 1.0, 3.0])


def test_take():
    found = hessian(lambda x: np.sum(np.take(x, [0, 1, 1]) ** 3))(X)
    np.testing.assert_allclose(found, np.diag([6 * X[0], 12 * X[1], 0.0]))


def test_interp():
    found = hessian(lambda x: np.sum(np.interp(x, PLACES, HEIGHTS) ** 3))(X)
    np.testing.assert_allclose(found, np.diag(6 * np.interp(X, PLACES, HEIGHTS)))  # of slope 1


def test_interp_of_heights():
    weights = np.array([[0.0, 0.9, 0.1], [0.0, 0.25, 0.75], [0.3, 0.7, 0.0]])
    found = hessian(lambda h: np.sum(np.interp([0.2, 1.5, -0.3], PLACES, h) ** 3))(HEIGHTS)
    np.testing.assert_allclose(found, weights.T @ np.diag(6 * (weights @ HEIGHTS)) @ weights)
