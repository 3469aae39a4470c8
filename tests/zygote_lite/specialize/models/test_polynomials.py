"""The classes of `numpy.polynomial`, made and asked inside: their Python source is transformed."""

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from tests.zygote_lite.checks import programs
from zygote_lite import testing, value_and_grad

PROGRAMS = []
tried = programs.declaring(PROGRAMS)
COEFFICIENTS = np.array([1.0, 0.3, 0.7, 0.2])
FOUR = (COEFFICIENTS,), (COEFFICIENTS * 2.0,), (np.array([0.5, 0.1, 2.0]),)


@tried(*FOUR, ([1.0, 0.3, 0.7, 0.2],))
def value_and_slope(c):
    p = Polynomial(c)
    return p(0.5) * p.deriv()(0.25) + p.degree()


@tried(*FOUR[:2])
def second_slope_and_integral(c):
    return Polynomial(c).deriv(2)(0.5) + Polynomial(c).integ()(0.3)


@tried(*FOUR[:2])
def arithmetic(c):
    p = Polynomial(c)
    q = p + p * 2.0 - 1.0
    return (q * Polynomial([1.0, 2.0]))(0.7) + (-p)(0.2) + (p**2)(0.1)


@tried((0.7, 0.2), (-0.3, 1.1))
def of_numbers(x, y):
    return Polynomial([x, y, x * y]).deriv()(x)


@tried((0.7,), (-2.0,))
def of_known_coefficients(x):
    p = Polynomial([1.0, 2.0, 0.5])
    return p(x) * p.deriv()(x)


@tried(*FOUR[:2])
def another_basis(c):
    return Chebyshev(c)(0.3) * Chebyshev(c)(0.1)


@tried(*FOUR)
def on_another_domain(c):
    return np.sum(Polynomial(c, domain=[0.0, 2.0])(np.linspace(0.0, 1.0, 5)) ** 2)


@tried(*FOUR[:2])
def fitted(y):
    return Polynomial.fit(np.linspace(0.0, 1.0, 4), y, 2)(0.3)


@programs.for_each(PROGRAMS)
def test_polynomials(f, choices):
    programs.assert_transformed(f, choices, programs.not_counts(choices[0]))


def test_a_changed_default_domain(monkeypatch):
    def f(c):
        return Polynomial(c)(0.5)

    with testing.compared():
        value_and_grad(f)(COEFFICIENTS)
        monkeypatch.setattr(Polynomial, "domain", np.array([0.0, 2.0]))
        y, _ = value_and_grad(f)(COEFFICIENTS)
    assert y == Polynomial(COEFFICIENTS)(0.5)
