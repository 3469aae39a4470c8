"""What is read, written and added to in places of arrays and lists, and what loops do anew."""

import math
from unittest import mock

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import (
    answers,
    assert_agreement,
    generic,
    is_alike,
    is_specialized,
    outcome,
)
from tests.zygote_lite.fuzz.generate import places as place_programs
from zygote_lite import gradient, value_and_grad
from zygote_lite._specialize.driver import specialize
from zygote_lite._specialize.passes import buffer_reuse as _reuse

X = np.linspace(-0.8, 0.9, 7)


def added_to(x):
    u = x.copy()
    for i in range(len(u)):
        u[i] += math.sin(x[i]) * x[0]
    return np.sum(u * u)


def taken_from(x):
    u = x.copy()
    for _ in range(3):
        u[1:-1] -= 0.1 * (u[2:] - u[:-2]) * u[1:-1]
    return np.sum(u * u)


def the_other_way(x):
    u = x.copy()
    for i in range(1, len(u)):
        u[i] = u[i - 1] * x[i] + u[i]
    return np.sum(u)


def to_itself(x):
    u = x.copy()
    for i in range(len(u)):
        u[i] = u[i] + u[i]
    return np.sum(u * x)


def difference_with_itself(x):
    u = x.copy()
    for i in range(len(u)):
        u[i] = x[i] * x[i] - u[i]
    return np.sum(u)


def sum_is_read_again(x):
    u = x.copy()
    s = 0.0
    for i in range(len(u)):
        t = u[i] + x[i] * x[i]
        u[i] = t
        s = s + t * t
    return s + np.sum(u)


def sum_is_read_before(x):
    u = x.copy()
    s = 0.0
    for i in range(len(u)):
        t = u[i] + x[i] * x[i]
        s = s + t * t
        u[i] = t
    return s + np.sum(u)


def written_between(x):
    u = x.copy()
    for i in range(len(u)):
        t = u[i]
        u[i] = x[0]
        u[-1] += u[i] * t
        u[i] = t + x[i]
    return np.sum(u * u)


def other_name_of_the_place(x):
    u = x.copy()
    for i in range(2):
        t = u[i]
        u[i - 0] = 0.5 * x[i]
        u[i] = t + x[i] * u[i]
    return np.sum(u * u)


def of_two_indices(x):
    m = np.outer(x, x)
    u = m.copy()
    for i in range(3):
        for j in range(2):
            u[i, j] += u[j, i] * x[i]
            u[i, j] -= x[j]
    return np.sum(u * u)


def read_after_it_was_written(x):
    y = np.zeros(len(x))
    s = 1.0
    for i in range(len(x)):
        y[i] = x[i] * s
        s = s + y[i]
    return s


def converted_by_the_array(x):
    y = np.zeros(len(x), dtype=np.float32)
    s = 1.0
    for i in range(len(x)):
        y[i] = x[i] * 0.1
        s = s + float(y[i])
    return s


def of_integers(x):
    n = np.zeros(3, dtype=int)
    s = 0.0
    for i in range(3):
        n[i] = 2.9
        s = s + n[i] * x[i]
    return s


def overwritten_at_another_index(x):
    y = np.zeros(len(x))
    s = 0.0
    for i in range(1, 4):
        y[i] = x[i] * x[i]
        y[i - 1] = x[0]
        y[1] = x[i]
        s = s + y[i]
    return s + np.sum(y * y)


def written_on_a_path(x):
    y = x.copy()
    s = 0.0
    for i in range(len(x)):
        y[i] = x[i] * 2.0
        if x[i] > 0:
            y[i] = y[i] * x[i]
        s = s + y[i] * y[i]
    return s


def rows_of_lists(x):
    c = [[0.5] * 2 for _ in range(3)]
    for i in range(3):
        for j in range(2):
            c[i][j] += x[i] * x[j]
            c[i][j] = c[i][j] + c[i][0]
    s = 0.0
    for i in range(3):
        s = s + c[i][0] * c[i][1] * c[i][0]
    return s


def appended_between(x):
    c = []
    c.append(x[0])
    for i in range(4):
        t = c[-1]
        c.append(x[i] * t)
        c[-1] = t + x[i]
    s = 0.0
    for v in c:
        s = s + v * v
    return s


def the_same_in_each_turn(x, a):
    s = 0.0
    for i in range(len(x)):
        half = a / 2
        s = s + x[i] * half * half + half
        for _ in range(2):
            third = half / 3.0
            s = s * third
    return s + half


def of_no_turn(x, a):
    s = a
    for i in range(len(x) - len(x)):
        half = a / 2
        s = s + half * x[i]
    return s


FUNCTIONS = [added_to, taken_from, the_other_way, to_itself, difference_with_itself,
             sum_is_read_again, sum_is_read_before, written_between, other_name_of_the_place,
             of_two_indices, read_after_it_was_written, converted_by_the_array, of_integers,
             overwritten_at_another_index, written_on_a_path]  # fmt: skip
OF_LISTS = [rows_of_lists, appended_between]


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_function(f):
    assert assert_agreement(f, (X,), (X * 0.5,), (X[:4],))


@pytest.mark.parametrize("f", OF_LISTS, ids=lambda f: f.__name__)
def test_function_of_a_list(f):
    assert assert_agreement(f, (X.tolist(),), ((X * 0.5).tolist(),), (X[:4].tolist(),))


@pytest.mark.parametrize("f", [the_same_in_each_turn, of_no_turn], ids=lambda f: f.__name__)
def test_turns(f):
    assert assert_agreement(f, (X, 0.5), (X[:3], -0.25), (X, math.inf), argnums=(0, 1))


def text_of(f, *xs):
    return str(specialize(f, xs, (True,) * len(xs)).text)


def test_what_is_added_to_keeps_its_cotangent():
    for f in (added_to, taken_from, the_other_way, to_itself):
        assert " = 0.0\n" not in text_of(f, X).replace("s = 0.0\n", "")
    for f in (difference_with_itself, sum_is_read_again, written_between):
        assert "] = 0.0\n" in text_of(f, X)


def test_what_was_stored_is_not_read_again():
    text = text_of(read_after_it_was_written, X)
    assert "= y[i]" not in text
    assert "+ y[i]" not in text
    assert "y[i]" in text_of(converted_by_the_array, X).replace("y[i] =", "")


def test_cotangents_in_lists_are_not_made_anew():
    assert "project" not in text_of(rows_of_lists, X.tolist())


def test_what_does_not_change_is_computed_before_the_loop():
    text = text_of(the_same_in_each_turn, X, 0.5)
    before = text[: text.index("for ")]
    assert "a / 2" in before
    assert "/ 3.0" in before
    assert "a / 2" not in text[len(before) :]


def test_what_may_raise_stays_where_it_is():
    def f(x, a, b):
        s = x
        for _ in range(0 if b == 0 else 2):
            s = s * (a / b) + math.exp(a)
        return s

    assert assert_agreement(f, (1.5, 2.0, 4.0), (1.5, 2.0, 0.0), (0.5, 800.0, 0.0))
    text = text_of(f, 1.5, 2.0, 4.0)
    assert "a / b" in text[text.index("for ") :]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("lists", [False, True], ids=["arrays", "lists"])
@pytest.mark.parametrize("seed", range(24))
def test_random_program(seed, lists):
    f = place_programs.load(place_programs.program(seed, lists), f"{seed} {lists}")
    choices = place_programs.arguments(seed, lists)
    if generic(f, choices[0], (0, 1))[0] == "error":
        return  # an index out of range: the plain program fails as well
    differentiated = value_and_grad(f, (0, 1))
    with mock.patch.object(_reuse, "LARGE", 0), mock.patch.object(_reuse, "HUGE", 0):
        for _ in (1, 2):
            outcome(lambda: differentiated(*choices[0]))
    for xs in choices:
        want = generic(f, xs, (0, 1))
        got = outcome(lambda xs=xs: differentiated(*xs))
        assert is_alike(got, want, 1e-9)


def test_random_programs_are_answered_by_specialized_code():
    count = 0
    for seed in range(10):
        f = place_programs.load(place_programs.program(seed, lists=False), f"fast {seed}")
        xs = place_programs.arguments(seed, lists=False)[0]
        for _ in (1, 2):
            outcome(lambda f=f, xs=xs: value_and_grad(f, (0, 1))(*xs))
        count += is_specialized(f) and answers(f, xs)
    assert count >= 7


def test_arrays_as_indices_are_no_known_places():
    def read(x, i, j):
        a = x * x
        return a[i] * a[j] + a[j]

    def written(x, i, j):
        a = np.zeros(3)
        a[i] = x
        a[j] = x * x
        return a[i] * 3.0 + a[j]

    for _ in range(3):
        d = gradient(read, np.array([2.0, 3.0]), np.array(0), np.array(1))[0]
        assert d.tolist() == [36.0, 30.0]
        assert gradient(written, 2.0, np.array(0), np.array(1))[0] == 7.0
