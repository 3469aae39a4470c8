"""`u += v` of whole arrays that a function has made: new arrays, where no other name is left."""

import types

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import answers, assert_agreement
from zygote_lite import gradient

X = np.linspace(0.1, 1.0, 6)
OBJECT = types.SimpleNamespace(state=np.zeros(6))


def added_up(x):
    u = np.zeros(6)
    for _ in range(3):
        u += 0.1 * x * u + x
    return np.sum(u)


def steps(x):
    u, v = x.copy(), np.zeros_like(x)
    for _ in range(4):
        v += -0.1 * u
        u += 0.1 * v
    return np.sum(u * u)


def on_a_path(x):
    u = np.zeros(6)
    if x[0] > 0:
        u += x
    return np.sum(u * x)


def read_before(x):
    u = x.copy()
    y = u * 2.0
    u += 1.0
    u *= x
    return np.sum(u * y)


def copied_before(x):
    u = np.zeros(6)
    before = u
    for _ in range(3):
        before = u.copy()
        u += x * before + 1.0
    return np.sum(before * u)


def of_integers(x):
    u = np.zeros(6, dtype=int)
    u += 2
    return np.sum(u * x)


def of_an_object(x):
    u = OBJECT.state.copy()
    u += x
    return np.sum(u * x)


def known_by_two_names(x):
    u = x.copy()
    v = u
    u += x
    return np.sum(u * v)


def part_is_known(x):
    u = x.copy()
    v = u[1:]
    u *= x
    return np.sum(v)


def in_a_list(x):
    u = np.zeros(6)
    kept = [u]
    u += x
    return np.sum(kept[0])


def in_a_dict(x):
    kept = {"u": np.zeros(6)}
    u = kept["u"]
    u += x
    return np.sum(kept["u"] * x)


def an_argument(x):
    x *= 2.0
    return np.sum(x)


def add(u, x):
    u += x
    return u


def by_a_function(x):
    u = np.zeros(6)
    add(u, x)
    return np.sum(u * add(u, x))


def walked_over(x):
    u = np.zeros((3, 6))
    for row in u:
        row += x
    return np.sum(u * x)


def while_it_is_walked_over(x):
    u = x.copy()
    s = 0.0
    for v in u:
        u += x
        s = s + v
    return s


def one_or_the_other(x):
    u = np.zeros(6)
    v = u if x[0] > 0 else x
    u += x
    return np.sum(v)


def written_too(x):
    u = np.zeros(6)
    for i in range(3):
        u[i] = x[i]
        u += x
    return np.sum(u * u)


def part_in_a_dict(x):
    u = x * 2.0
    kept = {"head": u[:4], "tail": u[2:]}
    kept["head"] *= x[:4]
    kept["tail"] += kept["head"]
    return np.sum(u * u) + kept["tail"][0]


def part_in_an_object(x):
    u = np.zeros(6)
    kept = types.SimpleNamespace(part=u[1:5])
    for _ in range(2):
        kept.part += x[:4] * x[1:5]
    types.SimpleNamespace(part=u[3:]).part += 2.0 * x[:3]
    return np.sum(u * x)


def part_behind_a_function(x):
    u = x * 3.0
    kept = types.SimpleNamespace(part=u[::2])

    def scale(c):
        kept.part *= c

    scale(x[0])
    scale(2.0)
    return np.sum(u * x)


def reshaped(x):
    u = x.copy()
    w = u.reshape(2, -1)
    u *= 2.0
    return np.sum(w * w)


def of_another_precision(x):
    u = np.zeros(6, dtype=np.float32)
    u += x
    return float(np.sum(u))


def of_a_turn_before(x):
    u = np.zeros(6)
    for _ in range(2):
        v = u
        u += x
    return np.sum(v * u)


SPECIALIZED = [added_up, steps, on_a_path, read_before, copied_before, of_integers, of_an_object]
OTHERS = [known_by_two_names, part_is_known, in_a_list, in_a_dict, an_argument, by_a_function,
          walked_over, part_in_a_dict, part_in_an_object,
          part_behind_a_function, while_it_is_walked_over, one_or_the_other, written_too, reshaped,
          of_another_precision, of_a_turn_before]  # fmt: skip


@pytest.mark.parametrize("f", SPECIALIZED, ids=lambda f: f.__name__)
def test_no_other_name_is_left(f):
    assert assert_agreement(f, (X,), (-X,), (X * 3.0,))
    assert answers(f, (X,))
    assert not OBJECT.state.any()


@pytest.mark.parametrize("f", OTHERS, ids=lambda f: f.__name__)
def test_another_name_sees_it(f):
    assert_agreement(f, (X,), (-X,), (X * 3.0,))


def test_an_item_of_a_list_becomes_another_array_of_it():
    def f(x):
        a = [x * 1.0, x * 2.0]
        for i in (0, 1):
            a[i] += x
        a[0] = a[1]
        return np.sum(a[0] * a[1])

    for _ in range(4):  # 3 x, squared
        assert gradient(f, np.array([1.0, 2.0]))[0].tolist() == [18.0, 36.0]


def named_before_it_was_active(x, count):
    u = np.ones(6)
    v = u
    for _ in range(count):
        u *= x * (np.sin(v) + 1.0)
    return np.sum(u)


def seen_before_it_was_active(x, count):
    u = np.ones(6)
    v = np.ravel(u)
    for _ in range(count):
        if x[0] < 9.0:
            u += np.tanh(x + (v + v))
    return np.sum(u)


@pytest.mark.parametrize("f", [named_before_it_was_active, seen_before_it_was_active])
def test_another_name_of_what_becomes_active_is_active(f):
    assert_agreement(f, (X, 3))
    found, h = gradient(f, X, 3)[0], 1e-6
    steps = h * np.eye(6)
    np.testing.assert_allclose(found, [(f(X + e, 3) - f(X - e, 3)) / (2 * h) for e in steps], 1e-6)
