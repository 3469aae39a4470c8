"""Rules of `rules_scipy.spatial.representations`: matrices and angles, against differences."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rulescore.testing import check_rrule
from tests.rules_scipy.rotated import Q, V, assert_slopes, of_quaternions, size
from zygote_lite import gradient

M = Rotation.from_quat(Q).as_matrix()
AXES = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0], [2.0, -1.0, 0.0]])


CASES = {
    "from_matrix": (lambda m: size(Rotation.from_matrix(m)), M),
    "from_matrix, near": (lambda m: size(Rotation.from_matrix(m)), M + 0.1 * Q[:3, :3]),
    "from_matrix, valid": (lambda m: size(Rotation.from_matrix(m, assume_valid=True)), M),
    "from_mrp": (lambda v: size(Rotation.from_mrp(v)), V),
    "from_rotvec": (lambda v: size(Rotation.from_rotvec(v[0])), V),
    "from_rotvec of zero": (lambda v: size(Rotation.from_rotvec(v)), np.zeros(3)),
    "from_euler": (lambda v: size(Rotation.from_euler("XZ", v, degrees=True)), 30 * V[:, :2]),
    "from_davenport": (lambda v: size(Rotation.from_davenport(AXES, "e", v)), V),
    "as_quat": (of_quaternions(lambda r: r.as_quat(canonical=True, scalar_first=True)), Q),
    "as_rotvec": (of_quaternions(lambda r: r.as_rotvec()), Q),
    "as_mrp": (of_quaternions(lambda r: r.as_mrp()), Q),
    "as_euler": (of_quaternions(lambda r: r.as_euler("zyx")), Q),
    "as_euler, symmetric": (of_quaternions(lambda r: r.as_euler("ZXZ", degrees=True) / 9), Q),
    "as_davenport": (of_quaternions(lambda r: r.as_davenport(AXES, "i")), Q),
}


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("name", CASES)
def test_representations(name):
    assert_slopes(*CASES[name])


def test_the_second_derivative_by_a_rotation_vector():
    def slope(s):
        return gradient(lambda s: size(Rotation.from_rotvec(s * V[0])), s)[0]

    assert gradient(slope, 0.7)[0] == pytest.approx((slope(0.70001) - slope(0.69999)) / 2e-5)


def test_angles_in_gimbal_lock_are_refused():
    lock = Rotation.from_euler("xyz", [0.3, np.pi / 2, 0.1]).as_quat()
    with pytest.warns(UserWarning, match="Gimbal"), pytest.raises(np.linalg.LinAlgError):
        gradient(lambda q: np.sum(Rotation.from_quat(q).as_euler("xyz")), lock)
