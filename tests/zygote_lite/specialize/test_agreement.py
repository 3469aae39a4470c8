"""Specialized code gives what the tape gives: of what is made to break it.

The cases of the table of constructs are compared in `constructs/test_constructs.py`.
"""

import copy

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import (
    CALLS,
    answers,
    assert_agreement,
    generic,
    generic_only,
    is_alike,
    is_specialized,
    outcome,
)
from tests.zygote_lite.specialize import hostile
from zygote_lite import grad, gradient, hessian, hvp, testing, value_and_grad


def test_functions_defined_inside():
    def keywords(x, y):
        def g(u, v=2.0, w=3.0):
            return u * v - w * u * u

        h = lambda p, /, q=1.0: p * q
        return g(x, w=y) + g(v=y, u=x) + g(x, y) * h(x, q=y) + h(y)

    def on_one_line(x, y):
        g, h = [lambda v: v * x, lambda v: x + y * v]
        return g(x) * h(y) + (lambda v: v * 3.0)(x) * (lambda v, w=(lambda v: v * y)(x): v * w)(y)

    for f in (keywords, on_one_line):
        assert assert_agreement(f, (0.3, 0.4), (1.2, -0.5)), f.__name__


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("f", "choices", "argnums", "fits"), hostile.TRIED, ids=[c[0].__name__ for c in hostile.TRIED]
)
def test_hostile(f, choices, argnums, fits):
    made = assert_agreement(f, *choices, argnums=argnums)
    if fits:
        assert made, testing.reasons(f)
        assert any(answers(f, xs) for xs in choices)


def test_an_array_is_written_after_a_rule_made_a_view_of_it():
    for expression in hostile.VIEWS:
        f = hostile.view_program(expression)
        assert_agreement(f, (np.array([1.0, 2.0]),), (np.array([1.5, -2.0]),))


# -- what comes back ---------------------------------------------------------------------------

X, Y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
HELD = np.array([5.0, 6.0])
RETURNED = {
    "dot": (lambda x, y: x @ y, X, Y),
    "sum": (lambda x, y: np.sum(x + y), X, Y),
    "twice": (lambda x: np.sum(x + x), X),
    "difference": (lambda x, y: np.sum(x - y), X, Y),
    "captured": (lambda x: np.sum(x * HELD), X),
    "captured is the argument": (lambda x: np.sum(x * HELD), HELD),
    "ones": (lambda x: np.sum(x), X),
    "mean": (lambda x: np.mean(x), X),
    "list": (lambda p: np.sum(p[0] * p[1]), [X, Y]),
    "tuple": (lambda p, q: np.sum(p[0] + p[1] + q), (X, Y), Y),
    "one array twice": (lambda x, y: np.sum(x * y), X, X),
    "one array twice in a list": (lambda p: np.sum(p[0] * p[1]) * p[1][0], [X, X]),
    "overlapping views": (lambda x, y: np.sum(x * y), X, X[::-1]),
    "joined": (lambda x, y: np.sum(np.concatenate([x, y]) * np.arange(4.0)), X, Y),
    "parts": (lambda x: np.sum(x[:1] * HELD[0]) + np.sum(x[1:]), X),
    "as it is": (lambda x, y: np.sum(np.asarray(x) * y), X, Y),
    "reshaped": (lambda x: np.sum(x.reshape(1, 2) * HELD), X),
    "stretched": (lambda x, y: np.sum(np.broadcast_to(x, (3, 2)) * y), X, np.ones((3, 2))),
}


@pytest.mark.parametrize("name", RETURNED)
def test_a_gradient_belongs_to_the_caller(name):
    """No gradient shares memory with another or with an argument, nor changes a later answer."""
    f, *xs = RETURNED[name]
    differentiated = value_and_grad(f, tuple(range(len(xs))))
    for _ in range(CALLS):
        found = differentiated(*xs)
    assert answers(f, xs)
    with generic_only():
        want = copy.deepcopy(value_and_grad(f, tuple(range(len(xs))))(*xs))
    before = copy.deepcopy(xs)
    gradients, arguments = _arrays(found[1]), _arrays(xs)
    for i, d in enumerate(gradients):
        assert not any(np.shares_memory(d, x) for x in (*gradients[i + 1 :], *arguments, HELD))
    for d in gradients:
        d[...] = 1e9
    assert is_alike(xs, before, 0.0)
    assert is_alike(differentiated(*xs), want)


def _arrays(x):
    if isinstance(x, tuple | list):
        return [part for item in x for part in _arrays(item)]
    return [x] if isinstance(x, np.ndarray) else []


def test_earlier_gradients_stay():
    differentiated = value_and_grad(lambda x: np.sum(x * x))
    found = [differentiated(X * k)[1] for k in range(1, 6)]
    for k, d in enumerate(found, 1):
        np.testing.assert_array_equal(d, 2 * k * X)


# -- ways to call ------------------------------------------------------------------------------


@pytest.mark.parametrize("argnums", [(0, 1), (1, 0), (0, 0), -1, 0, 1, [0], (), (1,), [-2, 1]])
def test_argnums(argnums):
    def f(a, b):
        return a * b * b

    want = generic(f, (2.0, 3.0), argnums)
    differentiated = value_and_grad(f, argnums)
    for _ in range(5):
        assert is_alike(outcome(lambda: differentiated(2.0, 3.0)), want)


def test_keywords_defaults_and_any_number():
    def f(x, k=2.0, *, p=3.0):
        return x * k + p

    def g(*xs):
        return xs[0] * xs[-1]

    differentiated = value_and_grad(f)
    for _ in range(4):
        assert differentiated(2.0) == (7.0, 2.0)
        assert differentiated(2.0, k=3.0) == (9.0, 3.0)
        assert differentiated(2.0, 4.0) == (11.0, 4.0)
        assert differentiated(2.0, p=1.0) == (5.0, 2.0)
        assert gradient(f, 2.0, 4.0) == (4.0, 2.0)
        assert gradient(g, 2.0, 3.0) == (3.0, 2.0)
        assert gradient(g, 2.0, 3.0, 4.0) == (4.0, None, 2.0)
    assert answers(f, (2.0,))
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        value_and_grad(lambda a, b: a * b)(2.0)


def test_a_function_with_any_name():
    def f(x):
        return x * x

    f.__name__ = "f(x): import os #"
    assert [grad(f)(3.0) for _ in range(4)] == [6.0] * 4
    assert is_specialized(f)


# -- gradients inside gradients ----------------------------------------------------------------


def cube(x):
    return np.sum(x**3)


def test_nested_differentiation_of_specialized_functions():
    for _ in range(4):
        grad(cube)(X)
    assert is_specialized(cube)

    def outer(x):
        return np.sum(grad(cube)(x) * x)

    def confusing(x):
        return x * grad(lambda y: x + y)(1.0)

    def constant(x):
        return x * grad(lambda y: y**3)(3.0)

    for _ in range(5):
        np.testing.assert_allclose(hessian(cube)(X), np.diag(6 * X))
        np.testing.assert_allclose(hvp(cube)(X, Y), 6 * X * Y)
        np.testing.assert_allclose(grad(outer)(X), 9 * X**2)
        assert grad(confusing)(2.0) == 1.0
        assert grad(constant)(2.0) == 27.0
        assert grad(grad(grad(lambda x: x**4)))(2.0) == 48.0


# -- the Hessian times a vector ------------------------------------------------------------------

M, W = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 2.0]])
TWICE = {
    "cube": cube,
    "quadratic": lambda x: x @ x,
    "tanh": lambda x: np.sum(np.tanh(x) * x),
    "exponential": lambda x: np.exp(np.sum(x * x) * 0.1),
    "norm": lambda x: np.linalg.norm(x),
    "roots": lambda x: np.sum(np.sqrt(x)),
    "logarithm": lambda x: np.log(np.sum(np.exp(x))),
    "greatest": lambda x: np.max(x * x),
    "pairs": lambda x: np.sum((x[:, None] * x) ** 2),
    "kink": lambda x: np.sum(np.maximum(x, 0) ** 2 * x),
    "quotients": lambda x: np.sum(1 / x),
    "captured": lambda x: np.sum(x**3 * HELD),
    "written": lambda x: (lambda y: y[0])([np.sum(x**2) * x[0]]),
}


@pytest.mark.parametrize("name", TWICE)
def test_hessian_times_vector(name):
    f = TWICE[name]
    run = hvp(f)
    single = np.float32
    for x, v in [
        (X, Y), (X, Y), (X, Y), (Y, X), (np.array([0.0, 1.0]), X), (np.array([2.0, 2.0]), Y),
        (np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 1.0])), (X[:1], Y[:1]),
        (X, np.array([1.0, 2.0, 3.0])), (X, X[:1]), (X, 2.0), (X.astype(single), Y.astype(single)),
        (X, Y.astype(single)), (X.astype(single), Y), (M, M.T), (X, X), (2.0, 3.0), (X, Y),
    ]:  # fmt: skip
        with generic_only():
            want = outcome(lambda x=x, v=v: hvp(f)(x, v))
        got = outcome(lambda x=x, v=v: run(x, v))
        tolerance = 1e-4 if np.asarray(x).dtype == single else 1e-8
        assert is_alike(got, want, tolerance), (x, v, got, want)
    if name != "written":
        assert testing.programs(f, "product")
    found = run(X, Y)
    assert not np.shares_memory(found, X)
    assert not np.shares_memory(found, Y)


@pytest.mark.parametrize("name", ["two words", "1st", "f;import os", ""])
def test_a_function_may_have_any_text_for_its_name(name):
    def f(x):
        return x * x

    f.__name__ = name
    with testing.transformed_only():
        assert value_and_grad(f)(3.0) == (9.0, 6.0)
