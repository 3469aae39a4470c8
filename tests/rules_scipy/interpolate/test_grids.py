"""Rules of `rules_scipy.interpolate.grids`, against differences."""

import numpy as np
import pytest
from scipy import interpolate as si
from scipy.sparse.linalg import spsolve

from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import compare, differences
from zygote_lite import NoRuleError, gradient, hessian, jvp

X, Y = np.array([0.0, 0.4, 0.9, 1.7, 2.0]), np.array([-1.0, -0.5, 0.3, 0.4])
Z = np.cos(np.arange(20.0).reshape(5, 4) ** 2)
AT = np.array([[0.3, -0.7], [1.1, 0.35], [1.8, 0.1]])
W = np.array([1.0, -0.7, 0.4])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


SPLINE = si.NdBSpline((np.arange(8.0), np.arange(7.0) ** 2), Z[:4, :4] + 1j, (3, 2))


def on_grid(x=X, y=Y, z=Z, at=AT, method="linear", **options):
    if method in ("cubic", "slinear"):
        options |= {"solver": spsolve}  # which is exact
    return np.sum(W * si.RegularGridInterpolator((x, y), z, method, **options)(at) ** 2)


def surface(x=X, y=Y, z=Z, at=AT, **options):
    made = si.RectBivariateSpline(x, y, z, **options)
    return np.sum(W * made.ev(at[:, 0], at[:, 1]) ** 2) + made(at[0, 0], at[1, 1])[0, 0] ** 2


def derived(x=X, y=Y, z=Z, at=AT, orders=(1, 2)):
    made = si.RectBivariateSpline(x, y, z).partial_derivative(*orders)
    knots, _, coefficients = made.tck
    values = made(at[:, 0], at[:, 1], grid=False)
    return np.sum(W * values**2) + coefficients @ np.arange(len(coefficients)) + np.sum(knots**2)


CASES = {
    **{f"{method}, {name}": (lambda x, method=method, name=name: on_grid(
        **{name: x}, method=method), {"x": X, "z": Z, "at": AT}[name])
       for method in ("linear", "slinear", "cubic") for name in ("x", "z", "at")},
    "nearest": (lambda z: on_grid(z=z, method="nearest"), Z),
    "outside": (lambda x: on_grid(at=x, bounds_error=False, fill_value=None), AT * 2),
    "filled": (lambda z: on_grid(z=z, at=AT * 2, bounds_error=False, fill_value=0.5), Z),
    "falling": (lambda x: on_grid(x=x, z=Z), X[::-1].copy()),
    "one axis": (lambda x: np.sum(si.interpn((x,), X**2, AT[:, :1])), X),
    "three axes": (lambda z: np.sum(W * si.interpn(
        (X, Y, X), z, np.c_[AT, AT[:, :1]]) ** 2), Z[:, :, None] * X),
    "interpn": (lambda z: np.sum(W * si.interpn((X, Y), z, AT) ** 2), Z),
    "interpn, coordinates": (lambda x: np.sum(W * si.interpn((X, Y), Z, (x, AT[:, 1])) ** 2),
                             AT[:, 0]),
    "interpn, splinef2d": (lambda z: np.sum(W * si.interpn(
        (X, Y), z, AT, method="splinef2d") ** 2), Z),
    "spline": (lambda c: np.sum(np.abs(si.NdBSpline(SPLINE.t, c, (3, 2))(AT + 3)) ** 2), Z[:4, :4]),
    "spline, knots": (lambda t: np.sum(np.abs(si.NdBSpline(
        (t, SPLINE.t[1]), SPLINE.c, (3, 2))(AT + 3, nu=(1, 0))) ** 2), np.arange(8.0)),
    "spline, outside": (lambda x: np.nansum(np.abs(SPLINE(x * [9, 1], extrapolate=False))), AT + 3),
    "surface": (lambda z: surface(z=z), Z),
    "surface, places": (lambda x: surface(x=x), X),
    "surface, places of degree 2": (lambda y: surface(y=y, ky=2, bbox=[-1, 3, None, None]), Y),
    "surface, point": (lambda x: surface(at=x), AT),
    "surface, held": (lambda x: surface(x=x, at=AT * 2), X),
    **{f"surface, derivative, {name}": (lambda x, name=name: derived(**{name: x}), x)
       for name, x in (("x", X), ("y", Y), ("z", Z), ("at", AT))},
    "surface, second derivative": (lambda x: derived(x=x, orders=(2, 0)), X),
    "surface, no derivative": (lambda x: derived(x=x, orders=(0, 0)), X),
    "surface, integral": (lambda x: si.RectBivariateSpline(x, Y, Z).integral(0.1, 3, -2, 0.2), X),
}  # fmt: skip
# one of each kind is called until transformed code answers
TRANSFORMED = {"linear, x", "interpn", "spline", "surface"}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, x = CASES[name]
    compare(f, x, differences(f, x), name in TRANSFORMED, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("f", [surface, derived])
def test_second_derivatives(f):
    expected = differences(lambda e: np.sum(gradient(f, X + e * W[0])[0]), np.zeros(()))
    np.testing.assert_allclose(np.sum(hessian(f)(X)), expected, rtol=1e-5)


def test_values_that_are_not_numbers_have_no_influence():
    at = np.array([[0.3, np.nan], [1.1, 0.35]])
    f = lambda z, at: np.nansum(si.RegularGridInterpolator((X, Y), z, bounds_error=False)(at))
    dz, dat = gradient(f, Z, at)
    np.testing.assert_allclose(dz, gradient(f, Z, at[1:])[0])
    assert dat[0].tolist() == [0.0, 0.0]


def test_what_smooths_is_refused():
    with pytest.raises(NoRuleError, match="s=0"):
        gradient(lambda z: si.RectBivariateSpline(X, Y, z, s=0.1)(1, 0)[0, 0], Z)


def test_integrals_of_surfaces_have_tangents():
    f = lambda z, end: si.RectBivariateSpline(X, Y, z).integral(0.1, end, -2.0, 0.2)
    dz, dend = gradient(f, Z, 2.0)
    assert jvp(f, (Z, 2.0), (Z, 0.5))[1] == pytest.approx(np.sum(dz * Z) + 0.5 * dend)
