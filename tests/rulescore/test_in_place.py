"""Functions that change what they are given: a rule would lose the gradient, and is refused."""

import operator
from collections import deque
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from rulescore import RuleError, RuleSet, custom_rule
from zygote_lite import grad


class Box:
    def __init__(self, a):
        self.a = a

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)

    def __setitem__(self, key, value):
        self.a = value

    def __iadd__(self, other):
        self.a = self.a + other
        return self

    def __add__(self, other):
        return Box(self.a + other)

    def put(self, value):
        if value is None:
            return
        self.a = value

    @property
    def half(self):
        return self.a / 2

    @half.setter
    def half(self, value):
        self.a = 2 * value


@dataclass
class Point:
    a: float

    def __post_init__(self):
        self.a = 2 * self.a


ELSEWHERE = "returns what is new"
CHANGING = [
    (Box.__init__, r"the class itself, `@rule\(Box\)`"),
    (Point.__init__, r"the class itself, `@rule\(Point\)`"),
    (Point.__post_init__, r"the class itself, `@rule\(Point\)`"),
    (object.__setattr__, ELSEWHERE),
    (Box.__setattr__, ELSEWHERE),
    (Box.__setitem__, ELSEWHERE),
    (Box.__iadd__, "`Box.__add__`, which returns a new object"),
    (Box.put, ELSEWHERE),
    (Box(1.0).put, ELSEWHERE),
    (Box.half.fset, ELSEWHERE),
    (setattr, ELSEWHERE),
    (operator.iadd, "`operator.add`, which returns a new object"),
    (operator.setitem, ELSEWHERE),
    (list.append, ELSEWHERE),
    ([].append, ELSEWHERE),
    (dict.setdefault, ELSEWHERE),
    (deque.rotate, ELSEWHERE),
    (np.ndarray.fill, ELSEWHERE),
    (np.ndarray.__setitem__, ELSEWHERE),
    (np.ndarray.__iadd__, "`ndarray.__add__`"),
    (np.add.at, ELSEWHERE),
    (np.copyto, ELSEWHERE),
]


@pytest.mark.parametrize(("f", "advice"), CHANGING, ids=map(str, range(len(CHANGING))))
def test_a_rule_is_refused_where_it_is_declared(f, advice):
    rule = RuleSet("mine")
    forms = [rule, rule.linear, rule.forward]
    for form in forms:
        with pytest.raises(RuleError, match=rf"mine, .*test_in_place.py:\d+.*{advice}"):
            form(f)(lambda x, y: (None, lambda dy: (None, None)))
    assert rule.rules == []


def either(x):
    return x or None


def of_paths(x):
    if x > 0:
        return x
    return None


def stub(x):
    """It has nothing but a rule."""


def always_raises(x):
    raise NotImplementedError(x)


def numbers(x):
    yield x


async def later(x):
    print(x)


@custom_rule
def doubled(x):
    return 2 * x, lambda dy: (2 * dy,)


RETURNING = [
    either, of_paths, stub, always_raises, numbers, later, doubled, lambda x: [x].append(x) or x,
    Box.__add__, Box.__new__, Box.half, Box, list, list.copy, list.index, dict.get, dict.fromkeys,
    np.add, np.add.reduce, np.ndarray.sum, np.ndarray.copy, operator.add, SimpleNamespace,
]  # fmt: skip


@pytest.mark.parametrize("f", RETURNING, ids=map(str, range(len(RETURNING))))
def test_a_rule_for_what_returns_a_value_is_taken(f):
    rule = RuleSet("mine")
    rule(f)(lambda x: (x, lambda dy: (dy,)))
    assert len(rule.rules) == 1


def test_what_is_simply_run_may_change_things():
    rule = RuleSet("mine")
    rule.constant(Box.put, list.append)
    assert len(rule.rules) == 2


def test_the_rule_for_the_class_has_the_gradient_through_its_objects(rule):
    """As the refusal advises; the factor shows that the rule answers."""

    class Scaled:
        def __init__(self, a):
            self.a = float(np.sin(a))

    @rule(Scaled)
    def _(a: float):
        return Scaled(a), lambda dy: (3.0 * np.cos(a) * dy.a,)

    differentiated = grad(lambda x: Scaled(x).a ** 2)
    for _ in range(4):
        assert differentiated(0.5) == pytest.approx(3.0 * np.sin(1.0))
