"""Jacobians by specialized pullbacks: what the tape gives, and differences."""

import math

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import generic_only, is_alike, outcome
from tests.zygote_lite.fuzz.generate import places as place_programs
from zygote_lite import grad, jacobian, testing

A = np.random.default_rng(0).normal(size=(4, 6))
X = np.linspace(0.1, 1.0, 6)


def residuals(x):
    return np.tanh(A @ x) - 0.5


def with_itself(x):
    return x


def parts(x):
    return x[1:] - x[:-1] ** 2


def product(x):
    return np.outer(x, x)


def number(x):
    return np.sum(x**2) * x[0]


def constant(x):
    return np.zeros(3)


def stacked(x):
    return np.stack([x, 2 * x, x * x[0]])


def chosen(x):
    return np.where(x > 0.5, x, 0.0)


def turned(x):
    return x[::-1].reshape(2, 3).T


def shorter(x):
    return x.astype(np.float32) * 2.0


def loop(x):
    y = np.zeros(len(x) - 1)
    for i in range(len(x) - 1):
        y[i] = x[i] * x[i + 1]
    return y


def recurrence(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] += y[i - 1] * x[i]
    return y


def branches(x):
    return x * 2.0 if x[0] > 0 else x * x


def cumulated(x):
    return np.cumsum(x * x)


def poles(x):
    return 1.0 / (x - 0.1)


def roots(x):
    return np.sqrt(np.maximum(x, 0.0))


ARRAYS = [residuals, with_itself, parts, product, number, constant, stacked, chosen, turned,
          shorter, loop, recurrence, branches, cumulated, poles, roots]  # fmt: skip


def rotation(t):
    return np.array([[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]])


def of_a_number(t):
    return math.sin(t) * t


def agree(f, *choices, argnums=0):
    """Assert that Jacobians are what the tape gives; return if code was made."""
    fast = jacobian(f, argnums)
    with np.errstate(all="ignore"):
        for xs in [choices[0]] * 3 + [xs for xs in choices for _ in (1, 2)]:
            before = [np.copy(x) for x in xs]
            with generic_only():
                want = outcome(lambda xs=xs: jacobian(f, argnums)(*xs))
            got = outcome(lambda xs=xs: fast(*xs))
            assert is_alike(got, want), f"{xs}: {got}, and generic {want}"
            assert all(np.array_equal(a, b) for a, b in zip(xs, before, strict=True))
    return bool(testing.programs(f))


@pytest.mark.parametrize("f", ARRAYS, ids=lambda f: f.__name__)
def test_of_an_array(f):
    assert agree(f, (X,), (-X,), (X * 0.0,), (X.astype(np.float32),), (X[:1],), (X.reshape(2, 3),))
    with np.errstate(all="ignore"):
        found = jacobian(f)(X + 0.01)
        for i, column in enumerate(np.eye(6) * 1e-6):
            slope = (f(X + 0.01 + column) - f(X + 0.01 - column)) / 2e-6
            tolerance = 1e-1 if f is shorter else 1e-6
            np.testing.assert_allclose(found[..., i], slope, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("f", [rotation, of_a_number], ids=lambda f: f.__name__)
def test_of_a_number(f):
    assert agree(f, (0.3,), (-1.5,), (2,), (np.float64(0.7),), (np.array(0.7),))


def test_of_another_argument():
    def f(a, x, b):
        return a * np.sin(x) + b * x[0]

    assert agree(f, (0.3, X, 2), (0.5, X, 2.0), (X, X, X), argnums=1)
    assert agree(f, (0.3, X, 2), (0.5, X, 2.0), argnums=0)
    assert agree(f, (X, X, X), argnums=-1)


def test_of_methods_and_keywords():
    class Model:
        def __init__(self, a):
            self.a = a

        def predict(self, x, scale=1.0):
            return np.tanh(self.a @ x) * scale

    model = Model(A)
    for kws in ({}, {"scale": 2.0}):
        with generic_only():
            want = jacobian(model.predict)(X, **kws)
        for _ in range(4):
            assert is_alike(jacobian(model.predict)(X, **kws), want)
    with generic_only():
        want = jacobian(Model.predict, 1)(model, X, 2.0)
    for _ in range(4):
        assert is_alike(jacobian(Model.predict, 1)(model, X, 2.0), want)


def test_what_is_refused():
    for f in (lambda x: [x[0], x[1]], lambda x: x * 1j, lambda x: None, lambda x: "text"):
        assert not agree(f, (X,))
    assert agree(lambda x: x * x, (X,), ([1.0, 2.0],), (None,), ("text",))


def test_what_raises():
    def f(x):
        if x[0] < 0:
            raise ValueError("negative")
        return x[: int(len(x) - 1)] * x[1:]

    agree(f, (X,), (-X,), (X[:0],))


def test_of_a_gradient():
    agree(grad(lambda x: np.sum(x**3)), (X,), (X[:2],))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(10))
def test_random_program(seed):
    text = place_programs.program(seed, lists=False)
    text = text.replace("return s + t", "return y * s + z * t")
    f = place_programs.load(text, f"jacobian {seed}")
    choices = place_programs.arguments(seed, lists=False)
    if outcome(lambda: f(*choices[0]))[0] != "error":
        agree(f, *choices)
        agree(f, *choices, argnums=1)
