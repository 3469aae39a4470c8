"""Enumerations that are walked over and looked up, and named tuples that are joined as tuples."""

import enum
from typing import NamedTuple

from tests.zygote_lite.checks import programs
from zygote_lite import gradient

PROGRAMS = []
tried = programs.declaring(PROGRAMS)


class Mode(enum.Enum):
    LINEAR = 1
    SQUARE = 2


class Pair(NamedTuple):
    a: float
    b: float


class Sum(NamedTuple):
    a: float
    b: float

    def __add__(self, other):
        return Sum(self.a + other.a, self.b + other.b)


@tried((0.5,), (0.9,))
def walks_over_members(x):
    y = 0.0
    for mode in Mode:
        y += x * mode.value if mode is Mode.LINEAR else x**2
    return y * len(list(Mode))


@tried((0.5,), (0.9,))
def looks_up_a_member(x):
    return x * (3.0 if Mode(2) is Mode.SQUARE else 1.0) * sum([m.value for m in Mode])


@tried((0.5, 0.7), (0.9, 0.2))
def joins_and_repeats(x, y):
    p = Pair(x, y)
    t = p * 2 + (x * y,) + p
    return t[2] * t[4] + 3 * t[-1] * len(2 * p) + sum(p + p)


@tried((0.5, 0.7), (0.9, 0.2))
def adds_in_its_own_way(x, y):
    q = Sum(x, y) + Sum(y, x)
    return q.a * q.b + len(q)


@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    programs.assert_transformed(f, choices, programs.not_counts(choices[0]))


def test_another_enumeration_is_seen(monkeypatch):
    assert [gradient(looks_up_a_member, 0.5)[0] for _ in range(3)] == [9.0] * 3
    other = enum.Enum("Mode", {"LINEAR": 1, "SQUARE": 4, "CUBE": 2})
    monkeypatch.setitem(globals(), "Mode", other)
    assert [gradient(looks_up_a_member, 0.5)[0] for _ in range(3)] == [7.0] * 3
