"""Variables that functions share: `nonlocal`, and what is read where a function is called."""

import copy

import numpy as np
import pytest

from tests.zygote_lite.constructs.statements import (
    late_binding,
    nonlocal_state,
    nonlocal_two_levels,
)
from zygote_lite import testing, value_and_grad

V = np.array([0.5, 1.5])


def functions_of_a_loop(x):
    functions = []
    for k in (1.0, 2.0, 3.0):
        functions.append(lambda: x * x * k)
    return functions[0]() + functions[1]()


def assigned_on_one_path(x):
    count = 0
    scale = 1.0

    def step(v):
        nonlocal count, scale
        count += 1
        if v > 1.0:
            scale = scale * v
        return v * scale

    y = x
    for _ in range(4):
        y = step(y) * 0.9 + x
        if y > 20.0:
            break
    return y * count


def loop_variable_of_another_function(x):
    k = 5.0

    def walk(n):
        nonlocal k
        for k in range(n):
            if k == 2:
                break

    walk(2)
    a = k
    walk(5)
    return x * (a + k * 3.0)


def parameter_that_is_rebound(x, y):
    def scaled():
        return x * y

    a = scaled()
    x = x * 3.0
    y += 1.0
    return a + scaled()


def in_a_comprehension(x):
    k = x
    a = [k * v for v in (1.0, 2.0)]
    k = x * x
    return sum([k * v for v in a])


def array_that_is_rebound(x):
    state = np.zeros(2)

    def advance():
        nonlocal state
        state = state * x + V

    for _ in range(3):
        advance()
    return np.sum(state)


def kept_in_try(x):
    best = x

    def note(v):
        nonlocal best
        best = best + v * v
        return v

    try:
        note(x)
        return note(2.0 * x) * best
    finally:
        note(100.0)


TRANSFORMED = [
    nonlocal_state, nonlocal_two_levels, late_binding, functions_of_a_loop, assigned_on_one_path,
    loop_variable_of_another_function, in_a_comprehension, array_that_is_rebound, kept_in_try,
]  # fmt: skip


@pytest.mark.parametrize("f", TRANSFORMED)
def test_transformed_code_answers(f):
    for x in (0.5, 1.5, -0.7, np.float64(0.5)):
        with testing.transformed_only(), testing.compared():
            y, d = value_and_grad(f)(x)
        assert y == f(x)
        assert d == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-7)


def test_parameters():
    with testing.transformed_only(), testing.compared():
        y, d = value_and_grad(parameter_that_is_rebound, (0, 1))(2.0, 3.0)
    assert y == parameter_that_is_rebound(2.0, 3.0) == 30.0
    assert d == (15.0, 8.0)


def makes_counters():
    count = 0.0

    def counted(x):
        nonlocal count
        count += 1.0
        return x * x * count

    return counted


def writes_to_what_is_shared(x):
    xs = [x]

    def more():
        nonlocal xs
        xs.append(x * 2.0)
        xs = xs + [x]

    more()
    more()
    return xs[0] * xs[-1] * len(xs)


def unset_before(x):
    def first():
        return k

    if x > 1.0:
        k = x
        k = k * 2.0
    try:
        return first() * x
    except NameError:
        return x * 7.0


def changed_in_place(x):
    a = np.zeros(2)
    b = a

    def more():
        nonlocal a
        a += x

    more()
    return np.sum(b) * x


def deleted(x):
    k = x * x

    def read():
        return k * x  # noqa: F821

    y = read()
    del k
    try:
        return read()
    except NameError:
        return y * 2.0


@pytest.mark.parametrize(
    "f", [writes_to_what_is_shared, unset_before, changed_in_place, deleted, makes_counters]
)
def test_others_are_right(f):
    for x in (0.5, 0.5, 1.5, 0.5, np.float64(1.5), 1.5, 0.5):
        g = f() if f is makes_counters else f
        want = copy.deepcopy(g)(x) if f is not makes_counters else makes_counters()(x)
        with testing.compared():
            y, d = value_and_grad(g)(x)
        assert y == want
        assert d is not None


def test_what_is_shared_with_others_is_counted_once():
    f = makes_counters()
    for count in range(1, 6):
        assert value_and_grad(f)(2.0) == (4.0 * count, 4.0 * count)


def collected_by_a_lambda(x):
    entries = lambda values: [v for v in values]
    return np.sum(np.array(entries((x[0], x[1]))) ** 2)


def mapped_to_lists(x):
    rows = map(lambda row: np.array([v * v for v in row]), [(x[0], x[1]), (x[1], x[0])])
    return sum([np.sum(row) for row in rows])


def taken_by_a_lambda(x):
    entries = (lambda values: [next(values) for _ in range(2)])(iter([x[0], x[1]]))
    total = 0.0
    for v in entries:
        total = total + v * v
    return total


@pytest.mark.parametrize("f", [collected_by_a_lambda, mapped_to_lists, taken_by_a_lambda])
def test_a_lambda_may_loop_over_what_it_is_given(f):
    times = 2 if f is mapped_to_lists else 1
    with testing.transformed_only():
        y, d = value_and_grad(f)(V)
    assert y == times * np.sum(V**2)
    assert np.array_equal(d, times * 2 * V)
