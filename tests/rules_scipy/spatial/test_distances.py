"""Rules of `rules_scipy.spatial.distances`, against differences."""

import contextlib

import numpy as np
import pytest
from scipy import spatial
from scipy.spatial import distance as sd

from rulescore.testing import check_rrule
from zygote_lite import gradient, hessian
from zygote_lite.errors import DifferentiationError
from zygote_lite.testing import compared

POINTS = np.sin(np.arange(6.0) ** 2).reshape(3, 2)
OTHERS = np.cos(np.arange(8.0)).reshape(4, 2)


pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated in favor of")  # SciPy 1.18


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_points_that_are_equal_have_no_slope():
    found = gradient(lambda x: np.sum(sd.cdist(x, POINTS) + spatial.distance_matrix(x, x)), POINTS)
    direction = POINTS[:, None] - POINTS
    unit = direction / np.where(np.eye(3) == 1, 1, np.linalg.norm(direction, axis=-1))[..., None]
    np.testing.assert_allclose(found[0], 3 * np.sum(unit, 1), atol=1e-14)


def test_second_derivatives_of_a_kernel():
    def loss(z):
        return np.sum(np.exp(-(sd.cdist(z.reshape(3, 2), OTHERS, "mahalanobis") ** 2)))

    z = POINTS.ravel()
    steps = 1e-5 * np.eye(6)
    slopes = [(gradient(loss, z + e)[0] - gradient(loss, z - e)[0]) / 2e-5 for e in steps]
    np.testing.assert_allclose(hessian(loss)(z), slopes, atol=1e-8)


def test_a_metric_in_python_is_differentiated_with_what_it_captured():
    def loss(power):
        return np.sum(sd.cdist(POINTS, OTHERS, lambda u, v: np.sum(np.abs(u - v) ** power)))

    assert gradient(loss, 1.7)[0] == pytest.approx((loss(1.70001) - loss(1.69999)) / 2e-5)


def test_a_step_function_has_no_gradient():
    assert gradient(lambda x: np.sum(sd.cdist(x, OTHERS, "hamming")), POINTS) == (None,)


@pytest.mark.parametrize(
    ("what", "f"),
    [
        ("option", lambda x: np.sum(sd.cdist(POINTS, OTHERS, w=x[0]))),
        (
            "cdist has no rule that writes",
            lambda x: np.sum(sd.cdist(x, x + 1, out=np.zeros((3, 3)))),
        ),
        ("pdist has no rule that writes", lambda x: np.sum(sd.pdist(x, out=np.zeros(3)))),
    ],
)
def test_refusals(what, f):
    for mode in (compared, contextlib.nullcontext):  # both tiers refuse
        with mode(), pytest.raises(DifferentiationError, match=what):
            gradient(f, abs(POINTS))


def test_indices_of_the_points_that_are_farthest_are_a_choice():
    def loss(x):
        return sum([1.0 * entry for entry in sd.directed_hausdorff(x, OTHERS)])

    alone = gradient(lambda x: sd.directed_hausdorff(x, OTHERS)[0], POINTS)[0]
    for mode in (compared, contextlib.nullcontext):
        with mode():
            np.testing.assert_array_equal(gradient(loss, POINTS)[0], alone)
