"""What is changed after a pullback has saved it, by code that no gradient passes through."""

import array
import contextlib
import ctypes
import heapq
import random

import numpy as np
import pytest

from rulescore import RuleSet
from zygote_lite import DifferentiationError, gradient, hessian, pullback
from zygote_lite.testing import recorded_only

X = np.array([0.7, -0.3, 1.2, 0.4])
BUFFER = np.arange(1.0, 5.0)
HOLDER = {}


class Registry:
    items = []


def fills(c):
    c.fill(9.0)


def flat(c):
    c.flat[0] = 9.0


def through_memoryview(c):
    memoryview(c)[0] = 9.0


def shuffles(c):
    np.random.default_rng(0).shuffle(c)


def mapped(c):
    list(map(c.fill, [9.0]))


def iterated(c):
    for v in np.nditer(c, op_flags=["readwrite"]):
        v[...] = 9.0


def bound(c):
    f = c.fill
    f(9.0)


def sorts(c):
    c[::-1].sort()


def in_place(c):
    c += 5.0


WRITERS = [fills, flat, through_memoryview, shuffles, mapped, iterated, bound, sorts, in_place]


@pytest.mark.parametrize("write", WRITERS)
def test_a_constant_array_that_is_overwritten_later(write):
    def f(x):
        c = np.arange(4.0)
        y = x * c
        write(c)
        return np.sum(y)

    np.testing.assert_array_equal(gradient(f, X)[0], [0.0, 1.0, 2.0, 3.0])


class Layer:
    """An object that the pullback of a rule reads."""

    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.sum(x * self.w)


class Slotted:
    """Another one, without a dict."""

    __slots__ = ("w",)
    __init__, __call__ = Layer.__init__, Layer.__call__


class Both(Slotted):
    """Another one, with a dict beside its slot."""


KINDS = [Layer, Slotted, Both]


def applied(x, layer):
    return layer(x)


@pytest.fixture
def layers():
    """Declare rules whose pullbacks read an object that they were given."""
    rule = RuleSet("of_layers")

    @rule(applied)
    def _(x: np.ndarray, layer: object):
        return np.sum(x * layer.w), lambda dy: (dy * layer.w, None)

    for kind in KINDS:

        @rule.of_instances
        def _(layer: kind, x: np.ndarray):
            return np.sum(x * layer.w), lambda dy: (None, dy * layer.w)

    rule.register()
    yield
    rule.unregister()


CHANGES = {
    "an attribute": lambda layer: setattr(layer, "w", 9.0),
    "by object": lambda layer: object.__setattr__(layer, "w", 9.0),
    "by its dict": lambda layer: getattr(layer, "__dict__", {}).update(w=9.0),
    "by vars": lambda layer: hasattr(layer, "__dict__") and vars(layer).__setitem__("w", 9.0),
    "made again": lambda layer: layer.__init__(9.0),
    "in place": lambda layer: layer.w.fill(9.0),
    "of an array": lambda layer: layer.w.__setitem__(0, 9.0),
    "taken away": lambda layer: delattr(layer, "w"),
}


@pytest.mark.usefixtures("layers")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", [applied, lambda x, layer: layer(x)], ids=["given", "called"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_object_that_a_pullback_reads_is_changed_later(change, call, kind):
    def f(x):
        layer = kind(np.arange(4.0))
        made.append(layer)
        y = call(x, layer)
        change(layer)
        return y

    for mode in (recorded_only, contextlib.nullcontext):
        made = []
        with mode():
            for _ in range(3):
                np.testing.assert_array_equal(gradient(f, X)[0], np.arange(4.0))
    expected = kind(np.arange(4.0))
    change(expected)
    assert hasattr(made[-1], "w") == hasattr(expected, "w")
    assert str(getattr(made[-1], "w", None)) == str(getattr(expected, "w", None))


def with_out(x):
    c = np.arange(4.0)
    y = x * c
    np.add(c, 5.0, out=c)
    return np.sum(y)


def with_putmask(x):
    c = np.arange(4.0)
    y = x * c
    np.putmask(c, c > 1.0, 9.0)
    return np.sum(y)


def with_place(x):
    c = np.arange(4.0)
    y = x * c
    np.place(c, c > 1.0, [9.0])
    return np.sum(y)


def with_put(x):
    c = np.arange(4.0)
    y = x * c
    np.put(c, [1], 9.0)
    return np.sum(y)


def with_partition(x):
    c = np.arange(4.0)
    y = x * c
    c[::-1].partition(1)
    return np.sum(y)


@pytest.mark.parametrize("f", [with_out, with_putmask, with_place, with_put, with_partition])
def test_a_constant_array_that_a_function_writes_into_later(f):
    with recorded_only():
        np.testing.assert_array_equal(gradient(f, X)[0], [0.0, 1.0, 2.0, 3.0])


def test_a_heap_of_the_largest_that_a_pullback_reads_is_changed_later():
    rule = RuleSet("of_heaps")

    def times_first(x, heap):
        return x * heap[0]

    @rule(times_first)
    def _(x: float, heap: list):
        return x * heap[0], lambda dy: (dy * heap[0], None)

    def f(x):
        heap = [2.0, 3.0]
        y = times_first(x, heap)
        largest_first(heap)
        return y

    largest_first = getattr(heapq, "heapify_max", None) or heapq._heapify_max
    rule.register()
    try:
        with recorded_only():
            assert gradient(f, 5.0) == (2.0,)
    finally:
        rule.unregister()


@pytest.mark.parametrize(
    "change", [list.sort, list.reverse, heapq.heapify, random.Random(0).shuffle]
)
def test_an_index_that_is_changed_later(change):
    def f(x):
        i = [3, 1, 2, 0]
        y = x[i]
        change(i)
        return y[0]

    np.testing.assert_array_equal(gradient(f, X)[0], [0.0, 0.0, 0.0, 1.0])


def test_a_buffer_that_is_used_again_and_again():
    def f(x):
        b = np.empty(4)
        s = 0.0
        for i in range(3):
            b.fill(i + 1.0)
            s = s + np.sum(x * x * b)
        return s

    np.testing.assert_allclose(gradient(f, X)[0], 12 * X)


def test_a_global_buffer_that_a_function_inside_a_function_overwrites():
    def overwrite():
        [BUFFER.__setitem__(i, 9.0) for i in range(4)]

    def f(x):
        BUFFER[:] = np.arange(1.0, 5.0)
        y = x * BUFFER
        overwrite()
        return np.sum(y * y * BUFFER)

    np.testing.assert_allclose(gradient(f, X)[0], 18 * X * np.arange(1.0, 5.0) ** 2)


def test_active_values_in_globals_that_are_reached_indirectly():
    def read():
        return sum([HOLDER["a"] for _ in range(1)])

    def f(x):
        HOLDER["a"] = x * x
        return read()

    assert gradient(f, 0.7)[0] == pytest.approx(1.4)

    def read_class():
        return Registry.items[0]

    def g(x):
        Registry.items.insert(0, x * x)
        return read_class()

    assert gradient(g, 0.7)[0] == pytest.approx(1.4)


HELD = {
    "list": lambda y, x: np.concatenate([y]),
    "tuple": lambda y, x: np.stack((y, x))[0],
    "array": lambda y, x: np.array([y])[0],
    "dict": lambda y, x: np.stack(list({"a": y}.values()))[0],
}


@pytest.mark.parametrize("name", HELD)
def test_an_array_in_a_container_that_is_written_before_a_rule_takes_it(name):
    def f(x):
        y = x * 1.0
        held = [y, (y, x)]
        y[0] = 9.0 * x[1]
        return np.sum(HELD[name](held[0], x))

    np.testing.assert_allclose(gradient(f, X)[0], [0.0, 10.0, 1.0, 1.0])

    def g(x):
        y = x * 1.0
        held = [y]
        y[0] = 9.0 * x[1]
        return np.sum(np.concatenate(held))

    np.testing.assert_allclose(gradient(g, X)[0], [0.0, 10.0, 1.0, 1.0])


def view_of_values(x):
    d = {}
    values = d.values()
    d["a"] = x * x
    return sum(values)


def zip_of_lists(x):
    xs = []
    pairs = zip(xs, xs)
    xs.append(x * x)
    a, b = next(pairs)
    return a * b


def active_key(x):
    return next(iter({x * x: 1}))


def looks_at_globals(x):
    globals()["HOLDER"]["b"] = x
    return HOLDER["b"] * globals()["HOLDER"]["b"]


def test_an_iterator_that_was_made_before_its_lists_were_filled():
    assert gradient(zip_of_lists, 0.7) == pytest.approx((4 * 0.7**3,))


def test_what_cannot_be_followed_is_refused():
    with pytest.raises(DifferentiationError, match=r"test_state\.py:\d+"):
        gradient(active_key, 0.7)


def test_what_globals_gives_is_followed():
    for _ in range(3):
        assert gradient(looks_at_globals, 0.7) == (1.4,)


def test_an_inactive_write_inside_a_second_derivative():
    def f(x):
        c = np.ones(2)
        y = x * c
        c[0] = 9.0
        return np.sum(y**3 * c)

    x = np.array([0.5, 0.2])
    np.testing.assert_allclose(hessian(f)(x), np.diag(6 * x * [9.0, 1.0]))


def test_an_inactive_change_of_an_index_inside_a_second_derivative_is_refused():
    def f(x):
        i = [0, 1]
        y = x[i]
        i.reverse()
        return np.sum(y * y * x[0])

    with pytest.raises(DifferentiationError, match=r"test_state\.py:\d+"):
        hessian(f)(np.array([0.5, 0.2]))


class Doubling(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2)


class Shifting(list):
    def append(self, value):
        super().append(value + 1)


def test_methods_that_build_on_those_of_a_builtin_class():
    def f(x):
        m = Doubling()
        m["a"] = x
        return m["a"] * x

    def g(x):
        values = Shifting()
        values.append(x)
        return values[0] * x

    for h, slope in ((f, lambda x: 4 * x), (g, lambda x: 2 * x + 1)):
        y, back = pullback(h, 0.7)
        assert y == h(0.7)
        assert back(1.0)[1] == pytest.approx(slope(0.7))


def test_a_view_of_a_dict_shows_what_is_written_later():
    np.testing.assert_allclose(gradient(view_of_values, 0.7)[0], 1.4)


def a_buffer(x):
    buffer = bytearray(np.array([3.0, 4.0]).tobytes())
    y = np.sum(x[:2] * np.frombuffer(buffer))
    buffer[:8] = bytes(8)
    return y


def a_second_array_on_a_buffer(x):
    buffer = array.array("d", [3.0, 4.0])
    y = np.sum(x[:2] * np.asarray(buffer))
    np.asarray(buffer)[0] = 0.0
    return y


def an_array_of_ctypes(x):
    buffer = (ctypes.c_double * 2)(3.0, 4.0)
    y = np.sum(x[:2] * np.ctypeslib.as_array(buffer))
    buffer[0] = 0.0
    return y


def an_index(x):
    at = array.array("l", [0, 1])
    y = np.take(x, at) + x[at]
    at.append(2)
    at[0] = 3
    return 1.5 * y[0] + 2.0 * y[1]


def an_index_of_a_write(x):
    at, y = array.array("l", [0, 1]), np.zeros(4)
    y[at] = x[:2] * np.array([3.0, 4.0])
    at[0] = 3
    return np.sum(y)


@pytest.mark.parametrize(
    "f", [a_buffer, a_second_array_on_a_buffer, an_array_of_ctypes, an_index, an_index_of_a_write]
)
def test_memory_that_arrays_share_may_be_written_later(f):
    np.testing.assert_array_equal(gradient(f, X)[0], [3.0, 4.0, 0.0, 0.0])
