"""Specialized code for functions that are called by keyword, as methods, or through `partial`."""

import functools
import inspect
import warnings

import numpy as np
import pytest

from rulescore import RuleSet
from tests.zygote_lite.checks.oracles import generic_only, is_alike, is_specialized, outcome
from zygote_lite import grad, gradient, hvp, testing, value_and_grad

X = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
Y = np.array([0.5, -0.2, 0.1, 0.9])
W = np.array([0.3, -0.4, 0.2])


def loss(w, x, y, scale=2.0, shift=0.1):
    d = x @ w - y
    return scale * np.sum(d * d) + shift * w[0]


def positional_only(w, rate=2.0, /, shift=0.1):
    return np.sum(w * w) * rate + shift * w[0]


def by_name_alone(w, *, rate=2.0):
    return np.sum(w * w) * rate


class Model:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def loss(self, w, rate=0.1):
        d = self.x @ w - self.y
        return np.sum(d * d) + rate * np.sum(w * w)

    def __call__(self, w, rate=0.5):
        return self.loss(w, rate)

    @classmethod
    def of_class(cls, w):
        return np.sum(w * w)

    @staticmethod
    def static(w, rate=3.0):
        return np.sum(w * w) * rate


def agree(differentiate, *calls, times=4):
    """Assert that each call gives what the tape gives, again and again."""
    fast = differentiate()
    for _ in range(times):
        for xs, kws in calls:
            with generic_only():
                want = outcome(lambda xs=xs, kws=kws: differentiate()(*xs, **kws))
            got = outcome(lambda xs=xs, kws=kws: fast(*xs, **kws))
            assert is_alike(got, want), f"{xs}, {kws}: {got}, and generic {want}"


def test_keywords():
    agree(lambda: value_and_grad(loss), ((W,), {"x": X, "y": Y}), ((W,), {"y": Y, "x": X}),
          ((W, X), {"y": Y}), ((W, X, Y), {"shift": 0.7}), ((W, X, Y), {"scale": 3.0}),
          ((W, X, Y, 2.5), {"shift": 0.7}), ((W * 2.0,), {"x": X * 0.5, "y": Y}))  # fmt: skip
    assert is_specialized(loss)
    agree(lambda: grad(loss, (0, 1)), ((W, X), {"y": Y}), ((W, X), {"y": Y, "shift": 1.0}))


def test_what_python_refuses():
    agree(lambda: value_and_grad(loss), ((W,), {"x": X}), ((W,), {"x": X, "y": Y, "z": 1.0}),
          ((W,), {"x": X, "y": Y, "w": W}), ((), {"w": W, "x": X, "y": Y}))  # fmt: skip
    agree(lambda: value_and_grad(positional_only), ((W,), {"rate": 3.0}), ((W,), {"shift": 3.0}),
          ((W, 1.5), {"shift": 3.0}))  # fmt: skip


def test_defaults_are_those_of_the_call():
    def f(w, rate=2.0, shift=0.1):
        return np.sum(w * w) * rate + shift * w[0]

    differentiated = value_and_grad(f)
    for rate in (2.0, 3.0, 3):
        f.__defaults__ = (rate, 0.1)
        for _ in range(3):
            value, d = differentiated(W, shift=1.0)
            assert value == pytest.approx(np.sum(W * W) * rate + W[0])
            np.testing.assert_allclose(d, 2 * W * rate + [1.0, 0.0, 0.0])


def test_options_by_name_alone():
    agree(lambda: value_and_grad(by_name_alone), ((W,), {"rate": 3.0}), ((W,), {}))


def test_partial():
    by_name = functools.partial(loss, x=X, y=Y)
    agree(lambda: value_and_grad(by_name), ((W,), {}), ((W,), {"scale": 0.5}), ((W,), {"x": X + 1}))
    first = functools.partial(lambda x, w, y: np.sum((x @ w - y) ** 2), X)
    agree(lambda: value_and_grad(first, (0, 1)), ((W, Y), {}), ((W,), {"y": Y * 2.0}))
    agree(lambda: hvp(first), ((W, Y, np.ones(3)), {}))
    agree(lambda: lambda w, y: gradient(first, w, y), ((W, Y), {}), ((W + 1.0, Y), {}))
    assert is_specialized(first.func)


def test_a_new_partial_has_its_own_arguments():
    def differentiate(scale):
        return value_and_grad(functools.partial(loss, x=X, y=Y, scale=scale))(W)

    for scale in (1.0, 2.0, 3.0, 4.0, 5.0):
        with generic_only():
            want = differentiate(scale)
        assert is_alike(differentiate(scale), want)


def test_methods():
    model = Model(X, Y)
    agree(lambda: value_and_grad(model.loss), ((W,), {}), ((W,), {"rate": 0.3}), ((W, 2.0), {}))
    agree(lambda: value_and_grad(model), ((W,), {}), ((W,), {"rate": 0.3}))
    agree(lambda: value_and_grad(Model.of_class), ((W,), {}))
    agree(lambda: value_and_grad(Model.static), ((W,), {}), ((W,), {"rate": 0.3}))
    agree(lambda: value_and_grad(Model.loss, 1), ((model, W), {}))
    agree(lambda: value_and_grad(functools.partial(model.loss, rate=0.7)), ((W,), {}))


def test_what_a_model_holds_may_change():
    model = Model(X, Y)
    differentiated = value_and_grad(model.loss)
    for x in (X, X, X, X * 2.0, X.astype(np.float32), X[:2]):
        model.x, model.y = x, Y[: len(x)]
        with generic_only():
            want = value_and_grad(model.loss)(W)
        assert is_alike(differentiated(W), want)


def test_another_method_of_the_same_name():
    model = Model(X, Y)
    differentiated = value_and_grad(model)
    for _ in range(3):
        differentiated(W)
    model.loss = lambda w, rate: np.sum(w) * rate
    np.testing.assert_allclose(differentiated(W)[1], [0.5, 0.5, 0.5])


@pytest.mark.parametrize("kws", [{"y": 3.0}, {}], ids=["by name", "left out"])
def test_a_rule_answers_first(kws):
    def f(x, y=3.0):
        return x * y

    rules = RuleSet("of a script")

    @rules(f)
    def _(x: float, *, y: float = 3.0):
        return x * y, lambda d: (7.0 * d,)

    for g in (f, functools.partial(f, y=3.0)):
        differentiated = value_and_grad(g)
        for _ in range(4):
            assert differentiated(2.0, **kws) == (6.0, 3.0)
        rules.register()
        try:
            for _ in range(4):
                assert differentiated(2.0, **kws) == (6.0, 7.0)
        finally:
            rules.unregister()
        assert differentiated(2.0, **kws) == (6.0, 3.0)


def test_signatures_are_kept():
    assert inspect.signature(value_and_grad(loss)) == inspect.signature(loss)


def warned(x, n):
    y = x * 2.0
    if n > 4:
        warnings.warn(f"{n} is many", stacklevel=2)
        y = y * x
    return y * x


def test_a_warning_is_given_once_and_by_the_tape():
    for n, expected in ((2, []), (6, ["6 is many"])) * 3:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            d = grad(warned)(0.5, n)
        assert d == pytest.approx(3 * 2.0 * 0.25 if n > 4 else 2.0)
        assert [str(warning.message) for warning in caught] == expected
    assert testing.why_recorded(warned, 0.5, 2, argnums=0) is None


def by_shape(v):
    shape = v.shape
    if shape == ():
        shape = (1,)
    return np.sum(v * v) * shape[0] + len(shape) + (v[0] if v.shape != (4, 4) else 0.0)


def test_tuples_of_different_lengths_are_different():
    v = np.array([0.5, 0.6, 0.7])
    assert testing.why_recorded(by_shape, v) is None
    np.testing.assert_allclose(grad(by_shape)(v), 6.0 * v + np.array([1.0, 0.0, 0.0]))


def test_a_rule_for_functions_answers_for_functions_defined_inside(rules):
    def at_two(f):
        return f(2.0)

    @rules(at_two)
    def _(f: object, *, ad):
        y, back = ad(f, 2.0)
        return y, lambda dy: (back(10.0 * dy)[0],)  # another than the source gives

    def named(c):
        def scaled(x):
            return c * x

        return at_two(scaled)

    for model in (lambda c: at_two(lambda x: c * x), named):
        for _ in range(4):  # on the tape, then by transformed code, if it made any
            assert gradient(model, 3.0) == (20.0,)


called = []


@functools.wraps(np.multiply)
def cubed(x, y, out=None):
    if out is not None:
        out[0] = 5.0 * x[0]
    return x * y * y


@functools.wraps(np.sum)
def counted(n):
    called.append(n)
    return float(len(called))


def with_an_out_of_its_own(x):
    out = np.zeros(2)
    return np.sum(cubed(x, x, out=out)) + out[0] + np.sum(cubed(x, x, out)) + out[0]


def counted_twice(x):
    counted(0)
    return np.sum(x * x) * (counted(1) + counted(2))


class Named:
    def __class_getitem__(cls, name):
        called.append(name)
        return float(len(called))


def item_of_a_class(x):
    return np.sum(x * x) * (Named["a"] + Named["b"])


@pytest.mark.parametrize("f", [with_an_out_of_its_own, counted_twice, item_of_a_class])
def test_what_a_function_does_is_told_by_its_code(f):
    x = np.array([1.5, 2.0])
    called.clear()
    y, calls = f(x), [*called]
    slope = 6 * x**2 + [10.0, 0.0] if f is with_an_out_of_its_own else 2 * x * (y / np.sum(x * x))
    for _ in range(5):
        called.clear()
        got, d = value_and_grad(f)(x)
        assert got == y
        assert d == pytest.approx(slope)
        assert called == calls
