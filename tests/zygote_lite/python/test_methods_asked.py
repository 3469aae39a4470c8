"""Special methods are asked as often as Python asks them, also where they do not answer."""

import operator
import re
from collections import deque

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import DifferentiationError, gradient, value_and_grad

asked: list[str] = []


class Asked:
    def __init__(self, name, value):
        self.name, self.value = name, value

    def refuse(self, other):
        asked.append(self.name)
        return NotImplemented

    __add__ = __radd__ = __sub__ = __rsub__ = __lt__ = __gt__ = __eq__ = refuse

    def __hash__(self):
        asked.append(f"hash of {self.name}")
        return 5

    def __getattr__(self, name):
        asked.append(f"{name} of {self.name}")
        raise AttributeError(name)

    def __call__(self, *xs, **options):
        asked.append(f"call of {self.name}")
        return self.value * sum(xs) * sum(options.values())


class Other(Asked):
    pass


def outcome(f, *xs):
    asked.clear()
    try:
        return f(*xs), None, asked[:]
    except TypeError as error:
        return None, str(error).splitlines()[0], asked[:]


OPERATORS = (operator.eq, operator.ne, operator.lt, operator.add, operator.sub)


@pytest.mark.parametrize("of", OPERATORS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kinds", [(Asked, Asked), (Asked, Other), (Asked, float), (float, Asked)])
def test_a_method_that_does_not_answer_is_asked_once(of, kinds):
    def f(x):
        a, b = (kind(x) if kind is float else kind("ab"[i], x) for i, kind in enumerate(kinds))
        return x * (3.0 if of(a, b) else 2.0)

    value, error, expected = outcome(f, 1.5)
    for _ in range(3):
        found, message, times = outcome(lambda: value_and_grad(f)(1.5)[0])
        assert (found, times) == (value, expected)
        assert error is None or error in message


def test_an_object_that_is_called_is_asked_for_nothing_else():
    def f(x):
        return Asked("a", x)(x, 2.0, k=x) + Asked("b", x)(*[x, x])

    for _ in range(3):
        assert outcome(lambda: value_and_grad(f)(1.5)) == (
            (f(1.5), pytest.approx(3 * 1.5**2 + 4.0 * 1.5)), None, ["call of a", "call of b"]
        )  # fmt: skip


class Answering:
    def __init__(self, x):
        self.x = x

    def __bool__(self):
        return np.bool_(self.x > 0)

    def __len__(self):
        return -1

    def __float__(self):
        return 1

    def __index__(self):
        return self.x


@pytest.mark.parametrize(
    "ask", [bool, operator.not_, len, float, operator.index, lambda a: 1 if a else 2], ids=range(6)
)
def test_what_a_method_may_not_return_raises_as_in_python(ask):
    def f(x):
        try:
            return x + ask(Answering(x))
        except (TypeError, ValueError) as error:
            return 3.0 * x + len(str(error))

    for _ in range(3):
        assert value_and_grad(f)(2.0) == (f(2.0), 3.0)


# -- sequences, which C joins after it has asked the right operand ---------------------------------


class Joining:
    def __init__(self, value):
        self.value, self.asked = value, 0

    def __radd__(self, other):
        self.asked += 1
        return self.value * 10.0 + other[0]

    def __rmul__(self, other):
        self.asked += 1
        return self.value * 20.0 * other[0]


class Refusing(Joining):
    def __radd__(self, other):
        self.asked += 1
        return NotImplemented

    __rmul__ = __radd__

    def __iter__(self):
        return iter([self.value])

    def __index__(self):
        self.asked += 10
        return 2


def added_in_place(x, y):
    x += y
    return x


def repeated_in_place(x, y):
    x *= y
    return x


JOINED = [operator.add, operator.mul, added_in_place, repeated_in_place]


@pytest.mark.parametrize("join", JOINED, ids=["+", "*", "+=", "*="])
@pytest.mark.parametrize("of", [list, tuple, deque])
@pytest.mark.parametrize("kind", [Joining, Refusing])
def test_sequences_are_joined_after_the_right_operand_is_asked(kind, of, join):
    def f(x):
        y = kind(x)
        joined = join(of([x]), y)
        return (joined if kind is Joining else joined[-1] * len(joined)) * y.asked

    try:
        expected = f(1.5)
    except TypeError as error:
        for _ in range(3):
            with pytest.raises(TypeError, match=re.escape(str(error))):
                gradient(f, 1.5)
        return
    if kind is Refusing and join in (operator.mul, repeated_in_place) and of is deque:
        with pytest.raises(DifferentiationError, match=r"has no rule|may call"):
            gradient(f, 1.5)
        return
    for _ in range(3):
        assert value_and_grad(f)(1.5)[0] == expected
        assert_slopes(gradient(f, 1.5), f, (1.5,), 1e-6)
