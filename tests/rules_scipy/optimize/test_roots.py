"""Rules of `rules_scipy.optimize.roots`, against differences and closed forms."""

import numpy as np
import pytest
from scipy import integrate as si
from scipy import optimize as so

from rules_scipy.optimize.roots import BRACKETED
from rulescore.testing import check_rrule
from zygote_lite import DifferentiationError, NoRuleError, grad, gradient, value_and_grad

C = 2.0
SLOPE = C ** (-2 / 3) / 3  # of the cube root


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def cube(x, c):
    return x**3 - c


def with_slopes(x, c):
    return x**3 - c, 3 * x**2, 6 * x


ROOTS = {
    "closure": lambda c: so.brentq(lambda x: x**3 - c, 0, 5),
    "argument": lambda c: so.brentq(cube, 0, 5, c),
    "keyword": lambda c: so.brentq(cube, 0, 5, args=(c,), xtol=1e-13),
    "full": lambda c: so.ridder(cube, 0, 5, (c,), full_output=True)[0],
    "field": lambda c: so.brenth(cube, 0, 5, (c,), full_output=True)[1].root,
    "newton": lambda c: so.newton(lambda x: x**3 - c, 1.0),
    "newton's slope": lambda c: so.newton(cube, 1.0, lambda x, c: 3 * x**2, args=(c,)),
    "newton's field": lambda c: so.newton(cube, 1.0, args=(c,), full_output=True)[1].root,
    "complex": lambda c: abs(so.newton(cube, 0.5 + 1j, args=(c,), tol=1e-12)),
    "of an array of one": lambda c: so.newton(cube, np.ones(1), args=(c,), full_output=True)[
        1
    ].root[0],
    "begins at it": lambda c: so.root_scalar(cube, (c,), bracket=[0, c + 3]).root,
    "root_scalar": lambda c: so.root_scalar(cube, (c,), bracket=(0, 5)).root,
    "its slope": lambda c: (
        so.root_scalar(with_slopes, (c,), x0=1.0, fprime=True, fprime2=True).root
    ),
}


@pytest.mark.parametrize("name", ROOTS)
def test_a_root_moves_as_its_equation_says(name):
    for _ in range(3):  # on the tape, then by transformed code
        value, slope = value_and_grad(ROOTS[name])(C)
        assert value == pytest.approx(C ** (1 / 3))
        assert slope == pytest.approx(SLOPE, rel=1e-6)


def test_second_derivatives():
    for method in BRACKETED:
        f = lambda c, method=method: method(lambda x: x**3 - c, 0, 5)
        assert grad(grad(f))(C) == pytest.approx(-2 / 9 * C ** (-5 / 3), rel=1e-5)


def rebound(solve, c):
    return sum([solve(lambda x: x - c * k) for k in (1.0, 2.0, 3.0)])


def rewritten(solve, c):
    k, total = [1.0], 0.0
    for _ in range(3):
        total = total + solve(lambda x: x - c * k[0])
        k[0] += 1.0
    return total


@pytest.mark.parametrize("f", [rebound, rewritten])
def test_what_a_function_captured_may_change_later(f):
    solvers = [
        lambda g: so.brentq(g, 0, 50),
        lambda g: so.fsolve(g, [1.0])[0],
        lambda g: so.minimize_scalar(lambda x: g(x) ** 2).x,
        lambda g: so.least_squares(g, [1.0]).x[0],
        lambda g: -si.quad(lambda x: g(0.0) + 0 * x, 0, 1)[0],
    ]
    for solve in solvers:
        assert value_and_grad(lambda c, solve=solve: f(solve, c))(2.0)[1] == pytest.approx(6.0)


def test_newton_takes_each_entry_by_itself():
    c = np.array([2.0, 3.0])
    f = lambda c: np.sum(so.newton(lambda x: x**3 - c, np.ones(2)) * [1, 2])
    np.testing.assert_allclose(gradient(f, c)[0], [1, 2] * c ** (-2 / 3) / 3, rtol=1e-6)
    mixed = lambda c: np.sum(so.newton(lambda x: x**3 - c - 0.01 * x[::-1], np.ones(2)))
    with pytest.raises(NoRuleError, match="not one for each entry"):
        gradient(mixed, c)


def test_what_has_no_derivative_is_refused():
    with pytest.raises(np.linalg.LinAlgError, match="derivative that is 0"):
        gradient(lambda c: so.bisect(lambda x: np.sign(x - c), 0, 5), 2.0)
    with pytest.raises(np.linalg.LinAlgError, match="newton has not converged"):
        gradient(lambda c: so.newton(cube, 9.0, args=(c,), maxiter=2, disp=False,
                                     full_output=True)[0], 2.0)  # fmt: skip
    for solve in (so.brentq, so.toms748, so.bisect):
        with pytest.raises(np.linalg.LinAlgError, match="has not converged"):
            gradient(lambda c: solve(cube, 0, 5, (c,), maxiter=1, disp=False), 2.0)
    with pytest.raises(np.linalg.LinAlgError, match="newton has not converged"):
        gradient(lambda c: so.newton(cube, 9.0, args=(c,), maxiter=2, disp=False), 2.0)
    found = gradient(lambda c: so.brentq(lambda x: x**3 - c, 0, 5, disp=False), 8.0)[0]
    np.testing.assert_allclose(found, 1 / 12, rtol=1e-6)
    with pytest.raises(NoRuleError, match="iterations"):
        gradient(lambda c: so.brentq(cube, 0, 5, (c,), full_output=True)[1].iterations * 1.0, 2.0)


@pytest.mark.parametrize("f", BRACKETED)
def test_active_defaults_are_refused(f):
    for _ in range(3):
        with pytest.raises(DifferentiationError, match="has defaults through which a gradient"):
            gradient(lambda c: f(lambda x, c=c: x**3 - c, 0, 5), C)
