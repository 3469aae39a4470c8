"""Rules of `rules_scipy.ndimage.coordinates`, against differences."""

import numpy as np
import pytest
from scipy import ndimage as nd

from rulescore.testing import check_rrule
from zygote_lite import gradient, hessian
from zygote_lite.errors import DifferentiationError

IMAGE = np.sin(np.arange(12.0) ** 2).reshape(3, 4)


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


@pytest.mark.parametrize("mode", ["constant", "grid-wrap"])
def test_second_derivatives_of_a_moved_image(mode):
    def loss(z):
        image = IMAGE * z[0]
        return np.sum(nd.shift(image, z[1:3], mode=mode) * nd.rotate(image, z[3], reshape=False))

    z = np.array([0.9, 0.3, -0.6, 17.0])
    steps = 1e-5 * np.eye(4)
    slopes = [(gradient(loss, z + e)[0] - gradient(loss, z - e)[0]) / 2e-5 for e in steps]
    np.testing.assert_allclose(hessian(loss)(z), slopes, atol=1e-7)


@pytest.mark.parametrize("f", [nd.shift, nd.affine_transform, nd.map_coordinates])
def test_second_derivatives_by_what_makes_the_coordinates(f):
    z = {nd.shift: [0.3, -0.6], nd.affine_transform: [0.9, 1.07]}.get(f, [[0.3], [1.7]])
    z = np.array(z)

    def loss(z):
        return np.sum(np.sin(f(IMAGE, z)))

    steps = 1e-5 * np.eye(2).reshape(2, *z.shape)
    slopes = [(gradient(loss, z + e)[0] - gradient(loss, z - e)[0]) / 2e-5 for e in steps]
    for _ in range(3):  # by the tape, and by transformed code
        found = np.reshape(hessian(loss)(z), (2, 2))
        np.testing.assert_allclose(found, np.reshape(slopes, (2, 2)), atol=1e-7)


def test_what_a_mapping_captured_has_a_gradient():
    def loss(k):
        bent = nd.geometric_transform(IMAGE, lambda at: (at[0] + k * at[1], 0.9 * at[1] - k))
        return np.sum(np.sin(bent))

    assert gradient(loss, 0.13)[0] == pytest.approx((loss(0.130001) - loss(0.129999)) / 2e-6)


def test_the_slope_at_a_kink_is_the_mean_and_at_an_end_that_of_the_inner_side():
    x = np.array([0.0, 1.0, 5.0])
    at = np.array([[0.0, 1.0, 2.0]])
    found = gradient(lambda at: np.sum(nd.map_coordinates(x, at, order=1)), at)[0]
    assert found.tolist() == [[1.0, 2.5, 4.0]]


def test_a_zoom_has_no_derivative_by_its_factor():
    with pytest.raises(DifferentiationError, match="step function"):
        gradient(lambda z: np.sum(nd.zoom(IMAGE, z)), 1.3)


MODES = ("wrap", "grid-wrap", "mirror", "reflect", "nearest", "constant", "grid-constant")
AT_JUMPS = {  # a matrix and an offset, by which coordinates are at jumps, but for rounding
    "wrap, a zoom": ([0.7, -0.1], [5.0, 5.0]),
    "halves, a zoom": ([0.7, 0.7], [0.6, 3.7]),
    "mirrored": ([0.2, 0.3], [4.0, 0.2]),
    "halves below zero": ([[1.0, 0.0], [0.0, -0.2]], [0.1, 0.1]),
    "halves far out": ([[1.1, 0.0], [0.0, 1.1]], [0.7, 4.0]),
    "of both axes": ([[0.1, 0.2], [0.3, -0.1]], [3.7, -0.3]),
    "no zoom at all": ([0.5, 1.0], [1.5, -4.0]),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", AT_JUMPS)
def test_at_a_jump_the_entries_have_the_gradient_that_scipy_reads(name, mode):
    matrix, offset = map(np.array, AT_JUMPS[name])
    weights = np.cos(np.arange(132.0)).reshape(11, 12)
    for order in (0, 1, 3):
        f = lambda x: np.sum(weights * nd.affine_transform(
            x, matrix, offset, (11, 12), order=order, mode=mode))  # fmt: skip
        x = np.sin(np.arange(30.0)).reshape(5, 6)
        units = np.eye(30).reshape(30, 5, 6)
        expected = np.reshape([f(unit) for unit in units], x.shape)  # it is linear in the image
        np.testing.assert_allclose(gradient(f, x)[0], expected, atol=1e-9, err_msg=str(order))
