"""Structures that share structures have more parts than can be counted: they are left to the tape.

Each of these tests takes longer than anyone waits where the parts are walked over one by one.
"""

import pytest

from zygote_lite import code_adjoint, gradient, testing, value_and_grad

DEPTH = 60


def shared(inner, double):
    for _ in range(DEPTH):
        inner = double(inner)
    return inner


def layered():
    """Return a list of lists of which no two that stand side by side are one."""
    rows = [[1.0] * 2 for _ in range(17)]
    for _ in range(DEPTH):
        rows = [list(rows) for _ in range(17)]
    return rows


def innermost(x, a):
    for _ in range(DEPTH):
        a = a[0]
    return a[0] * x


STRUCTURES = {
    "lists": shared([3.0], lambda a: [a, a]),
    "tuples": shared((3.0,), lambda a: (a, a)),
    "dicts": shared([3.0], lambda a: {0: a, 1: a}),
    "dicts with keys of text": shared([3.0], lambda a: {"a": a, "b": a}),
    "long lists": shared([3.0], lambda a: [a] * 17),
}
KEYS = {"dicts with keys of text": "a"}


@pytest.mark.parametrize("name", STRUCTURES)
def test_an_argument_that_shares_its_parts_is_recorded(name):
    a, key = STRUCTURES[name], KEYS.get(name, 0)

    def f(x, a):
        for _ in range(DEPTH):
            a = a[key]
        return a[0] * x

    for _ in range(3):
        assert value_and_grad(f)(2.0, a) == (6.0, 3.0)
    assert "too many items" in testing.why_recorded(f, 2.0, a)
    assert "not transformed" in code_adjoint(f, 2.0, a)


def test_an_argument_whose_rows_differ_is_recorded():
    a = layered()

    def f(x, a):
        return x * len(a)

    for _ in range(3):
        assert gradient(f, 2.0, a)[0] == 17.0
    assert "too many items" in testing.why_recorded(f, 2.0, a)


def test_a_list_that_holds_itself_is_recorded():
    a = [2.0]
    a.append(a)

    def f(x, a):
        return x * a[1][1][0]

    for _ in range(3):
        assert value_and_grad(f)(3.0, a) == (6.0, 2.0)
    assert "too many items" in testing.why_recorded(f, 3.0, a)


def test_an_argument_that_is_nested_deeply_is_recorded():
    a = 2.0
    for _ in range(3000):
        a = [a]

    def f(x, a):
        while type(a) is list:
            a = a[0]
        return x * a

    for _ in range(3):
        assert value_and_grad(f)(3.0, a) == (6.0, 2.0)
    assert "nested too deeply" in testing.why_recorded(f, 3.0, a)


@pytest.mark.parametrize("name", ["lists", "tuples", "dicts"])
def test_a_global_that_shares_its_parts_is_recorded(name):
    a = STRUCTURES[name]

    def f(x):
        return innermost(x, a)

    for _ in range(3):
        assert gradient(f, 2.0) == (3.0,)
    assert testing.why_recorded(f, 2.0) is not None


def test_many_structures_that_are_few_enough_are_transformed():
    pairs = [(float(i), 1.0) for i in range(1000)]

    def f(x, pairs):
        return x * pairs[7][0]

    for _ in range(3):
        assert value_and_grad(f)(2.0, pairs) == (14.0, 7.0)
    assert testing.why_recorded(f, 2.0, pairs) is None


def test_long_lists_of_rows_are_transformed_however_many_they_are():
    rows = [[float(i), 1.0] for i in range(5000)]

    def f(x, rows):
        total = 0.0
        for row in rows:
            total = total + row[1] * x
        return total

    for _ in range(3):
        assert value_and_grad(f)(2.0, rows) == (10_000.0, 5000.0)
    assert testing.why_recorded(f, 2.0, rows) is None
