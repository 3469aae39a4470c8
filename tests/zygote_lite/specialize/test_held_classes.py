"""Deques, tuples of any length, ordered dicts, dicts with defaults, and what is read of nothing."""

import copy
import math
from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import gradient

PROGRAMS = []
tried = programs.declaring(PROGRAMS)  # transformed


@tried((0.5,), (1.2,))
def bounded_deque_is_added_to(x):
    q = deque([x], maxlen=2)
    q += [x * x, x * 3.0, x**4]
    return q[0] * 2 + q[1] * x


@tried((0.5, 4), (0.5, 1), (1.2, 6))
def numpy_takes_a_deque(x, n):
    q, s = deque(maxlen=3), 0.0
    for i in range(n):
        q.append(x ** (i + 1))
        s += np.mean(q) + np.array(q)[0] * x + np.std(np.asarray(q))
    return s + np.dot(q, q) + np.linalg.norm(q) if n else x


@tried((0.5, 12), (0.5, 1), (1.2, 15))
def tuples_of_any_length(x, n):
    a = [x**i for i in range(n)]
    t, u = tuple(a), tuple(v * x for v in a)
    a[0] = 2 * x
    first, *others = t
    s = t[0] + u[-1] * x + sum(t[1:]) + max(t) * len(t) + sum(v * w for v, w in zip(t, u))
    s += (t + u)[n] + np.mean(t) + sum(others) * first + sum(tuple(map(math.sin, a)))
    return s * t.index(1.0) + s + tuple(t).count(x) * sum(tuple(deque(a, 2)))


@tried((0.5, 12), (0.5, 1), (1.2, 15))
def columns_of_rows(x, n):
    rows = [(i * 0.1, np.array([x, x**i])) for i in range(n)]
    times, states = zip(*rows)
    rows[0] = (x, states[-1])
    s = sum(states) @ np.array([1.0, x]) * times[-1] + np.array(states).sum()
    pairs = [(x * i, x + i) for i in range(n)]
    left, right = map(list, zip(*pairs))
    left.append(x)
    return s + sum(left) * right[0] + sum(k * c[-1] for k, c in enumerate(zip(*pairs)))


@tried((0.5,), (1.2,))
def rotations(x):
    q = deque([x, 2 * x, x * x, x**3])
    for i in range(-2, 3):
        q.rotate(i)
        q[0] = q[0] * x
    q.extendleft([x, 3.0])
    q += q.copy()
    s = q[1] * q[5]
    q.clear()
    q.append(x * x)
    q.appendleft(x)
    return q[0] * s + q[1] * x


@tried((0.5,), (1.2,))
def both_ends_of_a_bounded_deque(x):
    q = deque([x, 2 * x, x * x, x**3], maxlen=3)
    q.appendleft(x * 5)
    q.rotate(2)
    q.rotate(-7)
    q.extendleft([x * 8, 2.0])
    r = q.copy()
    r.append(x)
    a, *b = q
    s = sum([v * (i + 1) for i, v in enumerate(r)]) + sum([v * x for v in q])
    return s * a * len(b)


@tried((0.5, 5), (0.7, 0), (1.2, 9))
def least_recently_used(x, n):
    class Recent:
        def __init__(self, size):
            self.size, self.known = size, OrderedDict()

        def get(self, k):
            if k in self.known:
                self.known.move_to_end(k)
                return self.known[k]
            v = self.known[k] = x * k
            if len(self.known) > self.size:
                self.known.popitem(last=False)
            return v

    recent, s = Recent(2), x
    for i in range(n):
        s += recent.get(i % 3 + 1) * (i + 1)
    return s * len(recent.known)


@tried((0.5,), (1.2,))
def remembered(x):
    known = {}

    def power(n):
        if n in known:
            return known[n]
        known[n] = v = x**n + n
        return v

    s = 0.0
    for i in (1, 2, 1, 3, 2, 5):
        s = s * 0.5 + power(i)
    return s * len(known)


@tried((0.5,), (1.2,))
def default_of_what_changes(x):
    n = [1.0]

    def make():
        n[0] = n[0] * x
        return n[0]

    d, s = defaultdict(make), 0.0
    for i in range(6):
        s += d[i % 4] * d[i % 2]
    return s + len(d) * n[0]


@tried((0.5,), (1.2,))
def copies_of_a_default(x):
    d = defaultdict(lambda: x * 2)
    for i in range(5):
        d[i % 3] += x * i
    e, f = copy.copy(d), d.copy()
    e["q"] *= 3.0
    f[1] *= x
    return sum(d.values()) * e["q"] + f[1] * len(e) + f[77]


@tried((0.5,), (1.2,))
def defaults_that_are_filled(x):
    d = defaultdict(list, {"a": [x]}, b=[2.0])
    d["c"].append(x * x)
    d["a"].append(d["b"][0] * x)
    return sum(d["a"]) * d["c"][0] + len(d["e"])


@tried((0.5, 0.6), (0.7, 0.8))
def order_of_entries(x, y):
    t = OrderedDict(a=x, b=y)
    t["c"] = x * y
    t.move_to_end("a")
    t.move_to_end("c", last=False)
    _, v = t.popitem(last=False)
    t["d"] = v * t["b"]
    return sum([(i + 1) * v for i, v in enumerate(t.values())])


@tried((0.5, 0.6), (0.7, 0.8))
def keys_of_two_kinds(x, y):
    table, total = {"z": y, "a": x}, 0.0
    for i in range(6):
        table.update({i: x * i, "a": table["a"] * y})
        if i % 3 == 2:
            total = total + table.pop(i - 1) * table["a"]
            del table[i]
    for i, value in enumerate(table.values()):
        total = total + i * value
    return total


@tried((0.5, 2), (0.5, 0), (0.6, 5))
def loops_over_what_is_empty(x, n):
    a, s = [], x
    for i in range(n):
        a.append(x * i)
    for v in a:
        s = s + v * v
    for v in []:
        s = s * v
    return s


@tried((0.5,), (0.6,))
def lists_times(x):
    a = [x, x * x]
    b = a
    for n in (2, 1):
        a *= n
    for i in range(len(b)):
        b[i] = b[i] * (i + x)
    return sum(a) + len(b) * x


@tried((0.5,), (0.6,))
def extended_by_generators(x):
    a = [x, 2.0]
    a.pop(0)
    a.extend(v * x for v in (x, 3.0))
    a += (v for v in [x])
    a[1:2] = (v * x for v in (1.0, x))
    return sum([v * (i + 1) for i, v in enumerate(a)])


@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    programs.assert_transformed(f, choices, programs.not_counts(choices[0]))


def test_what_is_taken_of_the_empty_raises():
    def take(x, n):
        a = []
        for i in range(n):
            a.append(x * i)
        return a.pop() * x

    assert_agreement(take, (0.5, 3), (0.5, 2), argnums=(0,))
    with pytest.raises(IndexError):
        gradient(take, 0.5, 0)
    assert gradient(take, 0.5, 3)[0] == 2.0


def test_key_that_may_be_missing_is_left_to_the_tape():
    def look_up(x, n):
        d = {}
        for i in range(n):
            d[i] = x * i + 1
        if n > 2:
            del d[1]
        found = d.get(1)
        return x * 7 if found is None else found * x

    assert_agreement(look_up, (0.5, 2), (0.5, 2), (0.5, 3), (0.5, 0), argnums=(0,))


def test_columns_of_no_rows_raise_as_python_does():
    def f(x, n):
        rows = [(x, x * i) for i in range(n)]
        a, b = zip(*rows)
        return sum(a) * sum(b)

    for n in (9, 9, 9, 0, 11):
        if n:
            assert gradient(f, 0.5, n)[0] == pytest.approx(n * n * (n - 1) * 0.5)
            continue
        with pytest.raises(ValueError, match="not enough values to unpack"):
            gradient(f, 0.5, n)
