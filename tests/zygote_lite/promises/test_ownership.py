"""What a gradient holds is the caller's: its arrays share memory with nothing else."""

import collections
import math
import sys

import numpy as np
import pytest

from zygote_lite import DifferentiationError, grad, gradient, pullback


def test_two_gradients_are_two_arrays():
    a, b = gradient(lambda a, b: np.sum((a + b) ** 2), np.ones(2), np.ones(2))
    a *= 0.5
    np.testing.assert_array_equal(b, [4.0, 4.0])


@pytest.mark.parametrize("kind", [list, dict])
def test_entries_of_a_container_are_arrays_of_their_own(kind):
    p = {0: np.ones(2), 1: np.ones(2)} if kind is dict else [np.ones(2), np.ones(2)]
    (d,) = gradient(lambda p: np.sum((p[0] + p[1]) ** 2), p)
    d[0] *= 0.5
    np.testing.assert_array_equal(d[1], [4.0, 4.0])


def test_a_gradient_is_not_the_cotangent_that_was_given():
    dy = np.ones((2, 1))
    (d,) = pullback(lambda a: a.reshape(2, 1), np.ones(2))[1](dy)[1:]
    d *= 3
    np.testing.assert_array_equal(dy, np.ones((2, 1)))
    (d,) = pullback(lambda a: a, dy)[1](dy)[1:]
    assert not np.shares_memory(d, dy)


class Model:
    factor = 2.0


def test_a_large_argument_is_not_looked_through_for_memory():
    model, x = Model(), np.ones(2)
    model.parts = [Model() for _ in range(20_000)]
    _, back = pullback(lambda model, x: model.factor * np.sin(x), model, x)
    calls = 0

    def count(*_):
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        d = grad(lambda model, x: model.factor * math.sin(x), argnums=1)(model, 0.5)
    finally:
        sys.setprofile(None)
    assert d == 2.0 * math.cos(0.5)
    assert calls < 20_000
    dy = np.ones(2)
    (_, _, d) = pullback(lambda model, x: x, model, x)[1](dy)
    assert not np.shares_memory(d, dy)
    np.testing.assert_array_equal(back(dy)[2], 2.0 * np.cos(x))


def test_gradients_can_be_written_to():
    (d,) = gradient(np.sum, np.ones((2, 3)))
    d += 1.0
    np.testing.assert_array_equal(d, np.full((2, 3), 2.0))


def writes_first(a, b):
    a[0] = b[1] * b[1]
    return a @ b


def test_one_array_at_two_places_that_is_written_is_refused():
    w = np.array([1.0, 2.0, 3.0])
    with pytest.raises(DifferentiationError, match="arguments 1 and 2"):
        pullback(writes_first, w, w)[1](1.0)
    w = np.array([1.0, 2.0, 3.0])
    with pytest.raises(DifferentiationError, match="arguments 1 and 2"):
        pullback(writes_first, w[:2], w[1:])[1](1.0)


SCRATCH = np.zeros(3)


def with_scratch(x):
    SCRATCH[:] = x * x
    return np.sum(SCRATCH * x)


def test_a_pullback_after_another_run_has_written_the_same_array_is_refused():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([3.0, 1.0, 2.0])
    _, first = pullback(with_scratch, a)
    np.testing.assert_allclose(first(1.0)[1], 3 * a**2)
    np.testing.assert_allclose(first(1.0)[1], 3 * a**2)
    _, second = pullback(with_scratch, b)
    with pytest.raises(DifferentiationError, match=r"with_scratch wrote in place.*later run"):
        first(1.0)
    np.testing.assert_allclose(second(1.0)[1], 3 * b**2)


def overwrites_its_argument(x):
    x[0] = x[1] * x[2]
    return np.sum(x**2)


def test_an_argument_that_another_run_has_overwritten_is_refused():
    x = np.array([1.0, 2.0, 3.0])
    _, back = pullback(overwrites_its_argument, x)
    gradient(overwrites_its_argument, x)
    with pytest.raises(DifferentiationError, match="later run"):
        back(1.0)


def test_arrays_of_a_run_of_its_own_do_not_hinder_each_other():
    def f(x):
        y = np.zeros(3)
        y[0] = x[1] ** 2
        return np.sum(y * x)

    backs = [pullback(f, np.array([1.0, 2.0, k]))[1] for k in range(50)]
    for back in backs:
        np.testing.assert_allclose(back(1.0)[1], [4.0, 4.0, 0.0])


def appends(xs, v):
    xs.append(v * xs[0])
    return xs[-1] * v


def pops(xs, v):
    return xs.pop() * v


def sorts(xs, v):
    xs.sort(key=lambda y: -y)
    return xs[0] * v


def overwrites(xs, v):
    xs[0] = xs[0] * v
    xs[1] = xs[0] * xs[1]
    return xs[1] * v


QUEUE = collections.deque
RIGHT = [(appends, list), (sorts, list), (overwrites, list), (overwrites, QUEUE)]
REFUSED = [(pops, list), (appends, QUEUE), (pops, QUEUE)]


@pytest.mark.parametrize(("f", "kind"), RIGHT)
def test_a_pullback_is_right_after_another_run_has_changed_the_same_list(f, kind):
    xs = kind([3.0, 1.0, 2.0])
    expected = gradient(f, kind(xs), 2.0)
    _, first = pullback(f, xs, 2.0)
    pullback(f, xs, 3.0)
    now = kind(xs)
    assert first(1.0)[1:] == expected
    assert xs == now  # as the second run left it


@pytest.mark.parametrize(("f", "kind"), REFUSED)
def test_a_pullback_refuses_where_it_cannot_find_its_entries_again(f, kind):
    xs = kind([3.0, 1.0, 2.0])
    _, first = pullback(f, xs, 2.0)
    _, second = pullback(f, xs, 3.0)
    now = kind(xs)
    with pytest.raises(DifferentiationError, match="has lost or got entries since"):
        first(1.0)
    assert xs == now
    assert second(1.0)[2] is not None
    assert xs == now


def test_a_dict_that_lost_a_key_before_the_pullback_is_refused():
    def f(d):
        d["a"] = d["a"] * d["b"]
        return d["a"]

    d = {"a": 2.0, "b": 3.0}
    _, back = pullback(f, d)
    del d["a"]
    with pytest.raises(DifferentiationError, match="has lost or got entries since"):
        back(1.0)
    assert d == {"b": 3.0}
