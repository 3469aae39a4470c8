"""Variables that functions share: going back, each holds what it held when a rule was given them.

A rule is given a function that captured a variable, and the variable holds something else later,
or nothing. Central differences are the oracle.
"""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from zygote_lite import grad, jvp
from zygote_lite.testing import recorded_only


class Held:
    def __init__(self, k):
        self.k = k

    def density(self, t):
        return np.exp(self.k * t)


def integral(f):
    return quad(f, 0.0, 1.0)[0]


def an_object(x):
    held = Held(x)
    found = integral(lambda t: np.exp(held.k * t))
    held = None
    return found


def a_list_of_each_iteration(x):
    found = 0.0
    for i in range(3):
        held = [x * i]
        found += integral(lambda t: np.exp(held[0] * t))
    return found


def a_dict(x):
    held = {"k": x}
    found = brentq(root := lambda y: y**3 + held["k"] * y - 3.0, 0.0, 5.0)
    held = {"k": x * x}
    return found + brentq(root, 0.0, 5.0)


def an_array(x):
    held = x
    found = solve_ivp(lambda t, y: -held * y, (0.0, 1.0), [x], rtol=1e-9, atol=1e-9).y[0, -1]
    held = np.array([3.0, 2.0])
    return found


def a_method(x):
    held = Held(x).density
    found = integral(lambda t: held(t))
    held = Held(x * x).density
    return found + integral(lambda t: held(t))


def a_function(x):
    rate = x

    def inner(t):
        return np.exp(rate * t)

    found = integral(lambda t: inner(t))
    rate = 3.0 * x
    inner = None  # noqa: F811
    return found + rate


def one_that_is_deleted(x):
    held = Held(x)
    root = lambda t: np.exp(held.k * t)
    found = integral(root)
    del held
    try:
        root(1.0)
    except NameError:
        found = 2.0 * found
    held = Held(2.0 * x)
    return found + integral(root)


def one_of_the_function_around(x):
    def later(held):
        found = integral(lambda t: np.exp(held.k * t))

        def forget():
            nonlocal held
            held = None

        forget()
        return found

    return later(Held(x))


CASES = [
    an_object,
    a_list_of_each_iteration,
    a_dict,
    an_array,
    a_method,
    a_function,
    one_that_is_deleted,
    one_of_the_function_around,
]


@pytest.mark.parametrize("f", CASES)
def test_the_gradient_is_that_of_what_a_function_read_when_a_rule_was_given_it(f):
    want = (f(1.5 + 1e-5) - f(1.5 - 1e-5)) / 2e-5
    with recorded_only():
        np.testing.assert_allclose(grad(f)(1.5), want, rtol=1e-7)
        np.testing.assert_allclose(jvp(f, (1.5,), (1.0,))[1], want, rtol=1e-7)
    for _ in range(3):
        np.testing.assert_allclose(grad(f)(1.5), want, rtol=1e-7)


def test_second_derivatives_are_those_of_what_it_read():
    h = 1e-4
    f = a_dict
    want = (f(1.5 + h) - 2.0 * f(1.5) + f(1.5 - h)) / h**2
    np.testing.assert_allclose(grad(grad(f))(1.5), want, rtol=1e-5)


def test_variables_hold_after_the_pullback_what_they_held_before_it():
    kept = []

    def f(x):
        held = Held(x)
        kept.append(lambda: held)
        found = integral(lambda t: np.exp(held.k * t))
        held = "last"
        return found

    with recorded_only():
        grad(f)(1.5)
    assert kept[0]() == "last"
