"""Rules of `rules_scipy.interpolate.splines`, against differences."""

import numpy as np
import pytest
from scipy import interpolate as si

from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import compare, differences
from zygote_lite import NoRuleError, gradient, hessian, jvp

X = np.array([0.0, 0.7, 1.5, 1.9, 2.9, 3.3])
Y = np.array([0.3, 1.0, 0.4, 0.8, 1.7, 0.9])
KNOTS = np.array([-0.2, -0.1, 0.0, 0.1, 0.9, 1.4, 2.6, 3.0, 3.2, 3.9])
ROUND = np.array([0.0, 0.7, 1.5, 2.9])
AT = np.array([0.3, 1.0, 2.5, 2.8])
W = np.array([1.0, -0.7, 0.4, 0.2])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def at(made, x=AT):
    return np.sum(W * made(x) ** 2)


def closed(y):
    return np.concatenate([y, y[:1]])


SLOPES = np.array([0.2, -0.4])
INNER = np.array([0.5, 1.2, 2.0, 2.4])
TENSIONED = np.concatenate([[0.0] * 4, INNER[:2], [3.3] * 4])
CASES = {
    **{f"degree {k}": (lambda y, k=k: at(si.make_interp_spline(X, y, k)), Y) for k in range(6)},
    **{f"degree {k}, places": (lambda x, k=k: at(si.make_interp_spline(x, Y, k)), X)
       for k in range(6)},
    **{f"degree {k}, periodic": (lambda x, k=k: at(si.make_interp_spline(
        x, closed(Y[:-1]), k, bc_type="periodic")), X) for k in (2, 3, 4, 5)},
    "values, periodic": (lambda y: at(si.make_interp_spline(
        X, closed(y), 3, bc_type="periodic")), Y[:-1]),
    "few values, periodic": (lambda y: at(si.make_interp_spline(
        X[:3], closed(y), 3, bc_type="periodic")), Y[:2]),
    "clamped": (lambda x: at(si.make_interp_spline(x, Y, bc_type="clamped")), X),
    "one end": (lambda x: at(si.make_interp_spline(
        x, Y, 2, t=np.r_[[x[0]] * 3, X[1:-1] + 0.1, [x[-1]] * 3],
        bc_type=(None, [(1, 0.3)]))), X),
    "knots": (lambda t: at(si.make_interp_spline(
        X, Y, t=np.concatenate([[0.0] * 4, t, [3.3] * 4]))), INNER[1:3]),
    "columns": (lambda y: at(lambda x: si.make_interp_spline(X, y, axis=1)(x)[0]),
                np.stack([Y, Y**2])),
    "fit": (lambda y: at(si.make_lsq_spline(X, y, TENSIONED)), Y),
    "fit, places": (lambda x: at(si.make_lsq_spline(x, Y, TENSIONED)),
                    np.array([0.1, 0.7, 1.5, 1.9, 2.9, 3.2])),
    "fit, knots": (lambda t: at(si.make_lsq_spline(
        X, Y, np.concatenate([[0.0] * 4, t, [3.3] * 4]))), INNER[1:2]),
    "fit, weights": (lambda w: at(si.make_lsq_spline(
        X, Y, np.delete(TENSIONED, 4), w=w)), 1 + Y),
    "fit, normal equations": (lambda w: at(si.make_lsq_spline(
        X, Y, np.delete(TENSIONED, 4), 3, w, method="norm-eq")), 1 + Y),
    "knots of a spline": (lambda t: at(si.BSpline(t, Y, 3)), KNOTS),
    "derivative": (lambda t: at(si.BSpline(t, Y, 3).derivative()), KNOTS),
    "derivative of data": (lambda y: at(si.make_interp_spline(X, y).derivative()), Y),
    "antiderivative": (lambda t: at(si.BSpline(t, Y, 3).antiderivative()), KNOTS),
    "integral": (lambda t: si.BSpline(t, Y, 3).integrate(0.2, 4.0), KNOTS),
    "integral, inside": (lambda t: si.BSpline(t, Y, 3).integrate(0.0, 4.0, False), KNOTS),
    "integral, periods": (lambda t: si.BSpline(t, Y, 3).integrate(9.0, 0.4, "periodic"), KNOTS),
    "a knot more": (lambda x: at(si.BSpline(KNOTS, Y, 3).insert_knot(x), AT + 0.01)
                    + np.sum(si.BSpline(KNOTS, Y, 3).insert_knot(x).c ** 2), np.array(1.1)),
    "a knot more, coefficients": (lambda c: at(si.BSpline(KNOTS, c, 3).insert_knot(1.1)), Y),
    "basis element": (lambda t: at(si.BSpline.basis_element(t)), np.array([0.1, 0.6, 2.0, 2.9])),
    **{f"interp1d, {kind}": (lambda y, kind=kind: at(si.interp1d(X, y, kind)), Y)
       for kind in ("linear", "nearest", "previous", "slinear", "quadratic", "cubic", 4)},
    "interp1d, places": (lambda x: at(si.interp1d(x, Y, "cubic")), X),
    "make_splrep": (lambda x: at(si.make_splrep(x, Y, s=0)), X),
}  # fmt: skip
# one of each kind is called until transformed code answers
TRANSFORMED = {
    "degree 3",
    "fit, places",
    "knots of a spline",
    "integral",
    "a knot more",
    "interp1d, cubic",
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, x = CASES[name]
    compare(f, x, differences(f, x), name in TRANSFORMED, rtol=1e-6, atol=1e-6)


def test_second_derivatives():
    def f(t):
        made = si.BSpline(t, Y, 3)
        return at(made) + made.integrate(0.2, 2.0) ** 2

    v = np.cos(np.arange(10.0))
    expected = differences(lambda e: gradient(f, KNOTS + e * v)[0] @ v, np.zeros(()))
    np.testing.assert_allclose(v @ hessian(f)(KNOTS) @ v, expected, rtol=1e-5)


@pytest.mark.parametrize("transformed", [False, True])
def test_derivatives_that_are_given_at_the_ends(transformed):
    f = lambda d: at(
        si.make_interp_spline(X, Y, 5, bc_type=([(1, d[0]), (2, d[1])], [(1, 0.1), (2, 0.0)]))
    )
    compare(f, SLOPES, differences(f, SLOPES), transformed, rtol=1e-6)
    columns = lambda d: si.make_interp_spline(
        X, np.stack([Y, Y**2], axis=1), bc_type=[((1, d),), ((2, d**2),)]
    )(1.3)
    f = lambda d: columns(d) @ [1.0, 0.3]
    compare(f, SLOPES, differences(f, SLOPES), transformed, rtol=1e-6)


def test_derivatives_that_are_given_at_the_ends_have_tangents():
    for made in (
        lambda y: si.make_interp_spline(X, y, bc_type=([(1, 0.2)], [(2, 0.1)])),
        lambda y: si.CubicSpline(X, y, bc_type=((1, 0.2), (2, 0.1))),
    ):
        f = lambda y, made=made: at(made(y))
        assert jvp(f, (Y,), (Y,))[1] == pytest.approx(gradient(f, Y)[0] @ Y)


def test_weights_of_smoothing_are_refused():
    with pytest.raises(NoRuleError):
        gradient(lambda y: si.make_splrep(X, y, s=0.1)(1.0), Y)
