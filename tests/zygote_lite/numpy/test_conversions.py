"""What NumPy makes an array of, where it is written into one, and where arrays are joined."""

from collections import UserList, deque

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import DifferentiationError, gradient, testing

ROW = np.array([1.0, 3.0])


class Asked:
    """An object that says what it is as an array."""

    def __init__(self, x):
        self.x = x

    def __array__(self, dtype=None, copy=None):
        return self.x * ROW


class Number:
    """An object that says what number it is."""

    def __init__(self, x):
        self.x = x

    def __float__(self):
        return self.x * 3.0


class InMemory:
    """An object that says where its numbers are."""

    def __init__(self, x):
        self.x = x

    @property
    def __array_interface__(self):
        return self.x.__array_interface__


def writes(x):
    y = np.zeros((3, 2))
    y[0] = Asked(x)
    y[1:2] = deque([x, 2.0 * x])
    y[np.array([False, False, True])] = Asked(x * x)
    return np.sum(y * y)


def writes_in_other_ways(x):
    y, z = np.ones(2), np.zeros(2)
    np.add.at(y, [0, 1], Asked(x))
    np.multiply.at(y, [1, 1], deque([x, 3.0]))
    np.copyto(z, Asked(x), where=[True, False])
    z.real = z + deque([x, 1.0])[0]
    w = np.zeros(2)
    w.fill(Number(x))
    return np.sum(y * y) + np.sum(z * z) + np.sum(w * w)


def joins(x):
    whole = np.concatenate([Asked(x), np.array([x])])
    rows = np.vstack((Asked(2.0 * x), [1.0, x])) + np.stack([Asked(x), Asked(3.0 * x)], axis=1)
    return np.sum(whole * whole) + np.sum(rows * rows)


@pytest.mark.parametrize("f", [writes, writes_in_other_ways, joins])
def test_it_is_asked_and_followed(f):
    with testing.recorded_only():
        assert_slopes(gradient(f, 1.3), f, (1.3,), 1e-7)
    for _ in range(3):
        assert_slopes(gradient(f, 1.3), f, (1.3,), 1e-7)


@pytest.mark.parametrize(
    "given",
    [lambda x: UserList([x, x]), lambda x: InMemory(np.array([x, x]))],
    ids=["in Python", "memory"],
)
def test_what_is_not_followed_is_refused(given):
    def f(x):
        y = np.zeros(2)
        y[:] = given(x)
        return np.sum(y)

    assert f(1.5) == 3.0
    for _ in range(3):
        with pytest.raises(DifferentiationError, match=r"numpy.asarray of \("):
            gradient(f, 1.5)


NOT_READ = {
    "a deque for an entry": lambda y, x: y.__setitem__(0, deque([x])),
    "an object for an entry": lambda y, x: y.__setitem__(0, Asked(x)),
    "a generator": lambda y, x: y.__setitem__(slice(None), (v for v in (x, x))),
    "a list to fill with": lambda y, x: y.fill([x, x]),
    "an object to fill with": lambda y, x: y.fill(Asked(x)),
}


@pytest.mark.parametrize("name", NOT_READ)
def test_what_numpy_takes_for_a_number_raises_what_it_raises(name):
    def f(x):
        y = np.zeros(2)
        NOT_READ[name](y, x)
        return np.sum(y)

    for call in (f, *[lambda x: gradient(f, x)] * 3):
        with pytest.raises((TypeError, ValueError), match=r"float\(\)|with a sequence"):
            call(1.5)
