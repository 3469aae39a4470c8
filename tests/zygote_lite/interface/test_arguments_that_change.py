"""Derivatives have the form that an argument had before the function removed or added entries."""

import copy

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import leaves, replaced, slope
from zygote_lite import (
    grad,
    gradient,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    testing,
    value_and_grad,
    vjp,
)


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


def appends(xs):
    xs.append(xs[0] * 2.0)
    xs[0] = xs[1] * xs[0]
    return xs[0] * xs[-1]


def pops(xs):
    return xs.pop() * xs[0]


def drops(xs):
    xs.pop()
    return xs[0] ** 2


def clears(xs):
    a = xs[0]
    xs.clear()
    return a * a * a


def inserts(xs):
    xs.insert(0, 1.0)
    return xs[1] ** 2


def puts_text(xs):
    xs[1] = "text"
    return xs[0] ** 2


def replaces(d):
    d["c"] = d["a"] * d["b"]
    d["a"] = d.pop("b")
    return d["c"] * d["a"]


def forgets(d):
    del d["b"]
    return d["a"] ** 2


def loses_a_field(o):
    o.c = o.a * o.a
    del o.b
    return o.c * o.a


def of_arrays(d):
    w = d.pop("w")
    d["v"] = w * 2.0
    return np.sum(d["v"] * w) * d["a"]


CASES = [
    *((f, [2.0, 3.0]) for f in (appends, pops, drops, clears, inserts, puts_text)),
    *((f, {"a": 2.0, "b": 3.0}) for f in (replaces, forgets)),
    (of_arrays, {"w": np.array([1.0, -2.0]), "a": 3.0}),
]
NAMES = [f.__name__ for f, _ in CASES]


def slopes_of(f, x):
    """Return the slope by each number, by differences on copies."""
    return [
        slope(lambda h, p=p, leaf=leaf: f(replaced(copy.deepcopy(x), p, leaf + h)))[0]
        for p, leaf in leaves(x)
        if isinstance(leaf, float)
    ]


def numbers_in(d):
    return [leaf for _, leaf in leaves(d)]


@pytest.mark.parametrize("verb", [grad, jacobian, jacfwd])
@pytest.mark.parametrize(("f", "x"), CASES, ids=NAMES)
def test_each_entry_has_its_slope(f, x, verb):
    want = slopes_of(f, x)
    for _ in range(3):
        found = verb(f)(copy.deepcopy(x))
        assert type(found) is type(x)
        assert len(found) == len(x)
        if f is of_arrays:
            assert {*found} == {"w", "a"}
            assert_close(found["w"], 12.0 * x["w"])
        else:
            assert_close([float(d) for d in numbers_in(found)], want, 1e-6)
    with testing.recorded_only():
        assert_close(verb(f)(copy.deepcopy(x)), found)


@pytest.mark.parametrize(("f", "x"), CASES, ids=NAMES)
def test_the_other_verbs_say_the_same(f, x):
    want = grad(f)(copy.deepcopy(x))
    assert_close(value_and_grad(f)(copy.deepcopy(x))[1], want)
    assert_close(vjp(f, copy.deepcopy(x))[1](1.0)[0], want)
    pair, aux = grad(lambda x: (f(x), "aux"), has_aux=True)(copy.deepcopy(x))
    assert_close(pair, want)
    assert aux == "aux"


def test_an_object_that_loses_a_field():
    for verb in (grad, jacobian, jacfwd):
        for _ in range(3):
            found = verb(loses_a_field)(Pair(2.0, 3.0))
            assert {name: float(d) for name, d in found.items()} == {"a": 12.0, "b": 0.0}


def test_second_derivatives():
    for _ in range(3):
        assert_close(hvp(drops)([2.0, 3.0], [1.0, 1.0]), [2.0, 0.0])
        assert_close(hvp(appends)([2.0, 3.0], [1.0, 0.0]), [12.0, 8.0])
        found = hessian(appends)([2.0, 3.0])  # of 2 a a b
        assert_close([[float(d) for d in row] for row in found], [[12.0, 8.0], [8.0, 0.0]])


def test_inside_a_function_that_is_differentiated():
    def of_jacobian(x):
        a, b = jacobian(appends)([x, 3.0])
        return a * b  # 4 x 3, and 2 x x

    def of_gradient(x):
        a, b = grad(drops)([x, 3.0])
        return a * x + b

    for _ in range(3):
        assert_close(gradient(of_jacobian, 2.0)[0], 288.0)
        assert_close(gradient(of_gradient, 2.0)[0], 8.0)
