"""Rules of `rules_scipy.interpolate.designs`, and SciPy's functions over them."""

import numpy as np
import pytest
import scipy
from scipy import interpolate as si

from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import compare, differences
from zygote_lite import NoRuleError, gradient, jvp

X = np.array([0.0, 0.7, 1.5, 1.9, 2.9, 3.3, 4.0])
Y = np.array([0.3, 1.0, 0.4, 0.8, 1.7, 0.9, 0.2])
KNOTS = np.array([-0.2, -0.1, 0.0, 0.1, 0.9, 1.4, 2.6, 3.0, 3.2, 3.9])
PERIODIC = np.array([-1.4, -0.8, -0.3, 0.0, 0.6, 1.0, 1.6, 2.2, 2.7, 3.0, 3.6, 4.0, 4.6])
AT = np.array([0.3, 1.2, 2.5])
W = np.array([1.0, -0.7, 0.4])
C = Y[:6]
SQUARE = np.cos(np.arange(6.0)).reshape(2, 3)
GRID = np.array([0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0])
EAST, NORTH = np.random.default_rng(0).uniform(size=(2, 40))
HEIGHTS = np.sin(3 * EAST) + NORTH**2


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def smoothed(x=X, y=Y, w=1 + 0.3 * np.cos(X), lam=0.3, **options):
    return W @ si.make_smoothing_spline(x, y, w, lam, **options)(AT) ** 2


def made(tck):
    return np.sum(np.cos(tck[1])) + np.sum(tck[0] ** 2)


def surface(z, w=None, **options):
    tck = si.bisplrep(EAST, NORTH, z, w, task=-1, tx=GRID, ty=GRID, kx=2, ky=2, **options)
    tck = tck[0] if options else tck
    return np.sum(si.bisplev([0.2, 0.7], [0.1, 0.6], tck) ** 3)


def closed(c):
    return si.insert(0.4, (PERIODIC, np.concatenate([c, c[:3], np.zeros(4)]), 3), per=1)


CASES = {
    "smoothing, places": (lambda x: smoothed(x), X),
    "smoothing, values": (lambda y: smoothed(y=y), Y),
    "smoothing, weights": (lambda w: smoothed(w=w), 1 + Y),
    "smoothing, columns": (lambda y: np.sum(smoothed(y=y)), np.stack([Y, Y**2], 1)),
    "smoothing, its parameter": (lambda lam: smoothed(lam=lam[0]), Y[:1]),
    "smoothing, found by validation": (lambda y: smoothed(y=y, lam=None), Y),
    "smoothing, places, found": (lambda x: smoothed(x, lam=None), X),
    "design matrix": (
        lambda x: np.sum(W[:, None] * np.sin(si.BSpline.design_matrix(x, KNOTS, 3).toarray())), AT),
    "insert, coefficients": (lambda c: made(si.insert(1.0, (KNOTS, c, 3))), C),
    "insert, knots": (lambda t: made(si.insert(1.0, (t, C, 3))), KNOTS),
    "insert, the knot twice": (lambda x: made(si.insert(x[0], (KNOTS, C, 3), 2)), AT[1:2]),
    "insert, a spline": (lambda c: W @ si.insert(1.0, si.BSpline(KNOTS, c, 3))(AT) ** 2, C),
    "insert, curves": (
        lambda c: np.sum(np.sin(si.insert(1.0, (KNOTS, [c, c**2], 3))[1][1][:7])), C),
    "insert, periodic": (lambda c: made(closed(c)), C),
    "surface": (surface, HEIGHTS),
    "surface, with all": (lambda z: surface(z, full_output=True), HEIGHTS),
    "surface, weights": (lambda w: surface(HEIGHTS, w), 1 + 0.5 * EAST),
    "values of a surface, derivatives": (lambda c: np.sum(SQUARE * np.sin(
        si.bisplev(AT[:2] / 3, AT / 3, (GRID, GRID, c, 2, 2), dx=1))), np.resize(Y, 16)),
    "values of a surface, knots": (lambda t: np.sum(SQUARE * si.bisplev(
        [-0.3, 0.7], AT, [t, GRID, np.resize(Y, 4 * (len(t) - 3)), 2, 2])), GRID + Y / 100),
    "values of a surface, places": (lambda x: np.sum(SQUARE[0] * si.bisplev(
        x, 0.4, [GRID, GRID, np.resize(Y, 16), 2, 2])), AT / 3),
}  # fmt: skip


IS_BROKEN = tuple(map(int, scipy.__version__.split(".")[:2])) == (1, 18)
WHY_BROKEN = "bisplrep of SciPy 1.18 itself crashes where knots are given"


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    if IS_BROKEN and name.startswith("surface"):
        pytest.skip(WHY_BROKEN)
    f, x = CASES[name]
    close = 1e-3 if "found" in name else 1e-6  # SciPy's search for the parameter is not exact
    expected = differences(f, x)
    compare(f, x, expected, name == "smoothing, places", rtol=close, atol=0.1 * close)


def test_directions():
    found = jvp(smoothed, (X,), (Y,))[1]
    assert found == pytest.approx(np.sum(gradient(smoothed, X)[0] * Y), rel=1e-9)


def test_surfaces_whose_knots_are_searched_are_refused():
    with pytest.raises(NoRuleError, match="given knots"):
        gradient(lambda z: np.sum(si.bisplrep(EAST, NORTH, z, s=0, quiet=1)[2]), HEIGHTS)


@pytest.mark.skipif(IS_BROKEN, reason=WHY_BROKEN)
def test_surfaces_that_are_not_determined_are_refused():
    few = [x[:30] * 0.4 for x in (EAST, NORTH)]
    with pytest.raises(np.linalg.LinAlgError, match="fewer knots"):
        gradient(lambda z: np.sum(si.bisplrep(
            few[0], few[1], z, xe=1, ye=1, task=-1, tx=GRID, ty=GRID, kx=2, ky=2)[2]),
            HEIGHTS[:30])  # fmt: skip
