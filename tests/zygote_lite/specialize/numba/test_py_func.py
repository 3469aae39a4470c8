"""Functions that Numba has compiled are differentiated by their Python, on both ways."""

import math

import numpy as np
import pytest

from rulescore import RuleSet
from zygote_lite import NoRuleError, grad, jacobian, testing

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


@numba.vectorize
def stepped(x, k):
    if x < k:
        return 1  # an integer: the first entry does not decide what the others are
    return x * x * math.sqrt(x)


ON_ENTRIES = {
    "numbers": (lambda x: stepped(x[1], 1.5) * stepped(x[0], x[1] - 2.0), True),
    "an array": (lambda x: np.sum(stepped(np.sort(x), 0.7) * x), False),
    "broadcast": (lambda x: np.sum(np.cos(x) * stepped(x[:, None], x)), False),
    "none": (lambda x: np.sum(stepped(x[:0], x[0])) + x[1], False),
    "out": (lambda x: (lambda out: stepped(x, 0.7, out=out) @ out)(np.empty(3)), False),
}


@pytest.mark.parametrize("name", ON_ENTRIES)
def test_vectorized_functions_are_called_for_each_entry(name):
    f, is_transformed = ON_ENTRIES[name]
    h = 1e-6
    want = [(f(X + h * e) - f(X - h * e)) / (2 * h) for e in np.eye(3)]
    with testing.recorded_only():
        np.testing.assert_allclose(grad(f)(X), want, rtol=1e-6)
    assert (testing.why_recorded(f, X) is None) == is_transformed
    np.testing.assert_allclose([grad(f)(X) for _ in range(3)][-1], want, rtol=1e-6)


def test_vectorized_functions_run_once_for_each_entry(capfd):
    @numba.vectorize
    def told(x):
        print("one")
        return x * x

    for _ in range(3):
        told(X)
        plain = capfd.readouterr().out
        np.testing.assert_allclose(grad(lambda x: np.sum(told(x)))(X), 2 * X)
        assert capfd.readouterr().out == plain == "one\n" * len(X)


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


def test_what_guvectorize_compiled_is_refused_plainly_and_its_python_is_differentiated():
    def plain(x, factor, out):
        for i in range(x.shape[0]):
            out[i] = factor * x[i] ** 2

    fast = numba.guvectorize(["(float64[:], float64, float64[:])"], "(n),()->(n)")(plain)

    def by_python(x):
        out = np.zeros(3)
        plain(x, 2.0, out)
        return np.sum(out)

    x = np.array([1.0, 2.0, 3.0])
    told = r"made of, which keeps its name by `fast = numba\.guvectorize\(\.\.\.\)\(plain\)`"
    for _ in range(3):
        with pytest.raises(NoRuleError, match=told):
            grad(lambda x: np.sum(fast(x, 2.0)))(x)
        np.testing.assert_allclose(grad(by_python)(x), 4.0 * x)
    assert by_python(x) == np.sum(fast(x, 2.0))


@numba.experimental.jitclass([("a", numba.float64)])
class Squared:
    def __init__(self, a):
        self.a = a

    def squared(self):
        return self.a * self.a


HELD = Squared(3.0)


def written(a):
    HELD.a = a
    return HELD.a


@pytest.mark.parametrize(
    ("f", "x", "name"),
    [
        (lambda a: Squared(a).a * 2.0, 2.0, "Squared"),
        (lambda s: s.squared(), Squared(2.0), r"Squared\.squared"),
        (lambda s: s.a * 2.0, Squared(2.0), r"Squared\.a"),
        (written, 2.0, r"Squared\.a"),
    ],
)
def test_an_object_of_a_jitclass_is_refused_by_its_name(f, x, name):
    told = (
        rf"test_py_func\.py:\d+: {name} has no rule, .* write a plain class, without .* \[ZL006\]$"
    )
    for _ in range(3):
        with pytest.raises(NoRuleError, match=told) as caught:
            grad(f)(x)
        assert "made of" not in str(caught.value)


def test_an_object_of_a_jitclass_that_is_constant_is_called():
    assert [grad(lambda x: x * Squared(3.0).squared())(2.0) for _ in range(3)] == [9.0] * 3
