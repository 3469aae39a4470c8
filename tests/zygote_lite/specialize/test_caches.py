"""Functions under `lru_cache` in transformed code."""

import functools
import random
import time

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import check_gradient
from zygote_lite import DifferentiationError, jvp, testing, value_and_grad

LOG = [1.0]


@functools.lru_cache
def square(v):
    return v * v


@functools.cache
def factorial(n):
    return 1 if n == 0 else n * factorial(n - 1)


@functools.cache
def weights(n):
    return np.arange(1.0, n + 1.0)


@functools.cache
def of_its_type(v):
    return v * 1.5 if isinstance(v, int) else v * 2.0


@functools.cache
def of_what_changes(v):
    return v * LOG[0]


def calls_cached(x):
    return square(x) * square(x) + square(2.0) + x**3 / factorial(3)


def gets_an_array(x):
    return np.sum(weights(3)) * x


def gets_by_equal_keys(x):
    return of_its_type(2) * x + of_its_type(2.0)


def reads_what_changes(x):
    return of_what_changes(2.0) * x


def test_what_they_give():
    testing.forget(calls_cached)
    with testing.transformed_only(), testing.compared():
        for x in (0.5, 2.0, 0.5):
            assert value_and_grad(calls_cached)(x)[0] == calls_cached(x)
    check_gradient(calls_cached, 0.7)


def gets_an_array_in_a_loop(x, n):
    y = x
    for _ in range(n):
        y = y * np.sum(weights(3))
    return y


def gets_by_equal_keys_in_a_loop(x, n):
    y = x
    for _ in range(n):
        y = y * of_its_type(2) + of_its_type(2.0)
    return y


def reads_what_changes_in_a_loop(x, n):
    y = x
    for _ in range(n):
        y = y * of_what_changes(2.0)
    return y


def test_what_a_cache_may_tell_apart_is_recorded():
    f = reads_what_changes_in_a_loop
    assert "reads a global that may change" in testing.why_recorded(f, 0.5, 3, argnums=0)
    assert value_and_grad(f)(0.5, 3)[0] == f(0.5, 3)


@functools.cache
def nodes(n):
    return np.polynomial.legendre.leggauss(n)


@functools.cache
def choose(n, k):
    return 1 if k in (0, n) else choose(n - 1, k - 1) + choose(n - 1, k)


@functools.cache
def of_several_kinds(n):
    return SCALE * n if n < 4 else n if n < 6 else None


@functools.cache
def fails(n):
    if n > 3:
        raise ValueError("too many")
    return 0.5 * n


def integrates(x, n):
    t, w = nodes(n)
    return np.sum(w * np.exp(x * t))


def bernstein(x, n):
    return sum(choose(n, k) * x**k * (1.0 - x) ** (n - k) / (k + 1) for k in range(n + 1))


def gets_several_kinds(x, n):
    return x * (of_several_kinds(n) or 3.0)


def catches(x, n):
    try:
        return x * fails(n)
    except ValueError:
        return x * x


def in_a_loop_of_unknown_length(x, n):
    while x < 50.0:
        x = x * (1.5 + of_several_kinds(2)) + scaled(n)
        n += 1
    return x


ASKED = [
    integrates, bernstein, gets_several_kinds, catches, in_a_loop_of_unknown_length,
    gets_an_array_in_a_loop, gets_by_equal_keys_in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("f", ASKED)
def test_a_cache_is_asked_for_what_is_not_differentiated(f):
    slope = value_and_grad(f)
    with testing.observed() as seen:
        for n in (2, 2, 2, 3, 7, 5, 2):
            with testing.recorded_only():
                y, want = slope(0.5, n)
            assert y == f(0.5, n)
            assert slope(0.5, n) == (pytest.approx(y), pytest.approx(want))
    if f is not gets_by_equal_keys_in_a_loop:  # whose entries have another type by then
        assert seen[-1].tier == "transformed"


def test_a_cache_has_no_entries_that_the_program_did_not_ask_for(monkeypatch):
    scaled.cache_clear()
    f = lambda x, n: x * scaled(n) if x > 1.0 else x
    for _ in range(4):
        assert value_and_grad(f)(0.5, 3) == (0.5, 1.0)
    assert scaled.cache_info().currsize == 0
    monkeypatch.setattr(f"{__name__}.SCALE", 5.0)
    assert value_and_grad(f)(1.5, 3) == (22.5, 15.0)
    monkeypatch.setattr(f"{__name__}.SCALE", 2.0)
    assert value_and_grad(f)(1.5, 3) == (22.5, 15.0)
    scaled.cache_clear()


def test_an_array_of_a_cache_may_be_the_argument_that_is_written():
    def f(x, n):
        x[0] = 2.0 * x[1]
        return np.sum(x * weights(n))

    for kept in (False, False, False, True, True):
        weights.cache_clear()
        with testing.recorded_only():
            want = value_and_grad(f)(weights(3) if kept else np.ones(3), 3)
        weights.cache_clear()
        y, d = value_and_grad(f)(weights(3) if kept else np.ones(3), 3)
        assert y == want[0]
        np.testing.assert_allclose(d, want[1])
    weights.cache_clear()


@pytest.mark.parametrize("f", [gets_an_array, gets_by_equal_keys, reads_what_changes])
def test_what_is_asked_for_in_any_case_is_what_the_cache_keeps(f, monkeypatch):
    testing.forget(f)
    with testing.transformed_only():
        assert value_and_grad(f)(0.5)[0] == f(0.5)
    monkeypatch.setattr(f"{__name__}.LOG", [3.0])
    assert value_and_grad(f)(0.5)[0] == f(0.5)
    for cached in (weights, of_its_type, of_what_changes):
        cached.cache_clear()
    for _ in range(3):
        y, d = value_and_grad(f)(0.5)
        assert y == f(0.5)
        assert d == pytest.approx((f(0.5 + 1e-6) - f(0.5 - 1e-6)) / 2e-6)
    of_its_type.cache_clear()
    of_its_type(2.0)
    assert value_and_grad(f)(0.5)[0] == f(0.5)
    of_what_changes.cache_clear()


def test_another_cached_function_is_seen(monkeypatch):
    for _ in range(3):
        value_and_grad(calls_cached)(0.5)
    monkeypatch.setitem(globals(), "square", functools.lru_cache(lambda v: v * 3.0))
    for _ in range(3):
        y, d = value_and_grad(calls_cached)(0.5)
        assert y == calls_cached(0.5)
        assert d == pytest.approx(2 * 9.0 * 0.5 + 0.5 * 0.25)


@functools.cache
def noise(i):
    return random.gauss(0.0, 1.0)


@functools.cache
def when(i):
    return time.perf_counter()


@functools.cache
def printed(i):
    print("computed", i)
    return i + 1.0


@functools.lru_cache(maxsize=1)
def forgotten(i):
    print("computed", i)
    return i + 1.0


SCALE = 2.0


@functools.cache
def scaled(i):
    return SCALE * i


@functools.cache
def scaled_inside(i):
    return sum(SCALE * k for k in range(i))


@functools.cache
def squared(x):
    return SCALE * x * x


@functools.cache
def path(n, x):
    return x if n < 2 else 0.5 * path(n - 1, x) + x * path(n - 2, x)


WITH_EFFECTS = {
    "draws": lambda x, n: (noise(n) - noise(n)) * x + noise(n + 1) * x,
    "clocks": lambda x, n: (when(n) - when(n) + 1.0) * x,
    "output": lambda x, n: printed(n) * x,
    "forgotten": lambda x, n: (forgotten(2) + forgotten(3) * x) * forgotten(2),
    "globals": lambda x, n: scaled(n) * x,
    "globals of code inside": lambda x, n: scaled_inside(n) * x,
    "calls of itself": lambda x, n: path(n, x),
}


@pytest.mark.parametrize("name", WITH_EFFECTS)
def test_a_cache_is_asked_where_the_function_may_give_something_else(name, monkeypatch, capsys):
    f = WITH_EFFECTS[name]
    for cached in (noise, when, printed, forgotten, scaled, scaled_inside, path):
        cached.cache_clear()
    y = f(0.7, 20)
    slope = (f(0.7 + 1e-6, 20) - f(0.7 - 1e-6, 20)) / 2e-6
    f(0.7, 20)
    capsys.readouterr()
    f(0.7, 20)
    output = capsys.readouterr().out
    monkeypatch.setattr(f"{__name__}.SCALE", 5.0)
    for _ in range(4):
        value, d = value_and_grad(f)(0.7, 20)
        assert value == y
        assert d == pytest.approx(slope)
        assert capsys.readouterr().out == output


def test_a_value_that_a_cache_keeps_is_not_that_of_another_global(monkeypatch):
    f = lambda x: squared(x) + 1.0
    squared.cache_clear()
    for _ in range(4):
        assert value_and_grad(f)(1.5) == (5.5, 6.0)
    f(1.5)
    monkeypatch.setattr(f"{__name__}.SCALE", 5.0)
    for _ in range(4):
        with pytest.raises(DifferentiationError, match="keeps another value"):
            value_and_grad(f)(1.5)
    squared.cache_clear()
    for _ in range(4):
        assert value_and_grad(f)(1.5) == (12.25, 15.0)


def test_a_cache_that_code_would_leave_empty_is_filled(monkeypatch):
    f = lambda x, n: sum(scaled(i) * x for i in range(n))
    scaled.cache_clear()
    assert jvp(f, (0.5, 3), (1.0, 0.0)) == (3.0, 6.0)
    assert scaled.cache_info().currsize == 3
    monkeypatch.setattr(f"{__name__}.SCALE", 5.0)
    assert jvp(f, (0.5, 3), (1.0, 0.0)) == (3.0, 6.0)
