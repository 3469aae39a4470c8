"""Rules of `rules_scipy.interpolate.fitpack`, against differences."""

import numpy as np
import pytest
from scipy import interpolate as si

from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import compare, differences
from zygote_lite import NoRuleError, gradient

X = np.array([0.0, 0.7, 1.5, 1.9, 2.9, 3.3])
Y = np.array([0.3, 1.0, 0.4, 0.8, 1.7, 0.9])
KNOTS = np.array([-0.2, -0.1, 0.0, 0.1, 0.9, 1.4, 2.6, 3.0, 3.2, 3.9])
INNER = np.array([1.3])
AT = np.array([0.3, 1.0, 2.5, 4.0])
W = np.array([1.0, -0.7, 0.4, 0.2])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def at(tck, x=AT, **options):
    return np.sum(W * si.splev(x, tck, **options) ** 2)


def called(made, **options):
    return np.sum(W * made(AT, **options) ** 2)


def along(points, u=None, k=3, per=0):
    tck, at = si.splprep(points, u=u, s=0, k=k, per=per)
    x, y = si.splev([0.2, 0.7], tck)
    return np.sum(W[:2] * x * y**2) + np.sum(at**2)


def both(t):
    made = si.LSQUnivariateSpline(X, Y, t)
    return called(made) + np.sum(made.get_coeffs() ** 2) + np.sum(made.get_knots())


CASES = {
    **{f"splrep, {k}": (lambda x, k=k: at(si.splrep(x, Y, k=k)), X) for k in range(1, 6)},
    "splrep, values": (lambda y: at(si.splrep(X, y, s=0)), Y),
    "splrep, ends": (lambda e: at(si.splrep(X, Y, None, e[0], e[1])), np.array([-0.1, 3.6])),
    "splrep, knots": (lambda t: at(si.splrep(X, Y, t=t)), INNER),
    "splrep, weights": (lambda w: at(si.splrep(X, Y, w, t=INNER)), 1 + Y),
    "splrep, its places": (lambda x: at(si.splrep(x, Y, xb=-0.1, xe=3.5, t=INNER)), X),
    **{f"splrep, periodic, {k}": (lambda x, k=k: at(si.splrep(x, Y, k=k, s=0, per=1)), X)
       for k in (2, 3)},
    "splrep, periodic, values": (lambda y: at(si.splrep(X, y, per=True)), Y),
    "splev, zeros": (lambda t: at((t, Y, 3), ext=1), KNOTS),
    "splev, held": (lambda t: at((t, Y, 3), ext=3), KNOTS),
    "splev, of a spline": (lambda c: at(si.BSpline(KNOTS, c, 3), der=1), Y),
    "splint": (lambda t: si.splint(-1.0, 2.0, (t, Y, 3)), KNOTS),
    "splint, to the end": (lambda t: si.splint(9.0, 2.0, (t, Y, 3)), KNOTS),
    "sproot": (lambda y: np.sum(si.sproot(si.splrep(X, y - 0.7)) ** 2), Y),
    "splder": (lambda t: at(si.splder((t, Y, 3))), KNOTS),
    "splantider": (lambda t: at(si.splantider((t, np.pad(Y, (0, 4)), 3))), KNOTS),
    "spalde": (lambda t: np.sum(W * np.sin(si.spalde(1.2, (t, Y, 3)))), KNOTS),
    "to powers": (lambda c: np.sum(W * si.PPoly.from_spline(
        si.BSpline(KNOTS, c, 3))(AT) ** 2), Y),
    "curve": (along, np.stack([X, Y])),
    "curve, degree 2": (lambda p: along([p[0], p[1]], k=2), np.stack([X, Y])),
    "curve, its parameter": (lambda u: along([X, Y], u), X / 3.3),
    **{f"closed curve, {k}": (lambda p, k=k: along(
        np.concatenate([p, p[:, :1]], 1), k=k, per=1), np.stack([X, Y])) for k in (2, 3)},
    "closed curve, its parameter": (lambda u: along(
        [np.append(X, X[0]), np.append(Y, Y[0])], u, per=1), np.append(X, 4.1) / 4.1),
    "interpolated": (lambda x: called(si.InterpolatedUnivariateSpline(x, Y)), X),
    "interpolated, degree 2": (lambda x: called(si.InterpolatedUnivariateSpline(x, Y, k=2)), X),
    "interpolated, held": (lambda x: called(si.InterpolatedUnivariateSpline(x, Y, ext=3)), X),
    "interpolated, zeros": (lambda y: called(si.UnivariateSpline(X, y, s=0), nu=1, ext=1), Y),
    "interpolated, integral": (lambda y: si.UnivariateSpline(X, y, s=0).integral(0.2, 2.0), Y),
    "interpolated, roots": (lambda y: np.sum(
        si.InterpolatedUnivariateSpline(X, y - 0.7).roots()), Y),
    "interpolated, derivative": (lambda y: called(
        si.InterpolatedUnivariateSpline(X, y).derivative()), Y),
    "interpolated, antiderivative": (lambda y: called(
        si.InterpolatedUnivariateSpline(X, y).antiderivative()), Y),
    "fitted": (both, INNER),
    "fitted, places": (lambda x: called(si.LSQUnivariateSpline(x, Y, INNER, 1 + Y)), X),
}  # fmt: skip
# one of each kind is called until transformed code answers
TRANSFORMED = {"splrep, 3", "splev, held", "to powers", "interpolated"}


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, x = CASES[name]
    compare(f, x, differences(f, x), name in TRANSFORMED, rtol=1e-6, atol=1e-6)


def test_curves_of_several_coordinates():
    def f(t, c, x):
        first, second = si.splev(x, (t, [c, c**2], 3))
        return np.sum(W * first * second)

    found = gradient(f, KNOTS, Y, AT)
    for i, x in enumerate((KNOTS, Y, AT)):
        given = [KNOTS, Y, AT]
        moved = lambda x, i=i, given=given: f(*given[:i], x, *given[i + 1 :])
        np.testing.assert_allclose(found[i], differences(moved, x), rtol=1e-6, atol=1e-7)


REFUSED = {
    "smoothing": lambda y: si.splev(1.0, si.splrep(X, y, s=0.1)),
    "weights": lambda y: si.splev(1.0, si.splrep(X, y, 1 + X)),
    "periods that smooth": lambda y: si.splev(1.0, si.splrep(X, y, s=0.1, per=1)),
    "periods of knots": lambda y: si.splev(1.0, si.splrep(X, y, t=INNER, per=1)),
    "a curve that is open": lambda y: si.splprep([X, y], s=0, per=1)[1][2],
    "smoothing by default": lambda y: si.UnivariateSpline(X, y)(1.0),
    "residual": lambda y: si.InterpolatedUnivariateSpline(X, y).get_residual(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_smooths_is_refused(name):
    with pytest.raises(NoRuleError, match=r"s=0|only knots|knots of a period|these two are equal"):
        gradient(REFUSED[name], Y)
