"""Forward mode through rules of SciPy: the transpose of their pullbacks, against differences."""

import numpy as np
import pytest
from scipy import interpolate as si
from scipy import optimize as so
from scipy import signal as sg
from scipy import sparse as sp
from scipy.sparse import linalg as spl
from scipy.spatial.transform import Rotation

from zygote_lite import NoRuleError, gradient, jvp

A = np.array([2.0, 0.7])
GRID = np.linspace(0.0, 1.0, 5)
HEIGHTS = np.sin(np.add.outer(3 * GRID, 2 * GRID))
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.4]])
AT = np.array([[0.23, 0.41], [0.6, 0.72]])
VECTOR = np.array([0.3, -0.8, 0.6])
VECTORS = np.array([[1.0, 0.4, -0.3], [0.2, 0.9, 0.5]])
MATRIX = Rotation.from_rotvec(VECTOR).as_matrix()
ROWS, COLUMNS = [0, 0, 1, 2, 2], [0, 2, 1, 0, 2]
TIMES = np.linspace(0.0, 2.0, 7)


def system(x, a, b):
    return [x[0] ** 2 + a * x[1] - 2.5, x[1] ** 3 + b * x[0] - 1.7]


def valley(x, a, b):
    return (x[0] - a) ** 2 + 3 * (x[1] - b * x[0] ** 2) ** 2 + 0.1 * x[1] ** 4


def grid(method):
    return lambda z, x: si.RegularGridInterpolator((GRID, GRID), z, method)(x)


PROGRAMS = {
    "fsolve": (lambda a: so.fsolve(system, [1.0, 1.0], (a[0], a[1]), xtol=1e-13), A),
    "bounded": (lambda a: so.minimize_scalar(
        lambda x, a, b: np.cosh(x - a) + b * x**2, bounds=(-1, 2), args=(a[0], a[1]),
        method="bounded", options={"xatol": 1e-10}).x, A),
    "minimize": (lambda a: so.minimize(
        valley, [0.5, 0.5], (a[0], a[1]), bounds=[(0, 1.0), (None, None)], tol=1e-14).x, A),
    "RegularGridInterpolator, cubic": (grid("cubic"), HEIGHTS, AT),
    "RegularGridInterpolator, slinear": (grid("slinear"), HEIGHTS, AT),
    "LinearNDInterpolator": (lambda z, x: si.LinearNDInterpolator(CORNERS, z)(x),
                             np.arange(5.0) ** 2, AT),
    "griddata, cubic": (lambda z, x: si.griddata(CORNERS, z, x, "cubic", rescale=True),
                        np.arange(5.0) ** 2, AT),
    "griddata, nearest": (lambda z: si.griddata(CORNERS, z, AT, "nearest"), np.arange(5.0) ** 2),
    "dpss": (lambda width: sg.windows.dpss(9, width), np.array(2.0)),
    "sparse inv": (lambda d: spl.inv(sp.csc_array((d, (ROWS, COLUMNS)))).toarray(),
                   np.array([4.0, 1.0, 3.0, 0.5, -1.0])),
    "from_matrix": (lambda m: Rotation.from_matrix(m).apply(VECTORS), MATRIX),
    "mean": (lambda v: Rotation.from_rotvec(v).mean(weights=[1.0, 2.0]).as_rotvec(),
             np.array([VECTOR, 0.5 * VECTOR + 0.1])),
    "align_vectors": (lambda v: Rotation.align_vectors(v, VECTORS)[0].as_rotvec(),
                      VECTORS @ MATRIX),
}  # fmt: skip


INEXACT = {"minimize": 1e-3, "bounded": 1e-3}  # where the function is flat, the search ends


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_tangents(name):
    made, *xs = PROGRAMS[name]

    def total(*xs):
        y = made(*xs)
        return np.sum(np.cos(np.arange(np.size(y))).reshape(np.shape(y)) * y)

    tangents = [np.cos(1.0 + np.arange(np.size(x))).reshape(np.shape(x)) for x in xs]
    along = [total(*[x + s * 1e-4 * d for x, d in zip(xs, tangents, strict=True)])
             for s in (-2, -1, 1, 2)]  # fmt: skip
    differences = (along[0] - 8 * along[1] + 8 * along[2] - along[3]) / 12e-4
    slope = sum(np.sum(g * d) for g, d in zip(gradient(total, *xs), tangents, strict=True))
    for _ in range(3):
        tangent = jvp(total, tuple(xs), tuple(tangents))[1]
        assert tangent == pytest.approx(slope, rel=1e-9)
        assert tangent == pytest.approx(differences, rel=INEXACT.get(name, 1e-5))


def fitted(heights, sigma):
    """Return where a curve fits best by Newton's method, for complex heights and errors, too."""
    p = np.array([1.9, 0.8], complex)
    for _ in range(30):
        e = np.exp(-p[1] * TIMES) / sigma
        left = p[0] * e - heights / sigma
        by = np.stack([e, -p[0] * TIMES * e], axis=1)
        mixed = -np.sum(left * TIMES * e)
        second = np.array([[0, mixed], [mixed, p[0] * np.sum(left * TIMES**2 * e)]])
        p = p - np.linalg.solve(by.T @ by + second, by.T @ left)
    return p


def test_tangents_of_fits():
    """Differences of SciPy's fits are off by 2e-4: they end where the sum changes no more."""
    heights, sigma = 2 * np.exp(-0.8 * TIMES) + 0.1 * np.cos(7 * TIMES), 1 + 0.3 * np.cos(TIMES)
    step = np.cos(1.0 + np.arange(7))

    def curve(heights, sigma):
        return so.curve_fit(lambda t, a, b: a * np.exp(-b * t), TIMES, heights, sigma=sigma,
                            xtol=1e-13, ftol=1e-13)[0]  # fmt: skip

    def least(heights):
        left = lambda p: p[0] * np.exp(-p[1] * TIMES) - heights
        return so.least_squares(left, [1.0, 1.0], xtol=1e-14, ftol=1e-14, gtol=1e-14).x

    found = jvp(curve, (heights, sigma), (0 * step, step))[1]
    np.testing.assert_allclose(found, fitted(heights, sigma + 1e-30j * step).imag * 1e30, rtol=1e-6)
    found = jvp(least, (heights,), (step,))[1]
    np.testing.assert_allclose(found, fitted(heights + 1e-30j * step, 1.0).imag * 1e30, rtol=1e-6)


def test_second_derivatives_by_what_has_none_are_refused():
    def slope(upper):
        limits = -1, upper
        least = lambda a: so.minimize_scalar(lambda x, a: (x - a) ** 2, bounds=limits, args=(a,)).x
        return gradient(least, 1.7)[0]

    with pytest.raises(NoRuleError, match="no derivative by `bounds`"):
        gradient(slope, 1.2)
