"""Lists that a function fills: with numbers or arrays, which NumPy is given then."""

import math

import numpy as np
import pytest

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import hvp, pullback, testing, value_and_grad

A = np.array
X = A([0.3, -0.5])
PROGRAMS = []
tried = programs.declaring(PROGRAMS)  # transformed


@tried((X, 70), (X, 1), (X, 0), (np.float32(X), 5), (A([0.3]), 4), (0.3, 4))
def stacked(x, n):
    out = []
    for _ in range(n):
        x = np.sin(x) * 1.1
        out.append(x)
    return np.sum(np.stack(out) ** 2) + np.sum(out[-1] * out[0])


@tried((X, 0.4, 70), (X, 0.4, 0), (A([0.3, 0.1, 0.2]), 0.4, 3))
def trajectory(y, k, n):
    traj = [y]
    for _ in range(n):
        a, b = y
        y = y + 0.1 * np.array([b, -k * a])
        traj.append(y)
    traj = np.array(traj)
    return np.sum(traj[:, 0] ** 2) + traj[-1, 1]


@tried((X, 70), (X, 1), (X, 0))
def sums_and_means(x, n):
    out = []
    for i in range(n):
        x = np.cos(x) + i * 0.01
        out.append(x)
        if x[0] > 0.5:
            out.append(x * x)
    whole = sum(out) + np.mean(out, axis=0) * np.max(out)
    for w, v in zip(out[1:], out):
        whole = whole + v * w
    return np.sum(whole * np.concatenate(out)[0])


@tried((X, 70), (X, 2), (X, 1), (X, 0))
def walked_twice(x, n):
    held = [x * 2.0]
    while len(held) < n:
        held.append(np.tanh(held[-1] + x))
    copied = held[:]
    copied.append(x)
    s = 0.0
    for i, v in enumerate(list(copied)):
        s += np.sum(v) * i
    return s + np.sum(held[0]) * len(held)


@tried((0.3, 70), (0.3, 1), (0.3, 0), (1, 3), (np.float64(0.3), 4), (np.float32(0.3), 4))
def numbers(x, n):
    out = [x]
    for i in range(n):
        out.append(math.sin(out[-1]) + 0.1 * i)
    y = np.array(out)
    return np.sum(y * y) + np.max(y) + np.dot(out, out)


@tried((0.3, 0.5, 4), (0.3, 0.5, 0), (0.3, 0.5, 40))
def repeated(x, y, n):
    a = [-x] * n
    b = [x, y * 2.0] * n
    c = a + b
    s = 0.0
    for i, v in enumerate(c):
        s += v * v * i
    return s + sum(c) * x


@tried((0.3, 0.5, 70), (0.3, 0.5, 0), (1, 0.5, 3))
def written_by_place(x, v, n):
    state = [x, v, 0.0]
    for i in range(n):
        state[0] += 0.1 * state[1]
        state[1] -= 0.1 * math.sin(state[0])
        state[2] = state[0] * i
    return state[0] * state[1] + state[-1]


@tried((0.3, 0.5), (2.0, 0.5))
def written_in_the_same_block(x, y):
    a = [x, y]
    before = np.array(a)
    a[0] = a[1] * x
    a[-1] *= 2.0
    return np.sum(before * before) + a[0] * a[1] + sum(np.array(a) * before)


@tried((0.3, 3), (0.3, 0))
def list_is_changed_while_it_is_walked(x, n):
    a = [x, x * x, 1.0]
    s = 0.0
    for i, v in enumerate(a):
        a[(i + 1) % 3] = v * 2.0
        s += v
    return s * n


@tried((0.3, 0.5), (-0.3, 0.5))
def written_in_a_branch(x, y):
    a = [x, y]
    if x > 0.0:
        a[0] = x * y
        a.append(x)
    return sum(a) * a[-1]


@tried((0.3, 0.5), (np.float64(0.3), 0.5), (1, 0.5))
def matrix(x, y):
    turn = np.array([[math.cos(x), -y], [y, 1.0]])
    v = turn @ np.array([x * y, 2])
    return np.sum(v * v) + np.sum(np.stack([v, v * x])[1])


@tried((X, A([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])), (X, np.ones((0, 2))), (X, np.ones((1, 2))))
def of_different_lengths(x, rows):
    out = []
    for row in rows:
        out.append(row * x)
        out.append(np.sum(row * x) * np.ones(3))
    whole = np.concatenate(out)
    return np.sum(whole * whole)


@pytest.mark.sampled(2)
@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    numbers = programs.not_counts(choices[0])
    programs.assert_transformed(f, choices, numbers, by_differences=1e-5, tolerance=1e-5)


def test_a_trajectory_is_what_one_writes_by_hand():
    testing.forget(trajectory)
    with testing.transformed_only():
        value_and_grad(trajectory, (0, 1))(X, 0.4, 5)
    (text,) = testing.programs(trajectory)
    assert "traj.append(y)" in text
    for word in ("unstacked", "zeros_or", "add_item"):
        assert word not in text


def test_a_pullback_may_be_called_again():
    for f, xs in ((stacked, (X, 5)), (trajectory, (X, 0.4, 5)), (numbers, (0.3, 5))):
        _, back = pullback(f, *xs)
        once, twice = back(1.0), back(2.0)
        np.testing.assert_allclose(np.multiply(once[1], 2.0), twice[1])


def test_the_hessian_of_an_array_of_numbers():
    def f(x):
        y = np.array([x * x, 3.0 * x, 1.0])
        return np.sum(y * y * y)

    for _ in range(4):
        assert hvp(f)(0.5, 1.0) == pytest.approx(30 * 0.5**4 + 6 * 27 * 0.5)


# -- what is recorded --------------------------------------------------------------------------

RECORDED = []
left = programs.declaring(RECORDED)  # not transformed


@left((X, 3), (X, 0))
def array_is_written_after_it_was_appended(x, n):
    y = np.zeros(2)
    out = []
    for i in range(n):
        y[0] = x[0] * i
        out.append(y)
    return np.sum(np.array(out)) if out else 0.0 * x[0]


@left((X, 3), (X, 0))
def array_is_changed_in_place_after_it_was_appended(x, n):
    out = []
    for _ in range(n):
        y = x * 2.0
        out.append(y)
        y += x
    return sum([np.sum(v * v) for v in out])


@left((X, 3), (X, 1))
def carried_array_is_changed_in_place(x, n):
    y = x * 2.0
    out = []
    for _ in range(n):
        y += x
        out.append(y)
    return sum([np.sum(v * v) for v in out])


@left((X, 3), (X, 1))
def item_is_changed_in_place(x, n):
    out = [x * 1.0]
    for _ in range(n):
        out.append(out[-1] * x)
    last = out[-1]
    last += x
    return np.sum(np.array(out) ** 2)


@left((X, 3), (X, 1))
def view_is_appended_before_its_array_is_written(x, n):
    y = np.zeros(4)
    out = []
    for i in range(n):
        out.append(y[:2])
        y[0] = x[0] * i
    return np.sum(np.array(out))


@left(([0.3, 0.5], 2), ([0.3, 0.5], 0))
def list_times_a_float(x, n):
    held = [x[0]]
    for _ in range(n):
        held.append(x[1])
    z = x * 1.0
    return z[0] + sum(held)


@left((X, 3), (X, 1), (X, 0))
def arrays_of_two_ranks(x, n):
    out = []
    for i in range(n):
        out.append(x if i % 2 else np.stack([x, x]))
    return sum([np.sum(v) for v in out]) + x[0]


@left((np.float32(X), 3), (np.float32(X), 0))
def arrays_of_two_dtypes(x, n):
    out = [x]
    out.append(np.array([0.5, 2.0]))
    for _ in range(n):
        out.append(np.tanh(x))
    return len(out) + np.sum(np.array(out)[1] * x)


@programs.for_each(RECORDED)
def test_is_recorded_and_right(f, choices):
    assert not assert_agreement(f, *choices, argnums=(0,))
