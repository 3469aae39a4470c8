"""Named tuples in transformed code: made inside, given, carried by loops."""

import copy
import math
from collections import namedtuple
from typing import NamedTuple

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import assert_agreement, is_alike, outcome
from zygote_lite import gradient, testing, value_and_grad


class State(NamedTuple):
    """A state of motion."""

    pos: float
    vel: float = 0.5

    @property
    def energy(self):
        return self.pos**2 + 0.5 * self.vel**2

    def moved(self, h):
        return self._replace(pos=self.pos + h * self.vel)

    def __neg__(self):
        return State(-self.pos, -self.vel)


Pair = namedtuple("Pair", "a b")


class Weighted(Pair):
    """A pair with methods."""

    __slots__ = ()

    def total(self):
        return self.a * self.b


class Doubling(namedtuple("Base", "a b")):
    """A pair whose class makes it in its own way."""

    def __new__(cls, a, b):
        return super().__new__(cls, 2.0 * a, b)


def made_inside(x):
    s = State(x, vel=x * x)
    t = s.moved(0.5)._replace(vel=3.0)
    p, v = t
    w = Weighted(x, p)
    u = -State(x)
    return s.energy + t[0] * t[-1] + p * v + w.total() + sum(w) + len(s) + u.vel + w._asdict()["a"]


def rebound(x, n):
    s, last = State(x), Pair(0.0, State(1.0))
    for i in range(n):
        last = Pair(s.pos, s)
        s = State(s.pos + 0.1 * s.vel, s.vel - 0.1 * s.pos * i)
    return s.energy + last.a + last.b.vel


def decided(x):
    s = State(x) if x > 1.0 else State(x * x, x)
    return s.pos * s.vel


def given(s, x):
    return s.energy * x + s[1] + s.moved(x).pos


def nested(p, x):
    return p.a.pos * p.b[0] * x


def of_arrays(p, x):
    return np.sum(p.a @ x + p.b)


def joined(x):
    return (State(x) + Pair(1.0, x))[3] * x


CASES = [
    (joined, [(1.5,), (0.5,), (np.float64(2.0),)], (0,)),
    (made_inside, [(1.5,), (-0.5,), (np.float64(2.0),), (np.float32(2.0),)], (0,)),
    (rebound, [(1.5, 4), (0.5, 0), (np.float64(2.0), 2)], (0,)),
    (decided, [(1.5,), (0.5,), (np.float64(2.0),)], (0,)),
    (given, [(State(1.5), 2.0), (State(np.float64(0.5), 1.0), 2.0)], (0, 1)),
    (given, [(State(1.5), 2.0), (State(0.5, 2.0), 3.0)], (1,)),
    (nested, [(Pair(State(1.5), [2.0, 3.0]), 2.0)], (0, 1)),
    (of_arrays, [(Pair(np.ones((2, 3)), np.ones(2)), np.arange(3.0))], (0, 1)),
]


@pytest.mark.parametrize(("f", "inputs", "argnums"), CASES)
def test_named_tuples(f, inputs, argnums):
    assert assert_agreement(f, *inputs, argnums=argnums)
    for xs in inputs:
        if f is rebound and type(xs[0]) is not float:
            continue
        with testing.transformed_only():
            value, found = value_and_grad(f, argnums)(*copy.deepcopy(xs))
        assert value == pytest.approx(f(*xs), rel=1e-6)
        if argnums == (0,) and type(xs[0]) is float:
            h = 1e-6
            slope = (f(xs[0] + h, *xs[1:]) - f(xs[0] - h, *xs[1:])) / (2 * h)
            assert found[0] == pytest.approx(slope, rel=1e-5)


def test_the_gradient_is_a_named_tuple():
    for _ in range(4):
        found, dx = gradient(nested, Pair(State(1.5), [2.0, 3.0]), 2.0)
        assert (type(found), type(found.a), dx) == (Pair, State, 3.0)
        assert found.a.pos == 4.0
        assert found.b[0] == 3.0
    full = value_and_grad(nested)(Pair(State(1.5), [2.0, 3.0]), 2.0)[1]
    assert full == Pair(State(4.0, 0.0), [3.0, 0.0])


def of_its_own_making(x):
    return Doubling(x, 1.0).a * x


def with_wrong_fields(x):
    return State(x)._replace(other=1.0).pos


def assigned(x):
    s = State(x)
    s.pos = 2.0
    return s.pos * x


def compared(x):
    return x * 2.0 if State(x) == State(1.5) else x


def to_an_array(x):
    return np.array(State(x)).sum() + math.hypot(*State(x))


@pytest.mark.parametrize(
    "f", [of_its_own_making, with_wrong_fields, assigned, compared, to_an_array]
)
def test_what_is_recorded(f):
    for x in (1.5, 1.5, 1.5, 0.5):
        with testing.recorded_only():
            want = outcome(lambda x=x: value_and_grad(f)(x))
        assert is_alike(outcome(lambda x=x: value_and_grad(f)(x)), want)
    assert testing.why_recorded(f, 1.5)


SHARED = [1.0, 2.0]


def of_shared(p, x):
    return p.a[0] * p.b[1] * x


def test_a_list_that_is_there_twice():
    for p in (Pair([1.0, 2.0], [3.0, 4.0]),) * 3 + (Pair(SHARED, SHARED),) * 3:
        with testing.recorded_only():
            want = value_and_grad(of_shared)(p, 1.5)
        assert is_alike(value_and_grad(of_shared)(p, 1.5), want)


class WithComputedField(State):
    """A state whose subclass says what a field is."""

    vel = property(lambda self: 3.0 * self[0])


class WithConstantField(State):
    vel = 2.0


@pytest.mark.parametrize(("kind", "slope"), [(WithComputedField, 12.0), (WithConstantField, 2.0)])
def test_a_subclass_may_say_what_a_field_is(kind, slope):
    def made(x):
        return kind(x, x * x).vel * x

    def given(p):
        return p.vel * p.pos

    with testing.strict():
        for _ in range(4):
            assert gradient(made, 2.0) == pytest.approx((slope,))
            (d,) = gradient(given, kind(2.0, 4.0))
            assert (d[0], d[1] or 0.0) == pytest.approx((slope, 0.0))
