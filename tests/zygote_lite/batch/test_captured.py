"""Gradients around `vmap(grad(f))` of a loss that captures functions, integers and containers."""

import functools
from typing import NamedTuple

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import jacobian_by_differences
from zygote_lite import explain, grad, value_and_grad, vmap

RNG = np.random.default_rng(0)
X, W = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 3))


def of_network(w, each):
    act, n = np.tanh, 2

    def loss(x):
        for _ in range(n):
            x = act(w * (W @ x))
        return np.sum(x**n)

    return each(grad(loss))(X)


def of_functions(w, each):
    def act(x):
        return np.tanh(w * x)

    layers, held, pair = [act, lambda x: x * w], {"act": act, "w": w, "n": 2}, (w, act)

    def loss(x):
        for i in range(held["n"]):
            x = layers[i](W @ x)
        for layer in layers:
            x = x + layer(x)
        return np.sum(held["act"](x) * pair[1](x) * pair[0] * held["w"])

    return each(grad(loss))(X)


def of_integers(w, each):
    n, rows = 3, [w, 2.0, 3.0]
    return each(grad(lambda x: np.sum(w * n * x[:n] ** (n - 1)) * rows[n - 1]))(X)


def of_appending(w, each):
    calls = []

    def f(x):
        calls.append(w)
        return np.sum(x) * w

    return each(f)(X) * len(calls) * calls[0]


class Shift:
    def __init__(self, by):
        self.by = by

    def added_to(self, x):
        return x + self.by


class Layer:
    def __init__(self, w):
        self.w, self.shift, self.rates, self.options = W * w, Shift(w), [w, 2.0], {"power": w}

    @property
    def scaled(self):
        return self.w * self.rates[0]

    def __call__(self, x):
        x = np.tanh(self.shift.added_to(self.w @ x)) * self.options["power"]
        return np.sum(x * (self.scaled @ x))

    def grown(self, x):
        self.rates.append(1.0)
        self.rates[1] = self.rates[1] * np.cos(self.w[0, 0])
        return np.mean(x) * len(self.rates) * self.rates[1] * 0.1


def of_objects(w, each):
    layer = Layer(w)
    inner = each(grad(lambda x: layer(x)))(X) + np.sum(each(layer)(X))
    return inner * np.sum(each(lambda x: layer.shift.added_to(x)[0])(X)) * 0.01


def of_partial(w, each):
    return each(functools.partial(lambda m, x, k: np.sum(np.tanh(m @ x)) * k, W, k=2.0))(X * w)


def of_moving_partial(w, each):
    held = functools.partial(lambda m, x, k: np.sum(np.tanh(m[0] @ x)) * k, [W * w], k=w)
    return each(functools.partial(held))(X) + each(grad(held))(X)[:, 0]


def of_growing(w, each):
    layer = Layer(w)
    return np.sum(each(layer.grown)(X)) + np.sum(each(lambda x: layer.grown(x))(X))


class Pair(NamedTuple):
    w: float
    power: float


def of_named_tuple(w, each):
    pair = Pair(w * w, 2.0)
    return each(lambda x: np.sum(np.tanh(W @ x) ** pair.power * pair.w))(X)


def by_loop(f):
    return lambda batch: np.stack([f(x) for x in batch])


WITH_LOOPS = [of_appending, of_growing]
CAPTURED = [of_network, of_functions, of_integers, of_objects, of_partial, of_moving_partial,
            of_named_tuple]  # fmt: skip
CAPTURED += WITH_LOOPS


@pytest.mark.parametrize("f", CAPTURED)
def test_around(f):
    def total(w, each=vmap):
        return np.sum(np.sin(f(w, each)))

    assert_close(f(1.3, vmap), f(1.3, by_loop))
    given, due = grad(total)(1.3), grad(lambda w: total(w, by_loop))(1.3)
    assert_close(given, due)
    assert_close(given, jacobian_by_differences(total, (1.3,)))
    assert ("a loop" in str(explain(grad(total), 1.3))) == (f in WITH_LOOPS)


def test_gradients_around_a_batch_whose_entries_are_made_arrays():
    def f(x):
        y = np.asarray(-x)
        if y.dtype.kind != "f":
            return 0.0
        return np.sum(np.array(y, dtype=np.float64) ** 2)

    rows = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
    np.testing.assert_array_equal(vmap(f)(rows), [14.0, 56.0])
    y, found = value_and_grad(lambda rows: np.sum(vmap(f)(rows)))(rows)
    assert y == 70.0
    np.testing.assert_array_equal(found, 2 * rows)
