"""Partials in transformed code: made inside, or read from outside."""

import functools
from functools import partial

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import testing, value_and_grad


def power(a, p):
    return np.sign(a) * np.abs(a) ** p


WEIGHTS = np.arange(3.0)
ROOT, WEIGHED = partial(power, p=0.5), partial(np.multiply, WEIGHTS)
KINDS = int | float


def from_outside(x):
    return np.sum(ROOT(x)) + np.sum(WEIGHED(x))


def made_inside(x, y):
    def f(a, b, c):
        return a * b + c * a

    g = functools.partial(f, x, c=y)
    return g(y) + partial(g)(b=x) + partial(partial(f, x), y)(x) + partial(g, c=3.0)(y)


def holds_an_array(x):
    a = np.zeros(3)
    multiplied = partial(np.multiply, a)
    a[0] = x * x
    return np.sum(multiplied(np.ones(3)))


def for_an_operator(x, n):
    f = partial(pow, x)
    s = 0.0
    for _ in range(n):
        s += f(2.0)
    return s


def of_a_union(x):
    return x * 2 if isinstance(x, KINDS) and float in KINDS.__args__ else x * 3


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (from_outside, (np.array([0.5, 0.2, 0.1]),)),
        (made_inside, (2.0, 3.0)),
        (holds_an_array, (2.0,)),
        (for_an_operator, (2.0, 3)),
        (of_a_union, (2.0,)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_agreement(f, xs):
    numbers = tuple(i for i, x in enumerate(xs) if type(x) is not int)
    assert testing.why_recorded(f, *xs, argnums=numbers) is None
    assert_agreement(f, xs, argnums=numbers)


def test_what_a_partial_from_outside_holds_is_read_at_each_entry(monkeypatch):
    x = np.array([0.5, 0.2, 0.1])

    def slope():
        return value_and_grad(from_outside)(x)[1]

    assert testing.why_recorded(from_outside, x) is None
    np.testing.assert_allclose(slope(), 0.5 * x**-0.5 + [0, 1, 2])
    monkeypatch.setitem(ROOT.keywords, "p", 2.0)
    np.testing.assert_allclose(slope(), 2 * x + [0, 1, 2])
    WEIGHTS[:] += 1
    np.testing.assert_allclose(slope(), 2 * x + [1, 2, 3])
    WEIGHTS[:] -= 1
    monkeypatch.setattr(f"{__name__}.ROOT", partial(power, p=3.0))
    np.testing.assert_allclose(slope(), 3 * x**2 + [0, 1, 2])
    monkeypatch.setattr(f"{__name__}.ROOT", np.sin)
    np.testing.assert_allclose(slope(), np.cos(x) + [0, 1, 2])


def test_what_cannot_be_called_raises_as_ever():
    for _ in range(4):
        with pytest.raises(TypeError, match="must be callable"):
            value_and_grad(lambda x: partial(x, 3)())(2.0)
