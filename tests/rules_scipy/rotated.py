"""What the tests of rotations share: quaternions, a number made of a rotation, differences."""

import numpy as np
from scipy.spatial.transform import Rotation

from zygote_lite import gradient

Q = np.sin(np.arange(16.0) ** 2 + 1).reshape(4, 4)
V = np.cos(np.arange(12.0) ** 2).reshape(4, 3)


def size(r):
    return np.sum(np.sin(2 * r.as_matrix()))


def of_quaternions(f):
    return lambda q: np.sum(np.sin(f(Rotation.from_quat(q))))


def assert_slopes(f, x):
    """Assert that the gradient by an array is that of central differences."""
    steps = 1e-5 * np.eye(x.size).reshape(-1, *x.shape)
    expected = np.reshape([(f(x + e) - f(x - e)) / 2e-5 for e in steps], x.shape)
    np.testing.assert_allclose(gradient(f, x)[0], expected, atol=1e-8, rtol=1e-7)
