"""Functions that Numba has compiled are differentiated by their Python, on both ways."""

import math

import numpy as np
import pytest

from rulescore import RuleSet
from zygote_lite import grad, jacobian, testing

numba = pytest.importorskip("numba")
X = np.array([1.0, 2.0, 0.5])


class Model:
    def __init__(self, f):
        self.f, self.scale = f, 2.0

    def loss(self, x):
        return self.f(x) * self.scale + np.sum(x)


def defined(compiled, in_parallel):
    """Return functions, compiled or not, and what they are called with."""

    @compiled
    def squares(x):
        s = 0.0
        for i in range(len(x)):
            s += x[i] ** 2
        return s

    @in_parallel
    def sines(x):
        out = np.empty_like(x)
        for i in numba.prange(x.shape[0]):
            out[i] = math.sin(x[i]) * squares(x)
        return out.sum()

    @compiled
    def updated(x, w):
        for i in range(len(w)):
            w[i] = w[i] * x[i]
        return np.sum(w**2)

    def writing(x):
        w = np.ones(3)
        return updated(x, w) + w[0]

    return {
        "itself": (squares, X),
        "called": (lambda x: squares(x * 2.0) * x[0], X),
        "in parallel": (sines, X),
        "writes": (writing, X),
        "in a method": (Model(sines).loss, X),
    }


COMPILED = defined(numba.njit, numba.njit(parallel=True, fastmath=True))
PLAIN = defined(lambda f: f, lambda f: f)


@pytest.mark.parametrize("name", COMPILED)
def test_gradients_are_those_of_the_python(name):
    (f, x), (plain, _) = COMPILED[name], PLAIN[name]
    h = 1e-6
    want = [(plain(x + h * e) - plain(x - h * e)) / (2 * h) for e in np.eye(3)]
    for mode in (testing.recorded_only, testing.transformed_only):
        with mode():
            for _ in range(2):
                np.testing.assert_allclose(grad(f)(x), want, rtol=1e-6)
    np.testing.assert_allclose(jacobian(f)(x), want, rtol=1e-6)


def test_a_rule_for_a_compiled_function_is_its_derivative():
    @numba.njit
    def f(x):
        return x * x

    rules = RuleSet("of a compiled function")

    @rules(f)
    def _(x: float):
        return x * x, lambda dy: (7.0 * dy,)

    assert [grad(f)(3.0) for _ in range(3)] == [6.0] * 3
    rules.register()
    try:
        assert [grad(f)(3.0) for _ in range(3)] == [7.0] * 3
        assert [grad(lambda x: f(x) * 2.0)(3.0) for _ in range(3)] == [14.0] * 3
    finally:
        rules.unregister()
