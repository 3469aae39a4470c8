"""Objects of classes that inherit from `tuple`, `list` or `dict`, in transformed code."""

import collections
import copy

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import check_gradient
from zygote_lite import gradient, testing, value_and_grad

X = np.array([1.2, 0.7, 2.0, 0.4])


class Row(list):
    def total(self):
        return sum(self)


class Doubling(list):
    def __init__(self, items, name):
        super().__init__(items)
        self.name = name

    def append(self, value):
        super().append(2.0 * value)

    def __getitem__(self, i):
        return super().__getitem__(i) + 1.0


class Zeros(dict):
    def __missing__(self, key):
        return 0.5


class Bunch(tuple):
    """A tuple with names and attributes, as some functions of SciPy return."""

    def __new__(cls, a, b, **more):
        return tuple.__new__(cls, (a, b))

    def __init__(self, a, b, **more):
        for key, value in more.items():
            self.__dict__[key] = value

    a = property(lambda self: self[0])
    b = property(lambda self: self[1])


class Result(Bunch):
    def __init__(self, a, b, c):
        super().__init__(a, b, extra=c)
        self.own = a * b


def methods_of_a_list(x):
    r = Row([x[0], x[1]])
    r.append(x[2] * x[0])
    r += [x[3]]
    r[0] = r[0] * 2.0
    r.extend((x[1], 1.0))
    r.insert(1, x[3])
    return r.total() * r.pop() + r[1] * len(r) + sum(r[1:]) + r[-1]


def two_names(x):
    r = q = Row([x[0]])
    q.append(x[1] * x[0])
    return r.total() * len(q) * x[2]


def methods_of_its_own(x):
    r = Doubling([x[0], x[1]], "n")
    r.append(x[2])
    return r[2] * r[0] * len(r.name) + sum(r)


def missing_entries(x):
    d = Zeros(k=x[0])
    d["k"] = d["k"] * x[1]
    d["z"] = d["z"] + x[2]
    return d["k"] * d["z"] * d["none"] + len(d) + sum(d.values()) * ("none" in d or x[3])


def counted(x):
    c = collections.Counter()
    for i in range(4):
        c[i % 2] += x[i] ** 2
    return c[0] * c[1] + c[7]


def tuples(x):
    first, second = r = Result(x[0], x[1] * x[2], c=x[3])
    return first * second + r.a * r.b * r.extra * r.own + len(r) + sum(r + (x[0],))


def on_paths(x):
    r = Bunch(x[0], x[1], w=x[2]) if x[0] > 1.0 else Bunch(x[1], x[0], w=2.0)
    for _ in range(2):
        r = Bunch(r.b, r.a * r[0], w=r.w * 0.5)
    return r.a * r.b + r.w


def compared_with_others(x):
    r = Row([x[0], x[1]])
    same = 3.0 if r == [x[0], x[1]] and r != [x[0]] and x[0] in r else 1.0
    return r.total() * same * (2.0 if r else 1.0) * isinstance(r, list) * (type(r) is Row)


def in_arrays(x):
    return np.sum(np.array(Row([x[0], x[1]])) * np.stack(Row([x[2], x[3]])))


ALL = (methods_of_a_list, two_names, methods_of_its_own, missing_entries, counted, tuples,
       on_paths, compared_with_others, in_arrays)  # fmt: skip


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.__name__)
def test_the_gradient_is_that_of_the_tape(f):
    with testing.recorded_only():
        want = value_and_grad(f)(X)
    with testing.compared():
        assert_close(value_and_grad(f)(X), want)
        assert_close(value_and_grad(f)(X[::-1].copy()), value_and_grad(f)(X[::-1].copy()))
    check_gradient(f, X)


@pytest.mark.parametrize(
    "f", [f for f in ALL if f not in (compared_with_others, on_paths)], ids=lambda f: f.__name__
)
def test_it_is_transformed(f):
    with testing.transformed_only():
        gradient(f, X)


def copied(x):
    r = Row([x[0]])
    q = copy.copy(r)
    q.append(x[1])
    return r.total() * 2.0 + q.total()


def in_a_list(x):
    rows = []
    for i in range(3):
        rows.append(Row([x[i]]))
    rows[0].append(x[3])
    return sum(r.total() for r in rows)


def given_to_a_rule(x):
    return np.sum(Row([x[0], x[1]]) * np.array([1.0, 2.0]))


def attributes(x):
    r = Doubling([x[0]], "n")
    r.w = x[1]
    return len(vars(r)) * x[0] + sum(len(name) for name in r.__dict__) * r.w


@pytest.mark.parametrize("f", [copied, in_a_list, given_to_a_rule, attributes])
def test_what_may_be_left_to_the_tape_is_as_right(f):
    with testing.recorded_only():
        want = value_and_grad(f)(X)
    with testing.compared():
        assert_close(value_and_grad(f)(X), want)


def test_a_class_that_changes_is_seen():
    class Late(list):
        def total(self):
            return sum(self)

    def f(x):
        r = Late([x[0], x[1]])
        r.append(x[2])
        return r.total() * r[0]

    differentiated = value_and_grad(f)
    for _ in range(3):
        assert_close(differentiated(X)[0], f(X))
    Late.__getitem__ = lambda self, i: 10.0
    assert_close(differentiated(X)[0], f(X))
    del Late.__getitem__
    Late.append = lambda self, v: list.append(self, 5.0 * v)
    assert_close(differentiated(X)[0], f(X))
    Late.total = lambda self: 7.0
    assert_close(differentiated(X)[0], f(X))
    assert_close(differentiated(X)[1], np.array([7.0, 0.0, 0.0, 0.0]))
