"""A zero cotangent wins over nan and infinity."""

import math

import numpy as np
import pytest

from rulescore import rrule

INF, NAN = math.inf, math.nan
LANES = (
    np.prod,
    np.var,
    np.std,
    np.nanvar,
    np.nanstd,
    np.nanprod,
    np.linalg.norm,
    np.linalg.vector_norm,
    np.hypot.reduce,
    np.logaddexp.reduce,
    np.multiply.reduce,
    np.sum,
    np.mean,
    np.max,
    np.ptp,
    np.median,
    np.average,
)
NAMES = [str(f).split()[1] + f"-{i}" for i, f in enumerate(LANES)]


@pytest.mark.filterwarnings("ignore:Degrees of freedom")
@pytest.mark.parametrize("bad", [NAN, INF, -INF])
@pytest.mark.parametrize("f", LANES, ids=NAMES)
@pytest.mark.parametrize("keepdims", [False, True])
def test_a_lane_that_does_not_matter(f, bad, keepdims):
    x = np.array([[bad, 1.0, 2.0], [3.0, 1.0, 2.0], [bad, bad, bad]])
    with np.errstate(all="ignore"):
        y, back = rrule(f, x, axis=1, keepdims=keepdims)
        (dx,) = back(np.reshape([0.0, 1.5, 0.0], y.shape))[1:]
        _, alone = rrule(f, x[1:2], axis=1, keepdims=keepdims)
        expected = alone(np.full((1, 1) if keepdims else (1,), 1.5))[1]
    np.testing.assert_array_equal(dx[[0, 2]], 0.0)
    np.testing.assert_array_equal(dx[1:2], expected)


@pytest.mark.parametrize("ord", [None, 0.5, 1, 2, 3, INF])
def test_norms_of_lanes_that_do_not_matter(ord):
    x = np.array([[NAN, 1.0], [3.0, 1.0], [INF, 1.0]])
    with np.errstate(all="ignore"):
        _, back = rrule(np.linalg.norm, x, ord, axis=1)
        dx = back(np.array([0.0, 1.5, 0.0]))[1]
    assert (dx[[0, 2]] == 0).all()
    assert np.isfinite(dx).all()


@pytest.mark.parametrize("f", [np.cumprod, np.nancumprod, np.cumsum])
@pytest.mark.parametrize("bad", [NAN, INF])
def test_running_products_of_lanes_that_do_not_matter(f, bad):
    x = np.array([[3.0, bad, 2.0, bad], [3.0, 1.0, 0.0, 2.0]])
    with np.errstate(all="ignore"):
        _, back = rrule(f, x, 1)
        dx = back(np.array([[1.0, 0.0, 0.0, 0.0], [1.0] * 4]))[1]
        expected = rrule(f, x[1:], 1)[1](np.ones((1, 4)))[1]
    np.testing.assert_array_equal(dx, [[1.0, 0.0, 0.0, 0.0], *expected])


@pytest.mark.parametrize("f", [abs, np.absolute, np.fabs])
def test_magnitudes(f):
    assert rrule(f, NAN)[1](0.0)[1] == 0.0
    for dtype in (float, np.float32, complex):
        x = np.array([NAN, -2.0, INF], dtype)
        if f is np.fabs and dtype is complex:
            continue
        _, dx = rrule(f, x)[1](np.array([0.0, 3.0, 0.0], np.abs(x).dtype))
        np.testing.assert_array_equal(dx, [0.0, -3.0, 0.0])
    x = np.array([[3.0 + 4.0j, -1.0j]])
    if f is not np.fabs:
        _, dx = rrule(f, x)[1](np.array([[2.0, 3.0]]))
        np.testing.assert_allclose(dx, [[1.2 + 1.6j, -3.0j]])


def test_functions_of_numbers():
    for x in (INF, -INF, NAN):
        assert rrule(math.hypot, x, 1.0)[1](0.0) == (None, 0.0, 0.0)
        assert rrule(math.dist, [x], [1.0])[1](0.0) == (None, [0.0], [0.0])
        assert rrule(math.prod, [x, 2.0, 0.0])[1](0.0) == (None, [0.0, 0.0, 0.0])
        assert rrule(divmod, x, 0.5)[1]((0.0, 0.0)) == (None, 0.0, 0.0)
    assert rrule(math.lgamma, -INF)[1](0.0) == (None, 0.0)


def test_interpolation():
    knots, values = np.array([0.0, 1.0, 2.0]), np.array([0.5, INF, 2.0])
    _, back = rrule(np.interp, np.array([0.0, 1.5, NAN]), knots, values)
    for dx in back(np.zeros(3))[1:]:
        np.testing.assert_array_equal(dx, 0.0)


@pytest.mark.parametrize("f", [max, min])
def test_the_number_that_was_not_chosen(f):
    x, y = (-1.0, 0.0) if f is max else (1.0, 0.0)
    for dy in (INF, NAN):
        assert rrule(f, x, y)[1](dy)[1] == 0.0
        assert rrule(f, y, x)[1](dy)[2] == 0.0
        assert rrule(f, [x, y, x])[1](dy)[1][::2] == [0.0, 0.0]


def test_what_was_clipped():
    _, back = rrule(np.clip, np.array([-1.0, 0.5, 3.0, NAN]), 0.0, 1.0)
    _, dx, dlower, dupper = back(np.array([INF, 2.0, NAN, 0.0]))
    np.testing.assert_array_equal(dx, [0.0, 2.0, 0.0, 0.0])
    assert (dlower, math.isnan(dupper)) == (INF, True)
