"""The cotangents of functions that capture variables, where rules hand them on and back."""

import types

import pytest

from rulescore import RuleSet, Tangent
from zygote_lite import gradient, pullback


def picked(fs):
    return fs


def chosen(f):
    return f


@pytest.fixture(autouse=True)
def _rules():
    rule = RuleSet("test_closures")
    rule(picked)(_picked_rule)
    rule(chosen)(_chosen_rule)
    rule.register()
    yield
    rule.unregister()


def _picked_rule(fs: tuple):
    return fs, lambda dy: (dy,)


def _chosen_rule(f: types.FunctionType | types.MethodType):
    return f, lambda dy: (dy,)


def times(s):
    def h(t):
        return t * s

    return h


def times_rebound(s):
    def h(t):
        nonlocal s
        s = s * 1.0
        return t * s

    return h


def times_first(s):
    items = [s]

    def h(t):
        return t * items[0]

    return h


MAKERS = pytest.mark.parametrize("make", [times, times_rebound, times_first])


def of_tangent(d):
    """Return the number in the cotangent of a function."""
    given = next(value for name in d if (value := d[name]) is not None)
    return given[0] if isinstance(given, list) else given


@MAKERS
def test_a_closure_that_a_rule_returns_gives_its_gradient_once(make):
    (d,) = gradient(lambda h: picked((h, h))[0](3.0), make(0.7))
    assert of_tangent(d) == 3.0
    (d,) = gradient(lambda h: picked((h, h))[1](3.0) + chosen(h)(2.0) + h(1.0), make(0.7))
    assert of_tangent(d) == 6.0


@MAKERS
def test_a_closure_made_inside_that_a_rule_returns(make):
    def f(x):
        h = make(x * x)
        a, b = picked((h, h))
        return a(3.0) + b(1.0) + chosen(h)(1.0) + h(2.0)

    assert gradient(f, 0.5)[0] == 7.0


def test_a_method_that_a_rule_returns():
    class Model:
        def __init__(self, a):
            self.a = a

        def at(self, t):
            return self.a * t

    (d,) = gradient(lambda m: picked((m.at, 1.0))[0](3.0) + m.at(1.0), Model(0.7))
    assert d.a == 4.0


def test_a_method_of_a_number():
    """Its owner goes by value, and so does its cotangent."""
    method = types.MethodType(lambda s, t: s * s * t, 3.0)
    (d,) = gradient(lambda m: m(5.0) + picked((m, m))[1](2.0), method)
    assert d["__self__"] == 42.0
    assert gradient(lambda m: 1.0, method) == (None,)

    def inside(x):
        m = types.MethodType(lambda s, t: s * t, x)
        return chosen(m)(2.0) * m(3.0)

    assert gradient(inside, 0.5) == (6.0,)


@pytest.mark.parametrize("make", [times, times_rebound])
def test_a_pullback_is_given_the_cotangent_of_a_closure(make):
    _, back = pullback(make, 0.5)
    assert back(Tangent(types.FunctionType, s=2.0)) == (None, 2.0)
    assert back(Tangent(types.FunctionType, s=2.0)) == (None, 2.0)
