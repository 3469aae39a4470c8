"""What the documentation of JAX and of autograd shows, written anew, with the answers known there.

Numbers with many digits are those that these pages print; others follow by hand.
"""

import math

import numpy as np
import pytest
import scipy.optimize

from rulescore import custom_rule, non_differentiable
from tests.zygote_lite.checks.comparing import assert_close
from zygote_lite import (
    checkpoint,
    grad,
    gradient,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jvp,
    linearize,
    pullback,
    ravel,
    stop_gradient,
    tree_map,
    value_and_grad,
    vjp,
    vmap,
)
from zygote_lite.optimizers import adam, sgd

ONES, X4 = np.ones(4), np.array([1.0, 2.0, 3.0, 4.0])
INPUTS = np.array(
    [[0.52, 1.12, 0.77], [0.88, -1.08, 0.15], [0.52, 0.06, -1.3], [0.74, -2.49, 1.39]]
)
TARGETS = np.array([True, True, False, True])
THETA, R = np.array([0.1, -0.1, 0.0]), 1.0
S0, S1 = np.array([1.0, 2.0, -1.0]), np.array([2.0, 1.0, 0.0])


def cubic(x):
    return x**3 + 2 * x**2 - 3 * x + 1


def tanh(x):  # autograd's first example
    y = np.exp(-2.0 * x)
    return (1.0 - y) / (1.0 + y)


def logistic(x):
    return 1.0 / (1.0 + np.exp(-x))


def sum_logistic(x):
    return np.sum(logistic(x))


def error(x, y):
    return np.sum((x - y) ** 2)


def error_with_aux(x, y):
    return error(x, y), x - y


def likelihood(w):
    p = 0.5 * (np.tanh(INPUTS @ w) + 1)
    return -np.sum(np.log(p * TARGETS + (1 - p) * (1 - TARGETS)))


def trained():
    w = np.zeros(3)
    for _ in range(100):
        w -= grad(likelihood)(w) * 0.01
    return likelihood(w)


def prediction_loss(params):
    p = logistic(INPUTS @ params["W"] + params["b"])
    return -np.sum(np.log(np.where(TARGETS, p, 1 - p)))


def by_residuals(W, b):
    """Return the gradient of the logistic loss by its formula."""
    r = 1 / (1 + np.exp(-(INPUTS @ W + b))) - TARGETS
    return {"W": INPUTS.T @ r, "b": np.sum(r)}


def td_loss(theta, s0, r, s1, stop=lambda x: x):
    return (stop(r + theta @ s1) - theta @ s0) ** 2


def semi_td_loss(theta, s0, r, s1):
    return td_loss(theta, s0, r, s1, stop_gradient)


def straight_through(x):
    return x + stop_gradient(np.round(x) - x)


@custom_rule
def log1pexp(x):
    e = np.exp(x)
    return np.log(1 + e), lambda dy: (dy * (1 - 1 / (1 + e)),)


@custom_rule
def sine_times(x, y):
    c, s = math.cos(x), math.sin(x)
    return s * y, lambda dy: (c * dy * y, s * dy)


@non_differentiable
def step_size(x):
    return 0.1 * x


def four_outputs(x):
    return np.array([x[0], 5 * x[2], 4 * x[1] ** 2 - 2 * x[2], x[2] * np.sin(x[0])])


def six(x):
    return x[0] ** 3 - 2 * x[0] * x[1] - x[1] ** 6


def by_newton(a):  # a fixed point, as in the tutorial on custom rules
    x = a
    while True:
        y = 0.5 * (x + a / x)
        if abs(x - y) < 1e-12:
            return y
        x = y


def taylor_sine(x):
    result = term = x
    i = 0
    while np.abs(term) > 1e-12:
        term = -term * x * x / ((2 * i + 3) * (2 * i + 2))
        result = result + term
        i += 1
    return result


def piecewise(x):
    return 3.0 * x**2 if x < 3 else -4 * x


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def minimum():
    slope = grad(rosenbrock)
    return scipy.optimize.minimize(rosenbrock, np.zeros(2), jac=slope, method="BFGS").x


def fitted(step, **options):
    """Return the line through points, by many steps."""
    xs = np.array([0.0, 1.0, 2.0])
    model, state = {"w": 0.0, "b": 0.0}, None
    for _ in range(400):
        d = grad(lambda m: np.mean((m["w"] * xs + m["b"] - (3 * xs - 1)) ** 2))(model)
        model, state = step(model, d, state, **options)
    return model


def in_place(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] ** 2
    return y.sum()


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return self.by * x


def safe_logarithm(x):
    return np.where(x > 0, np.log(np.where(x > 0, x, 1)), 0.0)


def norm(x):
    return np.sqrt(np.sum(x**2))


def chain(x):
    return np.sin(np.sin(x))


def of_logistics(w):
    return logistic(INPUTS @ w)


def linearized():
    y, push = linearize(lambda x: 3.0 * np.sin(x) + np.cos(x / 2.0), 2.0)
    return y, push(3.0), push(4.0)


def convolve(x, w):
    return np.array([np.dot(x[i - 1 : i + 2], w) for i in range(1, len(x) - 1)])


X5, W3 = np.arange(5.0), np.array([2.0, 3.0, 4.0])
W0, DIRECTION = np.array([0.1, -0.1, 0.0]), np.array([1.0, 2.0, 3.0])
OF_LOGISTICS = np.array(
    [
        [0.12988307, 0.27974815, 0.19232685],
        [0.21790057, -0.26742343, 0.03714214],
        [0.12993125, 0.01499207, -0.32482814],
        [0.18025746, -0.606542, 0.33859172],
    ]
)
M = np.array([[2.0, 1.0], [1.0, 3.0]])
SOFT = np.exp(X4) / np.sum(np.exp(X4))
T = np.tanh(X4 / 4)

SNIPPETS = {
    # JAX: the quickstart, and automatic differentiation
    "tanh": (lambda: grad(np.tanh)(2.0), 0.070650816),
    "tanh twice": (lambda: grad(grad(np.tanh))(2.0), -0.13621868),
    "tanh three times": (lambda: grad(grad(grad(np.tanh)))(2.0), 0.25265405),
    "tanh at 0.2": (lambda: grad(np.tanh)(0.2), 0.961043),
    "sum of logistics": (lambda: grad(sum_logistic)(np.arange(3.0)),
                         np.array([0.25, 0.19661194, 0.10499357])),
    "logistic three times": (lambda: grad(grad(grad(sum_logistic)))(1.0), -0.0353256),
    "cubic": (lambda: grad(cubic)(1.0), 4.0),
    "cubic twice": (lambda: grad(grad(cubic))(1.0), 10.0),
    "cubic three times": (lambda: grad(grad(grad(cubic)))(1.0), 6.0),
    "cubic four times": (lambda: grad(grad(grad(grad(cubic))))(1.0), 0.0),
    "sum of squares": (lambda: grad(lambda x: np.sum(x**2))(X4), 2 * X4),
    "squared error": (lambda: grad(error)(X4, X4 + 0.1), -0.2 * ONES),
    "argnums": (lambda: grad(error, argnums=(0, 1))(X4, X4 + 0.1), (-0.2 * ONES, 0.2 * ONES)),
    "value and grad": (lambda: value_and_grad(error)(X4, X4 + 0.1), (0.04, -0.2 * ONES)),
    "has_aux": (lambda: grad(error_with_aux, has_aux=True)(X4, X4 + 0.1),
                (-0.2 * ONES, -0.1 * ONES)),
    "value, aux and grad": (lambda: value_and_grad(error_with_aux, has_aux=True)(X4, X4 + 0.1),
                            ((0.04, -0.1 * ONES), -0.2 * ONES)),
    "parameters in a dict": (lambda: grad(prediction_loss)({"W": THETA, "b": 0.5}),
                             by_residuals(THETA, 0.5)),
    "a Jacobian": (lambda: jacrev(four_outputs)(np.array([1.0, 2.0, 3.0])),
                   np.array([[1, 0, 0], [0, 0, 5], [0, 16, -2], [1.6209, 0, 0.84147]])),
    "of logistics": (lambda: jacobian(lambda w: logistic(INPUTS @ w))(np.zeros(3)), INPUTS / 4),
    "a Hessian": (lambda: hessian(six)(np.array([1.0, 2.0])), np.array([[6.0, -2], [-2, -480]])),
    "a Hessian of a dict": (lambda: hessian(lambda p: p["x"] * p["y"] ** 2)({"x": 2.0, "y": 3.0}),
                            {"x": {"x": 0.0, "y": 6.0}, "y": {"x": 6.0, "y": 4.0}}),
    "a Hessian times a vector": (lambda: hvp(lambda x: np.sum(np.tanh(x) ** 2))(X4 / 4, X4),
                                 2 * (1 - T**2) * (1 - 3 * T**2) * X4),
    "reverse over reverse": (
        lambda: grad(lambda x: grad(lambda y: np.sum(np.tanh(y) ** 2))(x) @ X4)(X4 / 4),
        2 * (1 - T**2) * (1 - 3 * T**2) * X4),
    "vjp": (lambda: vjp(lambda x, y: (np.sin(x), np.cos(y)), 0.5, 1.0)[1]((-0.7, 0.3)),
            (-0.61430776, -0.2524413)),
    "vjp with aux": (lambda: vjp(lambda x: (x**2, 7.0), 3.0, has_aux=True)[::2], (9.0, 7.0)),
    "rows of a Jacobian": (lambda: vmap(lambda dy: vjp(np.dot, M, S0[:2])[1](dy)[1])(np.eye(2)), M),
    "per example": (lambda: vmap(grad(semi_td_loss), in_axes=(None, 0, 0, 0))(
        THETA, np.stack([S0, S0]), np.array([R, R]), np.stack([S1, S1])),
        np.array([[-2.4, -4.8, 2.4], [-2.4, -4.8, 2.4]])),
    # JAX: forward mode, and automatic vectorization
    "a derivative in a direction": (lambda: jvp(of_logistics, (W0,), (DIRECTION,)),
        (np.array([0.4850045, 0.54884373, 0.51149797, 0.5800552]),
         np.array([1.26635993, -0.20551986, -0.81456902, -0.01705138]))),
    "linearized": (linearized, (3.2681944, -5.007528, -6.676704)),
    "forward over reverse": (
        lambda: jvp(grad(lambda x: np.sum(np.tanh(x) ** 2)), (W0,), (DIRECTION,))[1],
        np.array([1.9211224, 3.8422448, 6.0])),
    "a Jacobian by columns": (lambda: jacfwd(of_logistics)(W0), OF_LOGISTICS),
    "columns of a Jacobian": (
        lambda: vmap(lambda t: jvp(of_logistics, (W0,), (t,))[1], out_axes=1)(np.eye(3)),
        OF_LOGISTICS),
    "a Hessian of a likelihood": (lambda: hessian(lambda w: -np.sum(np.log(of_logistics(w))))(W0),
        np.array([[0.46024648, -0.53090879, 0.21434229], [-0.53090879, 2.11332434, -0.68729051],
                  [0.21434229, -0.68729051, 1.04658206]])),
    "a convolution": (lambda: convolve(X5, W3), np.array([11.0, 20.0, 29.0])),
    "of batches": (lambda: vmap(convolve)(np.stack([X5, X5]), np.stack([W3, W3])),
                   np.array([[11.0, 20.0, 29.0]] * 2)),
    "of batches in the last axis": (
        lambda: vmap(convolve, in_axes=1, out_axes=1)(
            np.stack([X5, X5], 1), np.stack([W3, W3], 1)),
        np.array([[11.0, 20.0, 29.0]] * 2).T),
    "with the same weights": (lambda: vmap(convolve, in_axes=(0, None))(np.stack([X5, 2 * X5]), W3),
                              np.array([[11.0, 20.0, 29.0], [22.0, 40.0, 58.0]])),
    "a stable rule of a batch": (lambda: vmap(grad(log1pexp))(np.arange(3.0)),
                                 np.array([0.5, 0.7310585, 0.8807971])),
    "Hessians of a batch": (lambda: vmap(hessian(lambda x: np.sum(x**3)))(M),
                            np.array([[[12.0, 0], [0, 6]], [[6, 0], [0, 18]]])),
    # JAX: stopping gradients, rules of one's own, control flow
    "temporal differences": (lambda: grad(td_loss)(THETA, S0, R, S1), np.array([2.4, -2.4, 2.4])),
    "with a stopped target": (lambda: grad(semi_td_loss)(THETA, S0, R, S1),
                              np.array([-2.4, -4.8, 2.4])),
    "a step": (lambda: grad(np.round)(3.2), 0.0),
    "straight through a step": (lambda: grad(straight_through)(3.2), 1.0),
    "stopped": (lambda: grad(lambda x: stop_gradient(x) ** 2)(3.0), 0.0),
    "a stable rule": (lambda: grad(log1pexp)(100.0), 1.0),
    "a rule of two arguments": (lambda: grad(sine_times)(2.0, 3.0), -1.2484405),
    "a constant": (lambda: grad(lambda x: x * step_size(x))(2.0), 0.2),
    "checkpoint": (lambda: value_and_grad(checkpoint(chain))(2.0), (0.78907233, -0.2556391)),
    "checkpoint inside": (lambda: grad(lambda x: checkpoint(np.sin)(np.sin(x)))(2.0), -0.2556391),
    "a branch": (lambda: [grad(piecewise)(2.0), grad(piecewise)(4.0)], [12.0, -4.0]),
    "an absolute value": (lambda: [grad(abs)(1.0), grad(abs)(-1.0)], [1.0, -1.0]),
    "a fixed point": (lambda: grad(by_newton)(2.0), 0.35355338),
    "a fixed point twice": (lambda: grad(grad(by_newton))(2.0), -0.088388346),
    "a safe logarithm": (lambda: grad(safe_logarithm)(-1.0), 0.0),
    # JAX: trees and batches
    "tree_map": (lambda: tree_map(lambda x: x + 1, {"x": 7, "y": [42]}), {"x": 8, "y": [43]}),
    "two trees": (lambda: tree_map(lambda x, y: x + y, [1.0, (2.0,)], [10.0, (20.0,)]),
                  [11.0, (22.0,)]),
    "a flat tree": (lambda: ravel({"a": np.eye(2), "b": [5.0]})[0], np.array([1, 0, 0, 1, 5.0])),
    "a batch": (lambda: vmap(lambda x: M @ x)(np.array([[1.0, 0.0], [0.0, 2.0]])),
                np.array([[2.0, 1], [2, 6]])),
    "an outer product": (lambda: vmap(lambda x: vmap(lambda y: x * y)(X4))(X4), np.outer(X4, X4)),
    "gradients of a batch": (lambda: vmap(grad(lambda x: x**2))(X4), 2 * X4),
    "gradient descent": (lambda: fitted(sgd, rate=0.2, momentum=0.5), {"w": 3.0, "b": -1.0}),
    "Adam": (lambda: fitted(adam, rate=0.1), {"w": 3.0, "b": -1.0}),
    # autograd
    "autograd's tanh": (lambda: grad(tanh)(1.0), 0.4199743416140260),
    "a series": (lambda: grad(taylor_sine)(np.pi), -1.0),
    "a likelihood": (lambda: likelihood(np.zeros(3)), 2.77258872224),
    "a trained likelihood": (trained, 0.3890075431558),
    "Rosenbrock": (minimum, np.array([1.0, 1.0])),
    "a Hessian at zero": (lambda: hessian(likelihood)(np.zeros(3)),
        np.array([[1.8628, -2.1794, 0.885], [-2.1794, 8.6245, -2.8387],
                  [0.885, -2.8387, 4.2375]])),
    "a Hessian of Rosenbrock": (
        lambda: hvp(rosenbrock)(np.array([0.5, 0.5]), np.array([1.0, 2.0])),
        np.array([-298.0, 200.0])),
    "three times, entry by entry": (
        lambda: vmap(grad(grad(grad(np.tanh))))(np.array([-7.0, -3.5, 0.0])),
        np.array([1.33043710e-05, 1.44840026e-02, -2.0])),
    "entry by entry": (lambda: gradient(lambda x: np.sum(tanh(x)), X4)[0], 1 - np.tanh(X4) ** 2),
    "softmax": (lambda: grad(lambda x: np.log(np.sum(np.exp(x))))(X4), SOFT),
    "a determinant": (lambda: grad(lambda m: np.log(np.linalg.det(m)))(M), np.linalg.inv(M).T),
    "a norm": (lambda: grad(norm)(np.array([3.0, 4.0])), np.array([0.6, 0.8])),
    "by keyword": (lambda: grad(lambda x, n=2: x**n, "x")(3.0, n=3), 27.0),
    # what these refuse, or do not give
    "written in place": (lambda: grad(in_place)(np.arange(3.0)), 2 * np.arange(3.0)),
    "of an object": (lambda: pullback(Scale(3.0), 2.0)[1](1.0)[0].by, 2.0),
}  # fmt: skip


LONG = {"gradient descent", "Adam", "a trained likelihood", "Rosenbrock"}  # they call often


@pytest.mark.parametrize("name", SNIPPETS)
def test_the_answer_is_the_one_that_is_known(name):
    snippet, expected = SNIPPETS[name]
    for _ in range(1 if name in LONG else 3):
        assert_close(snippet(), expected, 5e-5)


def test_there_are_as_many_as_are_promised():
    assert len(SNIPPETS) >= 50
