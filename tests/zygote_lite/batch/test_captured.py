"""Gradients around `vmap(grad(f))` of a loss that captures functions, integers and containers."""

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import jacobian_by_differences
from zygote_lite import explain, grad, vmap

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


def by_loop(f):
    return lambda batch: np.stack([f(x) for x in batch])


@pytest.mark.parametrize("f", [of_network, of_functions, of_integers, of_appending])
def test_around(f):
    def total(w, each=vmap):
        return np.sum(np.sin(f(w, each)))

    assert_close(f(1.3, vmap), f(1.3, by_loop))
    given, due = grad(total)(1.3), grad(lambda w: total(w, by_loop))(1.3)
    assert_close(given, due)
    assert_close(given, jacobian_by_differences(total, (1.3,)))
    assert ("a loop" in str(explain(grad(total), 1.3))) == (f is of_appending)
