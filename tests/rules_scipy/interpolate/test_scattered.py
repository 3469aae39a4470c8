"""Rules of `rules_scipy.interpolate.scattered`, against differences."""

import numpy as np
import pytest
from scipy import interpolate as si

from rules_scipy.interpolate.scattered import RADIAL
from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import compare, differences
from zygote_lite import NoRuleError, gradient, hessian

SITES = np.array([[0.0, 0.1], [1.0, 0.0], [0.1, 1.2], [1.1, 0.9], [0.4, 0.5], [0.7, 1.5]])
VALUES = np.array([0.3, 1.0, 0.4, 0.8, 1.7, 0.9])
AT = np.array([[0.3, 0.2], [0.7, 0.4], [0.5, 1.0]])
W = np.array([1.0, -0.7, 0.4])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def radial(sites=SITES, values=VALUES, at=AT, kernel="thin_plate_spline", epsilon=None, **options):
    found = si.RBFInterpolator(sites, values, kernel=kernel, epsilon=epsilon, **options)(at)
    return np.sum(W * found**2)


CASES = {
    "linear": (lambda v: np.sum(W * si.LinearNDInterpolator(SITES, v)(AT) ** 2), VALUES),
    "linear, point": (lambda x: np.sum(
        W * si.LinearNDInterpolator(SITES, VALUES, rescale=True)(x) ** 2), AT),
    "linear, coordinates": (lambda x: np.sum(
        W * si.LinearNDInterpolator(SITES, VALUES)(x, 0.45) ** 2), AT[:, 0]),
    "nearest": (lambda v: np.sum(W * si.NearestNDInterpolator(SITES, v)(AT) ** 2), VALUES),
    "griddata": (lambda v: np.sum(W * si.griddata(SITES, v, AT) ** 2), VALUES),
    "griddata, point": (lambda x: np.sum(
        W * si.griddata(SITES, VALUES, (x[:, 0], x[:, 1])) ** 2), AT),
    "griddata, nearest": (lambda v: np.sum(
        W * si.griddata(SITES, v, AT, method="nearest") ** 2), VALUES),
    "griddata, a line": (lambda x: np.sum(
        W * si.griddata(x, VALUES, AT[:, 0], method="cubic") ** 2), SITES[:, 0]),
    "griddata, cubic": (lambda v: np.sum(
        W * si.griddata(SITES, v, AT, method="cubic") ** 2), VALUES),
    "griddata, cubic, point": (lambda x: np.sum(W * si.griddata(
        SITES * [1, 9], VALUES, (x[:, 0], 9 * x[:, 1]), method="cubic", rescale=True) ** 2), AT),
    **{f"radial, {kernel}, sites": (lambda y, kernel=kernel: radial(
        y, kernel=kernel, epsilon=1.5), SITES) for kernel in RADIAL},
    "radial, values": (lambda v: radial(values=v), VALUES),
    "radial, at a site": (lambda x: radial(at=x), SITES[:3]),
    "radial, epsilon": (lambda e: radial(kernel="gaussian", epsilon=e), np.array(1.5)),
    "radial, smoothing": (lambda s: radial(smoothing=s), VALUES),
    "radial, no monomials": (lambda y: radial(y, kernel="gaussian", epsilon=1, degree=-1), SITES),
}  # fmt: skip
# one of each kind is called until transformed code answers
TRANSFORMED = {"linear", "griddata, cubic", "radial, gaussian, sites"}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, x = CASES[name]
    compare(f, x, differences(f, x), name in TRANSFORMED, rtol=1e-5, atol=1e-6)


def test_second_derivatives():
    v = np.cos(np.arange(12.0)).reshape(6, 2)
    expected = differences(lambda e: np.sum(gradient(radial, SITES + e * v)[0] * v), np.zeros(()))
    found = np.einsum("ij,ijkl,kl", v, hessian(radial)(SITES), v)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_second_derivatives_by_coordinates_in_a_tuple():
    x, y = AT.T
    f = lambda c: W @ si.LinearNDInterpolator(SITES, c[0] * VALUES**2)((c[1] * x, y)) ** 2
    c = np.array([1.2, 0.9])
    expected = [differences(lambda e, i=i: gradient(f, c + e)[0][i], np.zeros(2)) for i in (0, 1)]
    np.testing.assert_allclose(hessian(f)(c), expected, rtol=1e-6)


@pytest.mark.parametrize("method", ["linear", "cubic"])
def test_what_is_outside_has_no_influence(method):
    at = np.array([[0.3, 0.2], [5.0, 5.0]])
    dv, dx = gradient(lambda v, x: np.nansum(si.griddata(SITES, v, x, method)), VALUES, at)
    (alone,) = gradient(lambda v: si.griddata(SITES, v, at[:1], method)[0], VALUES)
    np.testing.assert_allclose(dv, alone)
    assert dx[1].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("f", [
    lambda v, x: np.sum(si.LinearNDInterpolator(SITES, v, fill_value=0.5)(x)),
    lambda v, x: np.sum(si.CloughTocher2DInterpolator(SITES, v, fill_value=0.5)(x)),
    lambda v, x: np.sum(si.griddata(SITES, v, x, "cubic", fill_value=0.5)),
], ids=["linear", "cubic", "griddata"])  # fmt: skip
@pytest.mark.parametrize(
    "at", [np.array([[5.0, 5.0], [-3.0, 0.2]]), np.zeros((0, 2))], ids=["outside", "nowhere"]
)
@pytest.mark.parametrize(
    "values", [VALUES, np.stack([VALUES, 1j * VALUES], axis=1)], ids=["real", "complex"]
)
def test_where_all_is_outside_the_gradients_are_zero(f, at, values):
    def real(v, x):
        return np.real(f(v, x))

    for _ in range(3):  # the third call is by transformed code
        dv, dx = gradient(real, values, at)
        np.testing.assert_array_equal(dv, np.zeros_like(values))
        np.testing.assert_array_equal(dx, np.zeros_like(at))


def test_gradients_by_sites_are_refused():
    with pytest.raises(NoRuleError, match="no derivative by `points`"):
        gradient(lambda s: si.LinearNDInterpolator(s, VALUES)(0.3, 0.2), SITES)
    with pytest.raises(NoRuleError, match="no derivative by `points`"):
        gradient(lambda s: si.griddata(s, VALUES, AT)[0], SITES)
    with pytest.raises(NoRuleError, match="no derivative by `points`"):
        gradient(lambda s: si.CloughTocher2DInterpolator(s, VALUES)(AT)[0], SITES)
