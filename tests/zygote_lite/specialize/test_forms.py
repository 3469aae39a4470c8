"""Tuples, lists and dicts that loops rebind or branches decide: each entry is a variable."""

import math

import numpy as np

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.oracles import assert_agreement, is_alike
from zygote_lite import testing, value_and_grad

A = np.array
PROGRAMS = []
tried = programs.declaring(PROGRAMS)  # transformed


@tried((1.0, 0.5, 0.1, 70), (1.0, 0.5, 0.1, 0), (2, 0.5, 0.1, 3), (np.float64(1.0), 0.5, 0.1, 2))
def leapfrog(x, v, h, n):
    state = (x + h * v, v - h * x)
    for _ in range(n):
        state = (state[0] + h * state[1], state[1] - h * state[0])
    return state[0] * state[1]


@tried((A([1.0, 2.0]), A([0.5, 0.1]), 0.1, 70), (A([1.0]), A([0.5]), 0.1, 2), (1.0, 0.5, 0.1, 2))
def leapfrog_of_arrays(x, v, h, n):
    state = (x, v)
    for _ in range(n):
        x, v = state
        state = (x + h * v, v - h * x)
    return np.sum(state[0] * state[1])


@tried((1.0, 0.5, 9), (1.0, 0.5, 1), (1, 0.5, 4))
def pairs_that_swap(a, b, n):
    p, q = (a, 1.0), (b, a * b)
    for _ in range(n):
        p, q = q, (p[0] + q[0] * 0.5, p[1] * q[1] * 0.1)
    return p[0] * q[1] + q[0] * p[1]


@tried((1.0, 0.5, 9), (1.0, 0.5, 0))
def dict_of_a_list(x, v, n):
    s = {"x": x, "v": [v, x * v], "name": "s", "mode": None}
    for i in range(n):
        s = {
            "x": s["x"] + 0.1 * s["v"][0],
            "v": [s["v"][1], math.sin(s["x"]) * i],
            "name": "s",
            "mode": None,
        }
    return s["x"] * s["v"][0] + (s["v"][1] if s["mode"] is None else 0.0)


def step(state, t, *, h=0.1):
    x, v = state
    return x + h * v, v - h * x * t


@tried((1.0, 0.5, 9), (np.float32(1.0), np.float32(0.5), 3))
def state_of_a_function(x, v, n):
    state = (x, v)
    for t in range(n):
        state = step(state, t)
    return state[0] * state[1]


@tried((A([1.0, 2.0]), A([[0.5, 0.1], [0.2, 0.3]]), A([[1.0, 0.5], [0.2, 1.0]])),
       (A([1.0, 2.0]), A([[0.5, 0.1], [0.2, 0.3]]), np.ones((0, 2))),
       (A([1.0, 2.0], "f4"), np.eye(2, dtype="f4"), np.ones((3, 2), "f4")))  # fmt: skip
def filtered(m, p, zs):
    state = (m, p)
    for z in zs:
        m, p = state
        gain = p @ np.linalg.inv(p + np.eye(2, dtype=p.dtype))
        state = (m + gain @ (z - m), p - gain @ p)
    return np.sum(state[0]) + np.trace(state[1])


@tried((0.4, 9), (2.0, 9), (2.0, 0))
def left_with_a_pair(x, n):
    best = (x, 0)
    for i in range(n):
        if best[0] > 3.0:
            best = (best[0] * 0.5, i)
            break
        best = (best[0] * 1.3, best[1] + 1)
    return best[0] ** 2 * (1 + best[1])


@tried((0.4, 9), (2.0, 9), (2.0, 0))
def returned_from_a_loop(x, n):
    def search(y):
        for i in range(n):
            y = y * 1.5 + 0.1
            if y > 4.0:
                return y, {"at": i}
        return y * y, {"at": -1}

    y, where = search(x)
    return y * x * (2 + where["at"])


@tried((1.0, 70), (3.0, 70))
def while_it_moves(x, n):
    bracket = [x * 0.5, x * 2.0 + 1.0]
    while bracket[1] - bracket[0] > 1 / n:
        middle = 0.5 * (bracket[0] + bracket[1])
        bracket = [middle, bracket[1]] if middle < 1.7 * x else [bracket[0], middle]
    return bracket[0] * bracket[1] ** 2


@tried((2.0, 3.0), (-2.0, 3.0), (2, 3))
def pair_of_a_branch(x, y):
    if x > 0:
        t = (x * y, (y, 1.0))
    else:
        t = (y, (x * x, y))
    return t[0] * t[1][0] ** 2 * t[1][1]


@tried((2.0,), (0.5,))
def one_path_alone(x):
    if x > 1.0:
        pair = (x, 3.0)
    s = x
    if x > 1.0:
        s = s * pair[0] * pair[1]
    return s


@tried((2.0, 5), (0.5, 5), (2.0, 1))
def pair_of_the_last_iteration(x, n):
    for i in range(n):
        last = (x * i, i)
    return last[0] * x + last[1]


@tried((1.0, 0.3, 4, 3), (1.0, 0.3, 0, 3), (1.0, 0.3, 3, 0))
def loops_in_loops(x, v, n, m):
    s = (x, (v, 0.0))
    for _ in range(n):
        s = (s[0] + 0.1, (s[1][0], s[1][1] + s[0]))
        for j in range(m):
            s = (s[0] * 0.9, (s[1][0] + s[0] * j, s[1][1]))
    return s[0] * s[1][0] + s[1][1]


@tried((1.0, 5), (1.0, 0))
def function_in_a_pair(x, n):
    pair = (x, math.sin)
    for _ in range(n):
        pair = (pair[1](pair[0]) + 0.5, pair[1])
    return pair[0] ** 2


@tried((1.0, 0.5, 5), (1.0, 0.5, 0))
def two_names_of_one_list(x, v, n):
    a = [x, v]
    b = a
    for _ in range(n):
        a = [a[1], a[0] * 0.5]
    return a[0] * b[1] + a[1] * b[0]


@tried((A([1.0, 2.0]), 4), (A([1.0, 2.0]), 0))
def array_that_stays(x, n):
    state = (0.0, x)
    for _ in range(n):
        state = (state[0] * 0.5 + np.sum(state[1]), state[1])
    return state[0] + np.sum(state[1] ** 2)


# -- what is of its kind from the first iteration on --------------------------------------------


@tried((A([1.0, 2.0]), 70), (A([1.0, 2.0]), 0), (A([1.0, 2.0]), 1), (1.0, 3), (A([1.0]), 2))
def total_that_starts_as_an_integer(x, n):
    total = 0
    for i in range(n):
        total = total + x * i
    return np.sum(total * x)


@tried((A([1.0, 3.0, 2.0]),), (A([1.0]),), (A([]),), ([1.0, 3.0],), ((1.0, 3.0, 0.5, 4.0),))
def best_so_far(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best * best if best is not None else 0.0


@tried((A([1.0, 3.0, 2.0]),), (A([1.0]),), (A([]),))
def differences_to_the_last(x):
    last, s = None, 0.0
    for i, v in enumerate(x):
        if last is not None:
            s += (v - last) ** 2 * i
        last = v
    return s


@tried((A([1.0, 3.0]), 2, 70), (A([1.0, 3.0]), 5, 6), (A([1.0, 3.0]), 5, 5), (A([1.0]), 6, 5))
def range_from_a_start(x, start, stop):
    state = None
    for i in range(start, stop):
        state = (x * i, i) if state is None else (state[0] * 0.5 + x, state[1] + 1)
    return np.sum(state[0]) * state[1] if state is not None else x[0]


@tried((A([[1.0, 3.0], [0.5, 2.0]]), 2), (A([[1.0, 3.0], [0.5, 2.0]]), 0), (np.ones((0, 2)), 2))
def sums_in_sums(rows, n):
    whole = 0
    for row in rows:
        part = 0.0
        for j in range(n):
            part = part + row * j
        whole = whole + part * row
    return np.sum(whole * 1.5)


@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    programs.assert_transformed(f, choices, programs.not_counts(choices[0]))


def test_an_entry_that_does_not_change_is_no_variable():
    testing.forget(array_that_stays)
    with testing.transformed_only():
        value_and_grad(array_that_stays)(A([1.0, 2.0]), 70)
    (text,) = testing.programs(array_that_stays)
    assert "state_0 = " in text
    assert "state_1" not in text


def test_the_first_iteration_stands_before_the_loop():
    testing.forget(differences_to_the_last)
    with testing.transformed_only():
        value_and_grad(differences_to_the_last)(A([1.0, 3.0, 2.0]))
    (text,) = testing.programs(differences_to_the_last)
    assert "None" not in text
    assert "range(1, " in text


# -- what is recorded --------------------------------------------------------------------------

RECORDED = []
left = programs.declaring(RECORDED)  # not transformed


@left((2.0, 5, 0), (2.0, 5, 1))
def grows(x, n, m):
    t = (x,)
    for i in range(n):
        t = (*t, t[-1] * 0.5) if i % 2 else t
    return sum(t) * t[-1] + m


@left((2.0, 5), (2.0, 0))
def asks_whether_it_is_the_first(x, n):
    first = (x, 1.0)
    t = first
    for _ in range(n):
        t = (t[0] * 0.5, t[1])
    return t[0] * 2 if t is first else t[0] * 3


@left((2.0, 4), (2.0, 1))
def function_of_a_loop(x, n):
    t = (x, math.sin)
    for i in range(n):
        t = (t[1](t[0]), math.cos if i % 2 else math.sin)
    return t[0]


@left((A([1.0, 3.0]), 3), (A([1.0, 3.0]), 0))
def kind_of_every_second_iteration(x, n):
    total = 0
    for i in range(n):
        total = total + x if i % 2 else i
    return np.sum(total) + x[0]


@tried((2.0,), (0.5,))
def kinds_of_a_branch(x):
    t = (x, 1.0) if x > 1.0 else [x, 2.0]
    return t[0] * t[1] * (1 if isinstance(t, tuple) else 2)


@programs.for_each(RECORDED)
def test_is_recorded_and_right(f, choices):
    assert not assert_agreement(f, *choices, argnums=(0,))


def test_a_form_that_changes_later_is_recorded():
    def f(x, more):
        t = (x, 1.0)
        for part in more:
            t = (t[0] * part[0], t[1] + part[1])
        return t[0] * t[1]

    for more in ([(2.0, 1.0)] * 3, [(2.0, 1.0)] * 3, [(2.0, 1.0, 5.0)], []):
        with testing.recorded_only():
            want = value_and_grad(f)(1.5, more)
        assert is_alike(value_and_grad(f)(1.5, more), want, 1e-12)
