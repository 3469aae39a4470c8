"""Attributes that come through a dict: that of an object, or the items of a dict that is one."""

import copy

import pytest

from zygote_lite import gradient, testing, value_and_grad


class Pair:
    """Two numbers."""

    def __init__(self, a, b):
        self.a, self.b = a, b


def copied(x):
    q = copy.copy(Pair(x, 1.0))
    q.a = 0.5
    return q.a + x * x


def copied_deeply(x):
    q = copy.deepcopy(Pair(x, x))
    q.a = 0.5
    return q.a + q.b + x * x


def updated(x):
    q = Pair(1.0, 1.0)
    q.__dict__.update({"a": x, "b": x * x})
    q.a = 0.5
    q.b = 2.0 * q.b
    return q.a + q.b


def deleted(x):
    q = copy.copy(Pair(x, x * x))
    del q.a
    q.a = 2.0
    return q.a + q.b


@pytest.mark.parametrize("f", [copied, copied_deeply, updated, deleted])
def test_a_constant_replaces_what_came_through_the_dict(f):
    slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    with testing.recorded_only():
        assert value_and_grad(f)(1.5) == pytest.approx((f(1.5), slope))


class Open(dict):
    """A dict whose items are attributes, by functions in C under other names."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


def test_attributes_that_are_items_of_a_dict():
    def f(x):
        found = Open(b=x)
        found.a = x * x
        return found.a * found["a"] + found.b

    assert gradient(f, 2.0) == (4 * 2.0**3 + 1.0,)
