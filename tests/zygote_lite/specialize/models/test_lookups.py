"""What library code asks of Python's own tables: registries, modules, caches, bound methods."""

import functools
import inspect
import math
import sys
import types

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import testing, value_and_grad

A = np.array


def slope_of(f, x):
    return (f(x + 1e-6) - f(x - 1e-6)) / 2e-6


def assert_transformed(f, x):
    testing.forget(f)
    with testing.transformed_only():
        y, d = value_and_grad(f)(x)
    assert y == f(x)
    assert d == pytest.approx(slope_of(f, x), rel=1e-6)


def test_a_registry_by_classes_is_looked_up_in_at_each_entry():
    scales = {float: 2.0, int: 3.0, str: 5.0}
    functions = {math.sin: math.cos, math.cos: math.sin}

    def f(x):
        y = x * scales[float] * functions[math.sin](x)
        if list in scales:
            y = y * x
        return y + x * scales.get(tuple, 1.0)

    assert_transformed(f, 1.5)
    scales[float] = 7.0
    assert value_and_grad(f)(1.5)[1] == pytest.approx(slope_of(f, 1.5))
    scales[list] = 1.0
    assert value_and_grad(f)(1.5)[1] == pytest.approx(slope_of(f, 1.5))
    scales[tuple] = 4.0
    assert value_and_grad(f)(1.5)[1] == pytest.approx(slope_of(f, 1.5))
    del scales[list]
    functions[math.sin] = math.exp
    for _ in range(3):
        assert value_and_grad(f)(1.5)[1] == pytest.approx(slope_of(f, 1.5))


def test_a_key_that_is_not_there():
    table = {float: 1.0, 2: 3.0}

    def f(x):
        try:
            return x * table[int]
        except KeyError:
            return x * x

    assert_transformed(f, 1.5)
    table[int] = 2.0
    assert [value_and_grad(f)(1.5) for _ in range(3)] == [(3.0, 2.0)] * 3


def test_modules():
    def f(x):
        y = x * 2.0 if "no_such_module" in sys.modules else x * x
        if getattr(sys.modules["math"], "no_such_name", None) is None and hasattr(math, "sin"):
            y = y * getattr(math, "tau")
        try:
            sys.modules["no_such_module"]
        except KeyError:
            y = y + x
        return y * (sys.version_info >= (3, 8)) * hasattr(x, "real")

    assert_transformed(f, 1.5)
    sys.modules["no_such_module"] = types.ModuleType("no_such_module")
    try:
        for _ in range(3):
            assert value_and_grad(f)(1.5)[1] == pytest.approx(2.0 * math.tau)
    finally:
        del sys.modules["no_such_module"]
    assert value_and_grad(f)(1.5)[1] == pytest.approx(slope_of(f, 1.5))


STATE = {"calls": 0, "scale": 2.0}


@functools.lru_cache
def settings(kind, name):
    STATE["calls"] += 1
    return name, STATE["scale"], kind is float


def test_what_a_cache_keeps():
    def f(x):
        name, scale, is_float = settings(float, "a")
        return x * scale * len(name) if is_float else x

    settings.cache_clear()
    STATE.update(calls=0, scale=2.0)
    for _ in range(4):
        assert value_and_grad(f)(1.5) == (3.0, 2.0)
    assert testing.why_recorded(f, 1.5) is None
    assert STATE["calls"] == 1
    STATE["scale"] = 5.0  # which the cache does not see
    assert value_and_grad(f)(1.5) == (3.0, 2.0)
    settings.cache_clear()
    for _ in range(4):
        assert value_and_grad(f)(1.5) == (7.5, 5.0)
    assert STATE["calls"] == 2


class Model:
    def __init__(self, scale):
        self.scale = scale

    def value(self, x, *more, power=2):
        return self.scale * x**power + sum(more, 0.0)

    def other(self, x):
        return x * self.scale


def test_a_bound_method_from_outside():
    model = Model(3.0)
    held = [model.value]
    g = model.value

    def f(x):
        return g(x) * held[0](x, x, power=3)

    assert_transformed(f, 1.5)
    model.scale = 5.0
    assert value_and_grad(f)(1.5)[1] == pytest.approx(slope_of(f, 1.5))
    held[0] = Model(2.0).value
    assert value_and_grad(f)(1.5)[1] == pytest.approx(slope_of(f, 1.5))
    g = Model(2.0).other
    held[0] = model.value
    for _ in range(3):
        assert value_and_grad(f)(1.5)[1] == pytest.approx(slope_of(f, 1.5))


def test_a_bound_method_whose_function_is_replaced(monkeypatch):
    g = Model(3.0).value

    def f(x):
        return g(x) * x

    assert_transformed(f, 1.5)
    monkeypatch.setattr(Model, "value", Model.other)  # `g` stays what it is
    assert value_and_grad(f)(1.5)[1] == pytest.approx(slope_of(f, 1.5))
    assert value_and_grad(f)(1.5)[0] == 3.0 * 1.5**3


def placed(x, mask):
    y = np.zeros(4)
    np.place(y, mask, x[mask.astype(bool)] * x[0])
    np.putmask(y, 1 - mask, -1.0)
    return np.sum(y * x)


@pytest.mark.parametrize("mask", [A([1, 0, 1, 1]), A([1, 0, 1, 1]) > 0, A([0, 0, 0, 0])])
def test_places_of_a_mask(mask):
    def f(x):
        return placed(x, mask.astype(int))

    x = A([1.0, 2.0, 3.0, 4.0])
    testing.forget(f)
    with testing.transformed_only(), testing.compared():
        _, d = value_and_grad(f)(x)
    ((_, wanted, _),) = slopes(f, (x,))
    np.testing.assert_allclose(d, wanted, rtol=1e-6, atol=1e-9)


def repeated(x):
    y = np.zeros(4)
    np.place(y, A([True, False, True, True]), x[:2])  # which is repeated
    return np.sum(y * x)


def test_places_of_fewer_values():
    x = A([1.0, 2.0, 3.0, 4.0])
    assert_agreement(repeated, (x,))
    ((_, wanted, _),) = slopes(repeated, (x,))
    np.testing.assert_allclose(value_and_grad(repeated)(x)[1], wanted, rtol=1e-6)


def turned(x):
    q = round(x / 90.0)
    return math.sin(math.radians(x - 90 * q)) * (1.0 + q) + float(round(x)) * 0.5


def test_rounded_to_a_whole_number():
    for x in (100.3, 10.2, 200.1):
        assert_transformed(turned, x)
    assert assert_agreement(turned, (100.3,), (10.2,), (np.float64(200.1),))


def test_an_attribute_that_a_class_gets_and_loses():
    class Plain:
        rate = 2.0

    class Derived(Plain):
        pass

    def f(x):
        y = x * 3.0 if hasattr(Derived, "slope") else x
        y = y * (5.0 if hasattr(float, "imag") and not hasattr(np.ndarray, "slope") else 7.0)
        return y * getattr(Derived, "rate", 1.0) + x * getattr(Derived, "slope", 0.5)

    assert_transformed(f, 0.5)
    expected = [5.0 * 2.0 + 0.5]
    for change, slope in (
        (lambda: setattr(Plain, "slope", 11.0), 3.0 * 5.0 * 2.0 + 11.0),
        (lambda: setattr(Plain, "slope", 13.0), 3.0 * 5.0 * 2.0 + 13.0),
        (lambda: delattr(Plain, "rate"), 3.0 * 5.0 * 1.0 + 13.0),
        (lambda: setattr(Derived, "rate", 4.0), 3.0 * 5.0 * 4.0 + 13.0),
        (lambda: delattr(Plain, "slope"), 5.0 * 4.0 + 0.5),
    ):
        assert value_and_grad(f)(0.5) == (f(0.5), pytest.approx(expected[-1]))
        change()
        for _ in range(4):
            assert value_and_grad(f)(0.5) == (f(0.5), pytest.approx(slope))
        expected.append(slope)


def test_a_decorator_asks_for_the_parameters_of_its_function():
    def with_names(f):
        @functools.wraps(f)
        def wrapper(*args, **options):
            told = inspect.getfullargspec(f)
            names = list(inspect.signature(f).parameters)
            if len(args) > len(told.args) and not told.varargs:
                raise TypeError("too many")
            given = {**dict(zip(names, args, strict=False)), **options}
            return f(**given) * len(names) + (2.0 if "w" in told.kwonlyargs else 1.0) * args[0]

        return wrapper

    def product(x, y=2.0, *, w=3.0):
        return x * y * w

    def other(x, *, scale=5.0):
        return x * x * scale

    f = with_names(product)
    assert_transformed(lambda x: f(x, w=1.5), 0.5)
    for _ in range(3):  # other parameters from now on
        assert value_and_grad(f)(0.5) == (10.0, 20.0)
    product.__code__, product.__kwdefaults__ = other.__code__, other.__kwdefaults__
    for _ in range(3):
        assert value_and_grad(f)(0.5) == (3.0, 11.0)
    product.__signature__ = inspect.signature(lambda x, more=1, most=2: x)
    for _ in range(3):
        assert value_and_grad(f)(0.5) == (4.25, 16.0)


def test_an_attribute_of_a_class_whose_metaclass_computes_it():
    class Meta(type):
        def __getattr__(cls, name):
            return 3.0 if name == "slope" else super().__getattr__(name)

    class Computed(metaclass=Meta):
        pass

    class Gives:
        def __get__(self, x, kind):
            raise AttributeError

    class Refusing:
        slope = Gives()

    def f(x):
        return x * x * (2.0 if hasattr(Computed, "slope") else 1.0)

    def g(x):
        return x * x * (2.0 if hasattr(Refusing, "slope") else 1.0)

    for _ in range(4):
        assert value_and_grad(f)(0.5) == (0.5, 2.0)
        assert value_and_grad(g)(0.5) == (0.25, 1.0)
