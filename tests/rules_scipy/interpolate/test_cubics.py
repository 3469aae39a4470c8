"""Rules of `rules_scipy.interpolate.cubics`, against differences."""

import numpy as np
import pytest
from scipy import interpolate as si

from rulescore.testing import check_rrule
from tests.rules_scipy.tiers import compare, differences
from zygote_lite import gradient

X = np.array([0.0, 0.7, 1.5, 2.9, 3.3])
Y = np.array([0.3, 1.0, 0.4, 1.7, 0.9])
AT = np.array([0.3, 1.1, 2.5, 3.6])
W = np.array([1.0, -0.7, 0.4, 0.2])
SLOPES = np.array([0.3, -1.2])


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def at(made, x=AT):
    return np.sum(W[: np.size(x)] * made(x) ** 2)


def cubic(bc_type, count=5):
    """Return cases by values and by places."""
    whole = bc_type == "periodic"
    y = Y[: count - whole]

    def made(x, y):
        y = np.concatenate([y, y[:1]]) if whole else y
        return at(si.CubicSpline(x, y, bc_type=bc_type), AT[:2])

    return {
        f"cubic, {bc_type}, {count}": (lambda y: made(X[:count], y), y),
        f"cubic, {bc_type}, {count} places": (lambda x: made(x, y), X[:count]),
    }


CASES = {
    **cubic("not-a-knot"),
    **cubic("natural"),
    **cubic("clamped", 2),
    **cubic("periodic"),
    **cubic("periodic", 3),
    **cubic("not-a-knot", 4),
    **cubic("not-a-knot", 3),
    **cubic("not-a-knot", 2),
    **cubic(("not-a-knot", (2, -0.4))),
    **cubic(("not-a-knot", "clamped"), 3),
    **cubic(((2, 0.3), "not-a-knot"), 2),
    "cubic, periodic, 2": (lambda y: at(si.CubicSpline(
        X[:2], np.concatenate([y, y]), bc_type="periodic")), Y[:1]),
    "cubic, conditions": (
        lambda s: at(si.CubicSpline(X, Y, bc_type=((1, s[0]), (2, s[1])))), SLOPES),
    "cubic, columns": (lambda y: at(lambda x: si.CubicSpline(
        X, y, 1, [[1, SLOPES], (2, SLOPES)])(x)[1]), np.stack([Y, Y**2])),
    "hermite": (lambda d: at(si.CubicHermiteSpline(X, Y, d)), Y),
    "hermite, places": (lambda x: at(si.CubicHermiteSpline(x, Y, Y)), X),
    "hermite, columns": (lambda y: at(lambda x: si.CubicHermiteSpline(
        X, y, y * y, axis=1)(x)[1]), np.stack([Y, Y**2])),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_derivatives(name):
    f, x = CASES[name]
    compare(f, x, differences(f, x), True, rtol=1e-6, atol=1e-7)


def test_complex_values():
    def f(z):
        return np.sum(W * np.abs(si.CubicSpline(X, z)(AT)) ** 2)

    z = Y + 0.3j * np.cos(X)
    parts = differences(lambda p: f(p[0] + 1j * p[1]), np.stack([z.real, z.imag]))
    np.testing.assert_allclose(gradient(f, z)[0], parts[0] + 1j * parts[1], rtol=1e-6)
    along = differences(lambda x: np.sum(W * np.abs(si.CubicSpline(x, z)(AT)) ** 2), X)
    found = gradient(lambda x: np.sum(W * np.abs(si.CubicSpline(x, z)(AT)) ** 2), X)[0]
    np.testing.assert_allclose(found, along, rtol=1e-6)


def test_a_spline_carries_the_gradient_of_what_it_holds():
    made = si.CubicSpline(X, Y)
    (dmade,) = gradient(lambda s: s(1.0) + s.c[0, 0], made)
    dc = dict(dmade.items()).get("_c")
    dc = dmade._delegate_to.c if dc is None else dc
    np.testing.assert_allclose(dc[:, 1], [0.3**3, 0.3**2, 0.3, 1.0])
    np.testing.assert_allclose(dc[:, 0], [1.0, 0.0, 0.0, 0.0])


class Twice(si.CubicSpline):
    def __call__(self, x):
        return 2 * super().__call__(x)


def test_classes_of_users_may_call_that_of_scipy():
    (expected,) = gradient(lambda y: 4 * at(si.CubicSpline(X, y)), Y)
    np.testing.assert_allclose(gradient(lambda y: at(Twice(X, y)), Y)[0], expected)
    spline = lambda y: at(si.make_interp_spline(X, y).__call__)
    np.testing.assert_allclose(gradient(spline, Y)[0], expected / 4)
