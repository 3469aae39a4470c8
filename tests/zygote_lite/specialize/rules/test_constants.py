"""Functions through which no gradient passes, by their rule, on both ways to a gradient."""

import math

import numpy as np
import pytest

from rulescore import non_differentiable, scalar_rule
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import grad, gradient, hessian, stop_gradient, testing

X, Y = np.array([0.3, -0.4, 0.5]), np.array([1.2, 0.1, -0.7])


@non_differentiable
def squared(x):
    return x * x


@non_differentiable
def itself(x):
    return x


@non_differentiable
def of_pair(pair):
    return pair[0] * pair[1]


@non_differentiable
def logged(x):
    seen.append(x)
    return 3.0


@non_differentiable
def as_text(x):
    return f"{x}"


@scalar_rule(lambda x: 10.0)
def with_a_rule(x):
    return x


seen = []


def by_square(x):
    return np.sum(x * squared(x))


def by_itself(x):
    y = itself(x)
    return np.sum(x * y)


def by_stopped(x):
    return np.sum(x * stop_gradient(x) + stop_gradient(x * x))


def stopped_and_written(x):
    y = x * 1.0
    z, u = stop_gradient(y), stop_gradient(y)
    y[0] = 5 * x[1]
    z[1] = x[2]
    return np.sum(y * z * u)


def of_a_pair(x):
    return x[0] ** 2 * of_pair((x[0], 3.0))


def in_a_loop(x):
    s = 0.0
    for v in x:
        s = s + v * stop_gradient(s) + with_a_rule(v)
    return s


def on_a_branch(x):
    y = stop_gradient(x) if x[0] > 0.2 else x
    return np.sum(x * y)


def of_a_number(x):
    return x * squared(x) + math.sin(stop_gradient(x)) * x


def of_a_dict(x):
    p = {"a": x, "b": 2.0}
    q = stop_gradient(p)
    q["b"] = p["a"][0]
    return np.sum(p["a"] * q["a"] * q["b"])


def by_text(x):
    return x[0] ** 2 * len(as_text(x[0]))


TRANSFORMED = [by_square, by_stopped, stopped_and_written, of_a_pair, in_a_loop, on_a_branch]
RECORDED = [by_itself, of_a_dict, by_text]


@pytest.mark.parametrize("f", TRANSFORMED + RECORDED, ids=lambda f: f.__name__)
def test_on_both_ways(f):
    made = assert_agreement(f, (X,), (Y,), (X[:2],), (X.astype(np.float32),))
    assert made == (f in TRANSFORMED)


def by_hand(x, k):
    """The function in which what is stopped is the constant `k`."""
    return x * k[0] + math.sin(k[1]) * x


def test_the_derivative_is_that_of_a_function_with_constants():
    for _ in range(4):
        for x in (0.7, -1.5):
            slope = (by_hand(x + 1e-6, (x * x, x)) - by_hand(x - 1e-6, (x * x, x))) / 2e-6
            assert gradient(of_a_number, x) == pytest.approx((slope,), rel=1e-8)
            np.testing.assert_allclose(gradient(by_square, X * x)[0], (X * x) ** 2)
            np.testing.assert_allclose(gradient(by_itself, X * x)[0], X * x)
            np.testing.assert_allclose(gradient(by_stopped, X * x)[0], X * x)
    assert testing.is_covered(of_a_number, 0.7)
    # of `x * k` the second derivative is 0: what is stopped is a constant of the gradient too
    assert grad(grad(lambda x: x * stop_gradient(x * x)))(2.0) == 0.0
    np.testing.assert_array_equal(hessian(by_stopped)(X), np.zeros((3, 3)))


class Model:
    def __init__(self, w):
        self.w = w


def test_a_model_that_is_stopped_is_another_object():
    model = Model(X)
    for _ in range(3):
        (dm,) = gradient(lambda m: np.sum(m.w * stop_gradient(m).w), model)
        np.testing.assert_array_equal(dm.w, X)


def test_effects_happen_once():
    def f(x):
        return x * logged(x)

    seen.clear()
    for x in (1.0, 2.0, 3.0, 4.0):
        assert gradient(f, x) == (3.0,)
    assert seen == [1.0, 2.0, 3.0, 4.0]


@non_differentiable
def called(f, x):
    return f(x)


def of_a_function(x):
    return called(lambda v: v * x, 2.0) * x


def test_no_gradient_passes_through_what_a_function_that_is_given_captures():
    with testing.recorded_only():
        assert gradient(of_a_function, 3.0) == (6.0,)
    assert not assert_agreement(of_a_function, (3.0,), (0.5,))
    assert [gradient(of_a_function, 3.0) for _ in range(3)] == [(6.0,)] * 3
