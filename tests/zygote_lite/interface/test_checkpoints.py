"""`checkpoint`: the same gradient, by running the function again in the reverse pass."""

import contextlib
import math
import random
import time
import tracemalloc

import numpy as np
import pytest

from rulescore import RuleSet
from tests.zygote_lite.checks.comparing import assert_close
from zygote_lite import checkpoint, grad, gradient, hvp, jvp, testing, value_and_grad, vjp
from zygote_lite.errors import DifferentiationError

X, Y = np.array([0.3, 0.4, 0.5]), np.array([0.6, -0.8, 1.0])
generator, log, count = np.random.default_rng(0), [], 0


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return {"y": self.w * x, "x": [x]}


def layer(w, x):
    return np.tanh(w * x)


def chain(mark):
    step = mark(layer)

    def f(w, x):
        for _ in range(3):
            x = step(w, x)
        return np.sum(x)

    return f


def of_an_object(mark):
    return lambda w, x: np.sum(mark(Layer(w))(x)["y"] ** 2)


def of_a_closure(mark):
    def f(w, x):
        g = mark(lambda v: v * w + w[0])
        return np.sum(g(x) * g(w))

    return f


def nested(mark):
    inner = mark(lambda w, x: (np.sin(w * x), w))
    outer = mark(lambda w, x: inner(w, x)[0] * inner(x, w)[1])
    return lambda w, x: np.sum(outer(w, x))


def written_later(mark):
    def f(w, x):
        v = w * 1.0
        y = mark(layer)(v, x)
        z = mark(lambda u: u * v)(x)
        v[0] = 5 * x[1]
        return np.sum(y * v * z)

    return f


def written_inside(mark):
    def g(w, x):
        y = np.zeros(3)
        for i in range(3):
            y[i] = w[i] * x[i] ** 2
        return y

    return lambda w, x: np.sum(mark(g)(w, x) * w)


def by_name(mark):
    return lambda w, x: np.sum(mark(layer)(w, x=x))


def unused(mark):
    return lambda w, x: np.sum(w * x) + 0.0 * len(mark(layer)(w, x))


@pytest.mark.parametrize("make", [chain, of_an_object, of_a_closure, nested, written_later,
                                  written_inside, by_name, unused])  # fmt: skip
def test_the_gradient_is_that_of_the_function_itself(make):
    f, plain = make(checkpoint), make(lambda g: g)
    for xs in [(X, Y)] * 3 + [(Y, X)]:
        assert_close(value_and_grad(f, (0, 1))(*xs), value_and_grad(plain, (0, 1))(*xs), 1e-12)
    product = hvp(plain)(X, Y, Y)
    assert_close(hvp(f)(X, Y, Y), product, 1e-10)


class Cubic:
    def __init__(self, k):
        self.k = k

    @checkpoint
    def __call__(self, x):
        return self.k * x**3

    @checkpoint
    def method(self, x, power=3):
        return self.k * x**power

    @classmethod
    @checkpoint
    def of_class(cls, k, x):
        return k * x**3

    @staticmethod
    @checkpoint
    def static(k, x):
        return k * x**3


DECORATED = {
    "call": lambda c, x: c(x), "method": lambda c, x: c.method(x), "unbound": Cubic.method,
    "by name": lambda c, x: c.method(x, power=3), "static": lambda c, x: c.static(c.k, x),
    "of a class": lambda c, x: Cubic.of_class(c.k, x),
}  # fmt: skip


@pytest.mark.parametrize("name", DECORATED)
def test_it_decorates_methods(name):
    f = DECORATED[name]
    for _ in range(4):
        dc, dx = gradient(f, Cubic(2.0), 0.5)
        assert (dc.k, dx) == (0.125, 1.5)
        assert jvp(f, (Cubic(2.0), 0.5), (None, 1.0)) == (0.25, 1.5)
        assert grad(grad(f, 1), 1)(Cubic(2.0), 0.5) == 6.0


def test_what_it_calls_is_transformed():
    def inner(x):
        return x * math.sin(x)

    f = checkpoint(inner)
    for x in (0.1, 0.2, 0.3, 0.4, 0.5):
        assert gradient(lambda v: f(v) * v, x)[0] == pytest.approx(
            grad(lambda v: inner(v) * v)(x), rel=1e-12
        )
    assert testing.programs(inner, "as a rule")


def prints(x):
    print(x)
    return x * x


def draws(x):
    return x * generator.normal()


def draws_globally(x):
    return x * np.random.rand()


def draws_in_python(x):
    return x * random.random()


def asks_for_the_time(x):
    return x * time.time()


def appends(x):
    log.append(1.0)
    return x * x


def appends_to_a_default(x, seen=[]):
    seen.append(x)
    return x * x


def counts(x):
    global count
    count += 1
    return x * x


def calls_another(x):
    return prints(x) + 1.0


class Dropout:
    def __init__(self):
        self.generator = np.random.default_rng(0)

    def __call__(self, x):
        return x * self.generator.normal()


def counts_in_a_dict(x, seen={"n": 0}):
    seen["n"] += 1
    return x * x


class Counted:
    calls = 0

    def __init__(self):
        self.calls = 0

    def by_class(self, x):
        Counted.calls += 1
        return x * x

    def by_type(self, x):
        type(self).last = x
        return x * x

    def of_itself(self, x):
        self.calls += 1
        return x * x


running, buffer, seen, rest = np.zeros(2), bytearray(), set(), iter([1.0, 2.0, 3.0])


def writes_into_an_array(x):
    running[0] += 1.0
    return x * x


def writes_by_out(x):
    np.add(running, 1.0, out=running)
    return x * x


def fills_a_buffer(x):
    buffer.append(1)
    return x * x


def adds_to_a_set(x):
    seen.add(len(seen))
    return x * x


def takes_from_an_iterator(x):
    next(rest)
    return x * x


def of_an_enclosing_variable(x):
    k = 0.0

    def g(v):
        nonlocal k
        k += 1.0
        return v * k

    return checkpoint(g)(x)


@pytest.mark.parametrize(
    "f",
    [prints, draws, draws_globally, draws_in_python, asks_for_the_time, appends,
     appends_to_a_default, counts, counts_in_a_dict, calls_another, Dropout(), Counted().by_class,
     Counted().by_type, Counted().of_itself, writes_into_an_array, writes_by_out, fills_a_buffer,
     adds_to_a_set, takes_from_an_iterator, of_an_enclosing_variable],
    ids=lambda f: getattr(f, "__name__", "object"),
)  # fmt: skip
def test_effects_are_refused(f, capsys):
    with pytest.raises(DifferentiationError, match=r"run again in the reverse pass, and"):
        gradient(f if f is of_an_enclosing_variable else checkpoint(f), 2.0)
    assert capsys.readouterr().out == ""


def test_what_changes_its_argument_is_refused():
    def f(x):
        x[0] = 1.0
        return np.sum(x * x)

    words = r"f is run again in the reverse pass, and changes what it captured or was given.*ZL028"
    g = checkpoint(f)
    for derivative in (grad(lambda x: g(x * 1.0)), grad(lambda x: np.sum(grad(g)(x) * x))):
        with pytest.raises(DifferentiationError, match=words):
            derivative(X)


def test_another_value_in_the_reverse_pass_is_refused():
    scale = {"by": 2.0}
    f = checkpoint(lambda x: x * scale["by"])

    def g(x):
        y = f(x)
        scale["by"] = 3.0
        return y

    assert gradient(g, 2.0) == (2.0,)  # the reverse pass undoes the change before
    _, back = vjp(f, 2.0)
    assert back(1.0) == (3.0,)
    scale["by"] = 4.0
    with pytest.raises(DifferentiationError, match="another value"):
        back(1.0)
    assert repr(f).startswith("checkpoint(")


def test_a_rule_that_asks_for_the_engine_wins_over_the_source():
    def twice(x):
        return 2 * x

    rules = RuleSet("asks")

    @rules(twice)
    def _(x: float, *, ad):
        _, back = ad(lambda v: v * v, x)
        return 2 * x, lambda dy: (back(dy)[1],)

    rules.register()
    try:
        for x in (3.0, 3.0, 3.0, 4.0):  # transformed code would differentiate the source
            assert gradient(twice, x) == (2 * x,)
            assert gradient(lambda v: twice(v) * 5.0, x) == (10 * x,)
    finally:
        rules.unregister()


def test_memory_is_that_of_one_part():
    w = np.full(20_000, 0.9)

    def peak(step):
        def f(w):
            x = w
            for _ in range(8):
                x = step(x)
            return np.sum(x)

        gradient(f, w[:2])
        tracemalloc.start()
        with testing.recorded_only():
            gradient(f, w)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most / w.nbytes

    def step(x):
        for _ in range(4):
            x = np.sin(x) * x
        return x

    assert peak(checkpoint(step)) < 0.5 * peak(step)


@pytest.mark.parametrize("is_checked", [False, True])
def test_forward_mode_goes_over_nested_checkpoints_that_have_code(is_checked, monkeypatch):
    monkeypatch.setattr("zygote_lite._activity.walk.CHECKED", is_checked)
    inside = checkpoint(lambda u: np.sum(np.sin(u) ** 2))
    nested, x, v = checkpoint(lambda x: inside(x * 2) * x[0]), np.array([0.3, 0.4]), np.ones(2)

    def plain(x):
        return np.sum(np.sin(x * 2) ** 2) * x[0]

    for _ in range(4):
        grad(nested)(x)
    with testing.compared() if is_checked else contextlib.nullcontext():
        np.testing.assert_allclose(jvp(nested, (x,), (v,)), jvp(plain, (x,), (v,)))
        np.testing.assert_allclose(hvp(nested)(x, v), hvp(plain)(x, v))


class Written:
    shared = 1.0

    def __init__(self):
        self.w = 1.0

    def of(self, y):
        return y * y * self.w


written, entries, memory = Written(), {"w": 1.0}, np.zeros(2)


def assigning(x):
    written.w = entries["w"] = memory[0] = Written.shared = x


BY_NAME = {
    "attribute": lambda y: y * y * written.w,
    "entry": lambda y: y * y * entries["w"],
    "array": lambda y: y * y * memory[0],
    "class": lambda y: y * y * Written.shared,
    "method": lambda y: written.of(y),
}


@pytest.mark.parametrize("g", BY_NAME.values(), ids=BY_NAME)
def test_what_is_read_by_name_may_not_hold_what_is_differentiated(g):
    def f(x):
        assigning(x)
        return checkpoint(g)(x)

    for _ in range(4):
        with pytest.raises(DifferentiationError, match="reads a variable that was given"):
            value_and_grad(f)(1.5)
        with pytest.raises(DifferentiationError, match="reads a variable that was given"):
            jvp(f, (1.5,), (1.0,))


def test_what_is_held_may_hold_what_is_differentiated():
    def f(x):
        assigning(1.0)
        own = Written()
        own.w = x
        return checkpoint(own.of)(x) + checkpoint(lambda y: y * own.w * written.w)(x)

    for _ in range(4):
        assert value_and_grad(f)(1.5) == (1.5**3 + 1.5**2, 3 * 1.5**2 + 2 * 1.5)


def test_what_is_run_again_may_call_itself_as_deep_as_in_python():
    def power(x, n=300):
        return x if n == 0 else power(x, n - 1) * x

    x = 1.001
    value, slope = value_and_grad(checkpoint(power))(x)
    np.testing.assert_allclose((value, slope), (x**301, 301 * x**300))


class Held:
    pass


def of_an_entry(x, y):
    held = [x]
    step = checkpoint(lambda v: v * held[0] ** 2)
    value = step(y)
    held[0] = y
    return value * y


def of_an_attribute(x, y):
    held = Held()
    held.x = x
    step = checkpoint(lambda v: v * held.x**2)
    value = step(y)
    held.x = y
    return value * y


@pytest.mark.parametrize("f", [of_an_entry, of_an_attribute])
def test_a_container_that_is_changed_later_is_refused_in_a_gradient_of_a_gradient(f):
    for _ in range(3):  # x²y²
        assert gradient(f, 1.5, 2.0) == (12.0, 9.0)
        assert jvp(f, (1.5, 2.0), (1.0, 0.0)) == (9.0, 12.0)
    for second in (
        lambda: jvp(grad(f, 1), (1.5, 2.0), (1.0, 0.0)),
        lambda: hvp(f)(1.5, 2.0, 1.0),
        lambda: jvp(lambda x: jvp(f, (x, 2.0), (1.0, 0.0))[1], (1.5,), (1.0,)),
    ):
        with pytest.raises(DifferentiationError, match="that is changed later"):
            second()


def test_an_array_that_is_changed_later_is_not():
    def f(x, y):
        held = np.array([x, x])
        value = checkpoint(lambda v: v * held[0] ** 2)(y)
        held[0] = y
        return value * y

    assert jvp(grad(f, 1), (1.5, 2.0), (1.0, 0.0)) == (9.0, 12.0)


def test_active_defaults_of_what_is_called_are_refused():
    def loss(k):
        def scaled(x, k=k):
            return k * x

        return checkpoint(lambda x: scaled(x))(2.0)

    for _ in range(3):
        with pytest.raises(DifferentiationError, match="has defaults through which a gradient"):
            gradient(loss, 3.0)
