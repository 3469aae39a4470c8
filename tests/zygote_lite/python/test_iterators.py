"""Iterators through which a gradient passes are, to the program, what they were."""

import types
from collections.abc import Iterator

import pytest

from zygote_lite import DifferentiationError, gradient, pullback


def squares(x):
    yield x
    yield x * x


KINDS = {
    "map": lambda x: isinstance(map(lambda v: v * v, [x]), map),
    "not_list": lambda x: isinstance(map(lambda v: v * v, [x]), list),
    "zip": lambda x: isinstance(zip([x], [x]), zip),
    "enumerate": lambda x: isinstance(enumerate([x]), enumerate),
    "generator": lambda x: isinstance(squares(x), types.GeneratorType),
    "expression": lambda x: isinstance((v * x for v in [x]), types.GeneratorType),
    "iterator": lambda x: isinstance(map(lambda v: v * v, [x]), Iterator),
    "type": lambda x: type(zip([x])) is zip,
}


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_an_iterator(name):
    kind = KINDS[name]

    def f(x):
        return x * 2.0 if kind(x) else x * 3.0

    y, back = pullback(f, 2.0)
    assert y == f(2.0)
    assert back(1.0)[1] == f(1.0)


def test_looking_at_an_iterator_does_not_use_it_up():
    def f(x):
        m = map(lambda v: v * v, [x, x])
        isinstance(m, map)
        return sum(m) + x

    assert pullback(f, 3.0)[0] == 21.0
    assert gradient(f, 3.0) == (13.0,)


def test_an_iterator_is_its_own_iterator():
    def f(x):
        m = map(lambda v: v * x, [1.0, 2.0, 3.0])
        first = next(m)
        return first * 10.0 + sum(iter(m))

    assert pullback(f, 2.0)[0] == f(2.0)
    assert gradient(f, 2.0) == (15.0,)


def test_an_iterator_as_the_value_is_refused():
    with pytest.raises(DifferentiationError, match="squares returns an iterator"):
        pullback(squares, 2.0)


TEXTS = {
    "f_string": lambda x: float(f"{x:.6f}") * x,
    "percent": lambda x: float("%.17g" % x) * x,  # noqa: UP031 - the operator is meant
    "str": lambda x: float(str(x)) * x,
    "repr": lambda x: float(repr(x)) * x,
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_number_made_of_a_text_of_a_number_is_refused(name):
    with pytest.raises(DifferentiationError, match=r"test_iterators\.py:\d+: float of \(str\)"):
        gradient(TEXTS[name], 2.0)


def test_a_text_that_is_only_read_stops_nobody():
    seen = []

    def f(x):
        seen.append(f"x = {x:.1f}, " + str(x).upper())
        return x * x

    assert gradient(f, 3.0) == (6.0,)
    assert seen == ["x = 3.0, 3.0"]
