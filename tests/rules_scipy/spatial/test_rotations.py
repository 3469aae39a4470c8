"""Rules of `rules_scipy.spatial.rotations`: what is done with rotations, against differences."""

import numpy as np
import pytest
from scipy.spatial import geometric_slerp
from scipy.spatial.transform import Rotation, RotationSpline, Slerp

from rulescore.testing import check_rrule
from tests.rules_scipy.rotated import Q, V, assert_slopes, of_quaternions, size
from zygote_lite import gradient, hessian

WEIGHTS = np.array([1.0, 2.0, 0.5, 1.5])


def arc(v):
    """Return a number of an arc between two points that are equal for `v = 0`."""
    ends = np.array([0.6, 0.0, 0.8]) + [v[:3], v[3:6]]
    start, end = ends / np.sqrt(np.sum(ends**2, axis=1, keepdims=True))
    return np.sum(WEIGHTS[:3] * geometric_slerp(start, end, 0.3 + v[6:] + [0.0, 0.4]) ** 2)


CASES = {
    "magnitude": (of_quaternions(lambda r: r.magnitude()), Q),
    "apply": (of_quaternions(lambda r: r.apply(V)), Q),
    "product": (lambda q: size(Rotation.from_quat(q) * Rotation.from_quat(q[0]).inv()), Q),
    "power": (lambda q: size(Rotation.from_quat(q) ** 1.7), Q),
    "exponent": (lambda n: size(Rotation.from_quat(Q) ** n[0]), np.array([1.7])),
    "mean": (lambda q: size(Rotation.from_quat(q).mean()), Q),
    "weights of a mean": (lambda w: size(Rotation.from_quat(Q).mean(w)), WEIGHTS),
    "align_vectors": (lambda v: size(Rotation.align_vectors(v, Q[:, 1:])[0]), V),
    "distance": (lambda v: Rotation.align_vectors(Q[:, 1:], v, WEIGHTS)[1], V),
    "weights of vectors": (lambda w: size(Rotation.align_vectors(V, Q[:, 1:], w)[0]), WEIGHTS),
    "Slerp": (lambda q: size(Slerp([0, 1, 2, 3], Rotation.from_quat(q))([0.5, 2.2])), Q),
    "spline": (lambda q: size(RotationSpline([0, 1, 2, 3], Rotation.from_quat(q))([0.5, 2.2])), Q),
    "times": (lambda t: size(Slerp([0, 1, 2, 3], Rotation.from_quat(Q))(t)), np.array([0.5, 2.2])),
    "geometric_slerp": (arc, np.cos(np.arange(8.0))),
    "items": (lambda q: size(Rotation.concatenate([Rotation.from_quat(q)[1:3]])), Q),
}


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("name", CASES)
def test_rotations(name):
    assert_slopes(*CASES[name])


def test_the_inverse_power_keeps_the_sign_of_the_quaternion():
    q, weights = np.array([0.5, 0.1, -0.5, -0.7]), np.array([1.0, 2.0, -0.5, 3.0])
    by_power = gradient(lambda q: weights @ (Rotation.from_quat(q) ** -1).as_quat(), q)[0]
    by_inverse = gradient(lambda q: weights @ Rotation.from_quat(q).inv().as_quat(), q)[0]
    np.testing.assert_allclose(by_power, by_inverse, atol=1e-12)


def test_an_arc_from_a_point_to_itself():
    """Its slopes are the limits of those beside it."""
    beside = 1e-4 * np.cos(np.arange(8.0))
    for _ in range(3):
        np.testing.assert_allclose(
            gradient(arc, 0 * beside)[0], gradient(arc, beside)[0], atol=1e-3
        )
    expected = (gradient(arc, beside)[0] - gradient(arc, -beside)[0]) / 2e-4
    np.testing.assert_allclose(hessian(arc)(0 * beside) @ (beside * 1e4), expected, atol=1e-3)
