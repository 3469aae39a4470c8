"""Recorded code whose calls are answered by transformed code: the answers are those of the tape."""

import threading
import types

import numpy as np
import pytest

import rulescore
from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import check_gradient
from zygote_lite import (
    explain,
    grad,
    gradient,
    hvp,
    jacobian,
    pullback,
    testing,
    value_and_grad,
)
from zygote_lite.errors import DifferentiationError, NoRuleError

calls = []  # what a function does to it keeps that function recorded


def recorded(f, *xs):
    """Return the value and the gradient of a function, by the tape alone."""
    with testing.recorded_only():
        return value_and_grad(f, tuple(range(len(xs))))(*xs)


def answers(f, *xs, runs=6):
    """Return the values and gradients of several runs; code is made after the third."""
    both = value_and_grad(f, tuple(range(len(xs))))
    return [both(*xs) for _ in range(runs)]


def assert_composed(f, inner, *xs):
    """Assert that calls of `inner` come to be transformed, and that the answer stays the tape's."""
    want = recorded(f, *xs)
    for found in answers(f, *xs):
        assert_close(found, want)
    assert is_transformed(f, inner, *xs)
    with testing.compared():
        value_and_grad(f, tuple(range(len(xs))))(*xs)
    return want[1]


def is_transformed(f, inner, *xs):
    name = f"{inner.__name__}("
    steps = [line for line in str(explain(f, *xs)).splitlines() if name in line]
    assert steps
    return all("transformed" in line for line in steps)


def damped(state, p, dt=0.01):
    x, v = state
    return x + dt * v, v - dt * (p["k"] * x + p["c"] * v)


def oscillator(x, p):
    calls.clear()
    state = (x, 0.5 * x)
    for _ in range(5):
        state = damped(state, p, dt=0.1)
    return state[0] * state[1]


def test_states_in_tuples_and_parameters_in_dicts():
    p = {"k": 2.0, "c": 0.3}
    dx, dp = assert_composed(oscillator, damped, 1.5, p)
    assert dp.keys() == {"k", "c"}
    h = 1e-6
    near = [oscillator(1.5, {**p, "k": 2.0 + d}) for d in (h, -h)]
    assert dp["k"] == pytest.approx((near[0] - near[1]) / (2 * h), rel=1e-6)
    near = [oscillator(1.5 + d, p) for d in (h, -h)]
    assert dx == pytest.approx((near[0] - near[1]) / (2 * h), rel=1e-6)


def layer(w, b, x):
    return np.tanh(x @ w + b)


def network(w, b, x):
    calls.clear()
    return np.sum(layer(w, b, layer(w, b, x)) ** 2)


def test_arrays():
    source = np.random.default_rng(0)
    w, b, x = source.normal(size=(3, 3)), source.normal(size=3), source.normal(size=(4, 3))
    assert_composed(network, layer, w, b, x)
    check_gradient(lambda w: network(w, b, x), w)


def weighted(xs, rows):
    return sum(x * r for x, r in zip(xs, rows[0], strict=True)) + rows[1][0]


def of_lists(a, b):
    calls.clear()
    rows = [[a, a * b, 2.0], [b]]
    return weighted([a, 3.0, b], rows) * weighted([b, b, 1.0], rows)


def test_lists_that_are_made_of_active_values():
    assert_composed(of_lists, weighted, 1.5, -0.5)


def plus_all(x, *others, scale):
    return x * scale + sum(others)


def of_keywords(x, y):
    calls.clear()
    return damped(dt=y, p={"k": x, "c": 1.0}, state=(x, y))[1] + plus_all(x, y, y, scale=x)


def test_calls_by_keyword():
    assert_composed(of_keywords, damped, 1.5, 0.25)


def of_position(a, b=1.0, /, c=2.0):
    return a * b + c * c


def test_a_default_that_can_be_given_by_position_only():
    def f(x):
        calls.clear()
        return of_position(x, c=3.0 * x) + of_position(x, x, c=x)

    want = recorded(f, 1.5)
    assert want[1] == (1.0 + 18.0 * 1.5 + 4.0 * 1.5,)
    assert answers(f, 1.5) == [want] * 6


def of_text(x, s):
    return x * float(s)


def of_text_inside(x, parts):
    return x * float(parts["s"][0])


@pytest.mark.parametrize(
    ("inner", "held"), [(of_text, lambda s: s), (of_text_inside, lambda s: {"s": (s,)})]
)
def test_numbers_that_are_made_of_active_texts_are_refused(inner, held):
    def f(x, is_active):
        calls.clear()
        return inner(x, held(f"{x:.3f}" if is_active else "2.0"))

    for _ in range(5):
        assert gradient(lambda x: f(x, False), 1.5) == (2.0,)
        with pytest.raises(NoRuleError, match="text"):
            gradient(lambda x: f(x, True), 1.5)


# -- what is active around the function -----------------------------------------------------------


def test_a_captured_variable_that_is_active():
    def f(x):
        calls.clear()
        w = 3.0 * x

        def inner(y):
            return w * y

        return inner(x) + inner(2.0)

    want = recorded(f, 1.5)
    assert want[1] == (6.0 * 1.5 + 6.0,)
    assert answers(f, 1.5) == [want] * 6


def test_an_attribute_of_an_object_that_is_active():
    holder = types.SimpleNamespace(w=1.0)

    def inner(y):
        return holder.w * y

    def f(x, is_active):
        calls.clear()
        holder.w = x * x if is_active else 2.0
        return inner(x)

    both = value_and_grad(f)
    for _ in range(5):
        assert both(3.0, False) == (6.0, 2.0)
        assert both(3.0, True) == (27.0, 27.0)


def test_an_integer_of_an_object_that_is_active():
    holder = types.SimpleNamespace(n=2)

    def inner(y):
        return y * holder.n

    def f(x, y):
        calls.clear()
        holder.n = x
        z = inner(y)
        holder.n = 2
        return z

    assert answers(f, 2, 1.5) == [(3.0, (1.5, 2.0))] * 6


def test_an_active_default():
    def f(x):
        calls.clear()

        def inner(y, w=x * x):
            return w * y

        return inner(x)

    assert answers(f, 3.0) == [(27.0, (27.0,))] * 6


# -- writes ---------------------------------------------------------------------------------------


def same(x):
    return x


def first_half(x):
    return x[: len(x) // 2]


def doubled(x):
    return x * 2.0


@pytest.mark.parametrize("inner", [same, first_half, doubled])
def test_writes_to_what_was_given_and_to_what_came_back(inner):
    def f(x):
        calls.clear()
        a = x * 1.5
        y = inner(a)
        z = y * y
        y[0] = x[1]
        a[1] *= 3.0
        return np.sum(z) + np.sum(y) + np.sum(a * a) + np.sum(inner(a) * x[0])

    x = np.array([0.5, -1.0, 2.0, 3.0])
    assert_composed(f, inner, x)
    check_gradient(f, x)


def product_of(pair):
    return pair[0] @ pair[1]


def test_an_array_that_is_in_a_list_twice_and_is_written():
    def f(x):
        calls.clear()
        a = x * 1.5
        y = product_of([a, a])
        a[0] = y * x[1]
        return y + product_of([a, a]) + product_of((a, a[:]))

    x = np.array([0.5, -1.0])
    assert_composed(f, product_of, x)
    check_gradient(f, x)


def equal_ones(x):
    rows = np.zeros((2, len(x)))
    rows[0] = x
    return x * 1.0, x / 1, x * 2.0, x * 2.0, rows, rows[0]


def the_same_ones(x):
    y = x * 2.0
    return x, x[:], y, y, y[::-1], y**1.0


@pytest.mark.parametrize("inner", [equal_ones, the_same_ones])
def test_writes_to_arrays_that_are_equal_and_to_arrays_that_are_the_same(inner):
    def f(x):
        calls.clear()
        parts = inner(x * 1.5)
        total = 0.0
        for i, part in enumerate(parts):
            part[..., i % 3] *= x[1] + i
            total = total + sum(np.sum(y**2) for y in parts)
        return total

    x = np.array([0.5, -1.0, 2.0])
    assert_composed(f, inner, x)
    check_gradient(f, x)


def test_a_list_that_changes_after_the_call():
    def inner(xs):
        return xs[0] * xs[1]

    def f(x):
        calls.clear()
        xs = [x, 2.0 * x]
        y = inner(xs)
        xs[0] = y
        xs.append(x)
        return y + inner(xs[1:]) + xs[0]

    assert_composed(f, inner, 1.5)


def test_a_function_that_writes_to_what_it_is_given_is_recorded():
    def inner(x):
        x[0] *= 2.0
        return x[0]

    def f(x):
        calls.clear()
        a = x * 1.0
        return inner(a) + a[0]

    x = np.array([3.0, 1.0])
    want = recorded(f, x)
    for found in answers(f, x):
        assert_close(found, want)
    assert not is_transformed(f, inner, x)


def test_effects_happen_once_and_in_order():
    seen = []

    def inner(x):
        seen.append(("inner", float(x)))
        return x * x

    def f(x):
        seen.append(("f", float(x)))
        return inner(x) + inner(2.0 * x)

    for _ in range(6):
        seen.clear()
        assert gradient(f, 1.5) == (15.0,)
        assert seen == [("f", 1.5), ("inner", 1.5), ("inner", 3.0)]


# -- infinities, errors, types --------------------------------------------------------------------


def rooted(x, y):
    return np.sqrt(x) * y + x


def test_a_zero_that_meets_an_infinity_is_a_strong_zero():
    def f(x, y):
        calls.clear()
        return np.sum(rooted(x, y))

    x, y = np.array([0.0, 4.0]), np.array([0.0, 1.0])
    want = recorded(f, x, y)
    assert np.isfinite(want[1][0]).all()
    assert_composed(f, rooted, x, y)


def test_a_gradient_that_is_not_finite_needs_what_is_around_to_stay():
    def make():
        power = 0.5

        def inner(x):
            return x**power

        def change():
            nonlocal power
            power = 2.0

        return inner, change

    inner, change = make()

    def f(x, is_changed):
        calls.clear()
        y = inner(x)
        if is_changed:
            change()
        return np.sum(y)

    x = np.array([0.0, 4.0])
    for _ in range(5):
        value_and_grad(f)(x, False)
    assert len(testing.programs(inner)) == 1
    with pytest.raises(DifferentiationError, match="has changed since it was called"):
        value_and_grad(f)(x, True)


def test_the_same_where_there_is_code_for_what_it_has_changed_to():
    is_rooted = False

    def inner(x):
        return np.sqrt(x) if is_rooted else 2.0 * x

    def change(to):
        nonlocal is_rooted
        is_rooted = to

    def f(x, to):
        calls.clear()
        y = inner(x)
        change(to)
        return np.sum(y)

    for now in (False, True):
        for _ in range(20):
            change(now)
            value_and_grad(f)(np.ones(2), now)
    assert len(testing.programs(inner)) == 2
    change(True)
    with pytest.raises(DifferentiationError, match="has changed since it was called"):
        value_and_grad(lambda x: f(x, False))(np.array([0.0, 4.0]))


def test_an_error_of_a_later_call_is_the_users():
    def inner(x):
        if x > 2.0:
            raise ValueError("too large")
        return x * x

    def f(x):
        calls.clear()
        try:
            return inner(x)
        except ValueError:
            return 10.0 * x

    for _ in range(5):
        assert value_and_grad(f)(1.5) == (2.25, 3.0)
    assert value_and_grad(f)(3.0) == (30.0, 10.0)
    assert value_and_grad(f)(1.5) == (2.25, 3.0)


def test_types_that_change_between_calls():
    def inner(x, n):
        return x * n + x

    def f(x, n):
        calls.clear()
        return np.sum(inner(x, n))

    choices = [(1.5, 2), (np.float32(1.5), 2.0), (np.ones(3), 2), (1.5, np.arange(3.0)),
               (np.ones((2, 2), np.float32), 3)]  # fmt: skip
    for _ in range(5):
        for x, n in choices:
            want = recorded(lambda x, n=n: f(x, n), x)[1][0]
            found = grad(f)(x, n)
            assert type(found) is type(want)
            np.testing.assert_allclose(found, want, rtol=1e-6)


def test_a_value_that_is_not_used_and_one_used_twice():
    def inner(x, y):
        return x * y, x + y

    def f(x, y):
        calls.clear()
        a, _ = inner(x, y)
        inner(y, x)
        return a * a

    assert_composed(f, inner, 1.5, 2.5)


def test_gradients_of_gradients():
    def inner(x):
        return np.sum(x**3)

    def f(x):
        calls.clear()
        return inner(x) * x[0]

    x, v = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    with testing.recorded_only():
        want = hvp(f)(x, v), jacobian(grad(f))(x)
    for _ in range(6):
        grad(f)(x)
        np.testing.assert_allclose(hvp(f)(x, v), want[0])
        np.testing.assert_allclose(jacobian(grad(f))(x), want[1])


def test_a_pullback_may_be_called_again():
    def f(x):
        calls.clear()
        return doubled(x) * x

    x = np.array([1.0, 2.0])
    for _ in range(5):
        y, back = pullback(f, x)
        for _ in range(2):
            np.testing.assert_allclose(back(np.ones(2))[1], 4.0 * x)
        np.testing.assert_allclose(y, 2.0 * x * x)


def test_rules_that_come_later_hold_at_once():
    def inner(x):
        return x * x

    def f(x):
        calls.clear()
        return inner(x)

    for _ in range(5):
        assert gradient(f, 3.0) == (6.0,)
    rule = rulescore.RuleSet("of a test")
    rule.scalar(inner)(lambda x: 100.0)
    rule.register()
    try:
        assert gradient(f, 3.0) == (100.0,)
    finally:
        rule.unregister()
    assert gradient(f, 3.0) == (6.0,)


def test_threads():
    def inner(x, p):
        return x * p["w"]

    def f(x, w):
        calls.append(0)
        return inner(x, {"w": w}) * inner(w, {"w": x})

    wrong = []

    def work(x):
        for i in range(20):
            w = 0.5 * i
            d = gradient(f, x, w)
            if d != pytest.approx((2 * x * w * w, 2 * x * x * w)):
                wrong.append((x, w, d))

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
