"""Rules of `rules_scipy.spatial.distances`, against differences."""

import contextlib

import numpy as np
import pytest
from scipy import spatial
from scipy.spatial import distance as sd

from rules_scipy.shared.points.options import BY_WEIGHTS
from rules_scipy.spatial.distances import STEPS
from rulescore.testing import check_rrule
from zygote_lite import gradient, hessian
from zygote_lite.errors import DifferentiationError
from zygote_lite.testing import compared, why_recorded

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


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock"])
def test_a_metric_by_name_is_transformed(metric):
    """The pullback of the rule calls a function that only the run knows."""

    def f(x):
        return np.sum(np.sin(sd.cdist(x, XB=OTHERS + x[0, 0], metric=metric)))

    assert why_recorded(f, POINTS) is None
    with compared():
        found = [gradient(f, POINTS)[0] for _ in range(3)]
    steps = 1e-6 * np.eye(6).reshape(6, 3, 2)
    slopes = [(f(POINTS + e) - f(POINTS - e)) / 2e-6 for e in steps]
    np.testing.assert_allclose(found[2], np.reshape(slopes, (3, 2)), atol=1e-8)


def test_a_step_function_has_no_gradient():
    assert gradient(lambda x: np.sum(sd.cdist(x, OTHERS, "hamming")), POINTS) == (None,)


@pytest.mark.parametrize(
    ("what", "f"),
    [
        ("no rule that writes", lambda x: np.sum(sd.pdist(POINTS, w=x[0], out=np.zeros(3)))),
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


TRUTHS = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 0], [0, 0, 1]])
WIDE = np.sin(np.arange(12.0) ** 2).reshape(4, 3)
W = np.array([0.5, 1.0, 2.0])
OF_OPTIONS = [
    *((name, "w", W, {}) for name in BY_WEIGHTS),
    *(("minkowski", "w", W, {"p": p}) for p in (0.7, 1.0, 3.0, np.inf)),
    *(("minkowski", "p", p, {}) for p in (0.7, 1.0, 2.0, 3.5)),
    ("minkowski", "p", 3.5, {"w": W}),
    ("seuclidean", "V", W, {}),
    ("mahalanobis", "VI", np.diag(W) + [[0.1, 0.3, 0.0], [0.0, 0.2, 0.1], [0.2, 0.0, 0.0]], {}),
]


@pytest.mark.parametrize(("metric", "option", "at", "others"), OF_OPTIONS)
def test_options_are_differentiated(metric, option, at, others):
    data = TRUTHS if metric in STEPS else WIDE

    def loss(x):
        options = {option: x, **others}
        pairs = sd.cdist(data[:3], data[1:], metric, **options)
        return np.sum(np.sin(pairs)) + np.sum(np.exp(-sd.pdist(data, metric=metric, **options)))

    steps = 1e-6 * np.eye(np.size(at)).reshape(-1, *np.shape(at))
    slopes = np.reshape([(loss(at + e) - loss(at - e)) / 2e-6 for e in steps], np.shape(at))
    for mode in (compared, contextlib.nullcontext):
        with mode():
            np.testing.assert_allclose(gradient(loss, at)[0], slopes, atol=1e-8)
    flat = np.ravel(at)
    if metric not in STEPS and others.get("p") != np.inf:
        of_flat = hessian(lambda x: loss(x.reshape(np.shape(at)) if np.ndim(at) else x[0]))
        again = [
            np.ravel(gradient(loss, at + 10 * e)[0] - gradient(loss, at - 10 * e)[0]) / 2e-5
            for e in steps
        ]
        np.testing.assert_allclose(of_flat(flat), again, atol=1e-7)


def test_points_that_are_equal_have_no_slope_by_options():
    points = np.array([[0, 1], [0, 1], [3, 1]], np.int8)

    def loss(w, x, inverse):
        options = {"w": w, "p": 3}
        return np.sum(sd.pdist(x, "minkowski", **options)) + np.sum(
            sd.cdist(x, x, "mahalanobis", VI=inverse)
        )

    dw, _, dv = gradient(loss, np.ones(2, np.float32), points, np.eye(2))
    assert dw.dtype == np.float32
    np.testing.assert_allclose(dw, [2.0, 0.0], rtol=1e-6)
    np.testing.assert_allclose(dv, [[6.0, 0.0], [0.0, 0.0]])
    assert gradient(lambda w: np.sum(sd.pdist(points, w=w)), np.zeros(2))[0].tolist() == [np.inf, 0]
    whole, number = [gradient(lambda p: sd.pdist(WIDE, "minkowski", p=p)[0], p) for p in (3, 3.0)]
    assert whole == number != (0.0,)


def test_another_distance_of_points_that_are_no_truth_values_is_refused():
    with pytest.raises(NotImplementedError, match="derivative by `w` is not known"):
        BY_WEIGHTS["jaccard"](WIDE[0], WIDE[1], np.ones(1), {"w": W})


def test_indices_of_the_points_that_are_farthest_are_a_choice():
    def loss(x):
        return sum([1.0 * entry for entry in sd.directed_hausdorff(x, OTHERS)])

    alone = gradient(lambda x: sd.directed_hausdorff(x, OTHERS)[0], POINTS)[0]
    for mode in (compared, contextlib.nullcontext):
        with mode():
            np.testing.assert_array_equal(gradient(loss, POINTS)[0], alone)
