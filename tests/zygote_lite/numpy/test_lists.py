"""Ufuncs of lists, `np.vectorize` of nothing, and slices that stand for ranges."""

import numpy as np
import pytest
from scipy import special

from zygote_lite import grad, gradient, jvp, testing


def test_a_ufunc_of_another_library_takes_lists():
    (found,) = gradient(lambda x: np.sum(special.gammaln([x, 2 * x])), 1.3)
    assert found == pytest.approx(special.psi(1.3) + 2 * special.psi(2.6))
    (found,) = gradient(lambda x: special.betaln((x, 2.0), [1.5, x])[1], 1.3)
    assert found == pytest.approx(special.psi(1.3) - special.psi(3.3))


def test_vectorize_of_nothing():
    def f(x):
        squared = np.vectorize(lambda v: v * v, otypes=[float])
        return np.sum(squared(x[x > 9])) + np.sum(squared(x))

    np.testing.assert_array_equal(gradient(f, np.array([1.0, 2.0]))[0], [2.0, 4.0])


@pytest.mark.parametrize("f", [np.add, np.hypot], ids=["add", "hypot"])
def test_tangents_of_outer_forms_on_the_tape(f):
    def outer(x):
        z = x * 1.0
        y = f.outer(z, x)
        z *= 2.0
        return np.sum(y**2)

    x, h = np.array([0.4, 1.3]), 1e-6
    slope = (outer(x + h) - outer(x - h)) / (2 * h)
    with testing.recorded_only():
        assert jvp(outer, (x,), (np.ones(2),))[1] == pytest.approx(slope)


def test_arrays_of_lists_have_an_order():
    (found,) = gradient(lambda x: np.sum(np.asanyarray([x, x * x], order=None)), 1.5)
    assert found == 4.0


class Product:
    def __getitem__(self, of):
        return of.start * of.stop * (1.0 if of.step is None else of.step)


RANGES = {
    "r_": lambda x: np.sum(np.r_[x:3, x, x : 3 * x : 4j] ** 2),
    "mgrid": lambda x: np.sum(np.mgrid[0:x:3j, x : x * x : 2j]) * x,
    "ogrid": lambda x: np.sum(np.ogrid[x : 2 * x : 3j] ** 2),
    "of a class": lambda x: Product()[x : x * x] * Product()[x * x : 2 : x],
    "made by slice": lambda x: slice(x).stop * slice(x, 2.0 * x).start * slice(x, x).stop,
    "counts": lambda x: np.sum(np.r_[int(x) : 3] * x) + [x, x * x][int(x) : 2][0],
}


@pytest.mark.parametrize("name", RANGES)
def test_bounds_of_slices_carry_gradients(name):
    f = RANGES[name]
    expected = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    for _ in range(3):
        assert grad(f)(1.5) == pytest.approx(expected, rel=1e-6)
    assert grad(grad(f))(1.5) == pytest.approx(
        (f(1.5 + 1e-4) - 2 * f(1.5) + f(1.5 - 1e-4)) / 1e-8, rel=1e-5, abs=1e-5
    )
