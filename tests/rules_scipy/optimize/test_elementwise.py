"""Rules of `rules_scipy.optimize.elementwise`, against closed forms."""

import numpy as np
import pytest
from scipy.optimize import elementwise as se

from zygote_lite import NoRuleError, grad, gradient, jvp

C = np.array([8.0, 0.3, 2.0])
W = np.array([1.0, -0.7, 0.4])
BRACKETS = {"root": (-1.0, 5.0), "minimum": (-5.0, 0.0, 5.0)}


def cube(x, c):
    return x**3 - c


def bowl(x, c):
    return (x - c) ** 2 + 0.1 * x**4


ROOTS = {
    "closure": lambda c: se.find_root(lambda x: x**3 - c, BRACKETS["root"]).x,
    "argument": lambda c: se.find_root(cube, BRACKETS["root"], args=(c,)).x,
    "argument in no tuple": lambda c: se.find_root(cube, BRACKETS["root"], args=c).x,
}
MINIMA = {
    "closure": lambda c: se.find_minimum(lambda x: bowl(x, c), BRACKETS["minimum"]).x,
    "argument": lambda c: se.find_minimum(bowl, BRACKETS["minimum"], args=(c,)).x,
}


@pytest.mark.parametrize("name", ROOTS)
def test_a_root_moves_as_its_equation_says(name):
    for _ in range(3):  # on the tape, then by transformed code
        for c in (8.0, 0.3):  # the root of 8 is found exactly
            assert gradient(ROOTS[name], c)[0] == pytest.approx(c ** (-2 / 3) / 3)


@pytest.mark.parametrize("name", MINIMA)
def test_a_minimum_moves_as_its_equation_says(name):
    for _ in range(3):
        for c in (0.8, 0.0):
            expected = 1 / (1 + 0.6 * MINIMA[name](c) ** 2)
            assert gradient(MINIMA[name], c)[0] == pytest.approx(expected, rel=1e-6)


def test_arrays():
    roots, minima = ROOTS["argument"], MINIMA["argument"]
    (found,) = gradient(lambda c: np.sum(W * roots(c)), C)
    np.testing.assert_allclose(found, W * C ** (-2 / 3) / 3)
    (found,) = gradient(lambda c: np.sum(W * minima(c)), C)
    np.testing.assert_allclose(found, W / (1 + 0.6 * minima(C) ** 2), rtol=1e-6)
    with pytest.raises(NoRuleError, match=r"find_root has a rule for args in a tuple"):
        gradient(lambda c: se.find_root(cube, BRACKETS["root"], args=[c]).x, 2.0)


def test_the_value_at_a_minimum():
    at = lambda c: se.find_minimum(bowl, BRACKETS["minimum"], args=(c,))
    (found,) = gradient(lambda c: np.sum(W * at(c).f_x), C)
    np.testing.assert_allclose(found, -2 * W * (at(C).x - C), rtol=1e-6)


def test_second_derivatives_and_tangents():
    f = ROOTS["argument"]
    assert grad(grad(f))(2.0) == pytest.approx(-2 / 9 * 2 ** (-5 / 3))
    assert jvp(f, (2.0,), (3.0,))[1] == pytest.approx(2 ** (-2 / 3))


def test_what_has_no_derivative_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="find_root has not converged"):
        gradient(lambda c: se.find_root(cube, (-1.0, 5.0), args=(c,), maxiter=1).x, 2.0)
    with pytest.raises(np.linalg.LinAlgError, match="derivative that is 0"):
        gradient(lambda c: se.find_minimum(lambda x: abs(x - c), (-5.0, 0.0, 5.0)).x, 2.0)
    with pytest.raises(NoRuleError, match="find_root only x has a gradient, and not xl"):
        gradient(lambda c: se.find_root(cube, (-1.0, 5.0), args=(c,)).bracket[0], 2.0)


def test_keywords_for_the_function_are_refused():
    by_name = lambda c: se.find_root(cube, BRACKETS["root"], kwargs={"c": c}).x
    with pytest.raises((NoRuleError, TypeError), match="kwargs"):  # which SciPy takes from 1.18 on
        gradient(by_name, 8.0)
