"""Comprehensions that a built-in function uses up at once: in specialized code, a loop."""

import builtins
import functools
import math
import operator
import sys
import types
from functools import reduce
from unittest import mock

import numpy as np
import pytest

from tests.zygote_lite.checks.oracles import (
    answers,
    assert_agreement,
    generic,
    is_alike,
    outcome,
)
from tests.zygote_lite.fuzz.generate.folds import arguments, program
from zygote_lite import code_adjoint, testing, value_and_grad

XS, YS = [0.5, 1.25, -0.75], [2.0, -1.0, 0.25]
LONG = [0.01 * i - 0.2 for i in range(80)]
ROWS = [[0.5, 1.5], [2.5, -0.5]]


def scaled(x, n):
    return sum(x * i for i in range(n))


def dot(xs, ys):
    return sum(p * q for p, q in zip(xs, ys, strict=False))


def dot_of_list(xs, ys):
    return sum([p * q for p, q in zip(xs, ys, strict=False)], 0.5)


def norm(xs):
    return math.sqrt(sum(v**2 for v in xs))


def from_start(xs, x):
    return sum((v * x for v in xs), x) + sum((v for v in xs), start=1.5)


def some(xs):
    return sum(v * v for v in xs if v > 0.2 if v < 2.0)


def pairs(xs, ys):
    return sum(a * b for a in xs for b in ys if a > b)


def quadratic(rows, v):
    return sum(sum(a * b for a, b in zip(r, v, strict=True)) ** 2 for r in rows)


def products(rows, v):
    made = [sum(a * b for a, b in zip(r, v, strict=True)) for r in rows]
    return made[0] * made[1]


def largest(x, n):
    return max(x * i for i in range(n))


def least_of_some(xs, x):
    return min((v * v + x for v in xs if v > x), default=x)


def largest_of_equal(xs):
    return max(v * 2.0 for v in xs)


def has_some(xs, x):
    return x if any(v * x > 0.5 for v in xs) else x * x


def has_some_of_two(xs, ys):
    return xs[0] if any(a * b > 1.9 for a in xs for b in ys) else ys[0]


def is_all(xs, x):
    return x * math.sin(x) if all(v < 1.0 for v in xs) else x**3


def of_two(x):
    return any(v > 1.0 for v in (x, 2.0 * x)) * x + all(v > 1.0 for v in (x, 2.0 * x)) * x


def stops_before_the_error(xs):
    return xs[0] if any(1.0 / (v - 1.25) > 0.1 for v in xs) else xs[1]


def product(xs, x):
    return math.prod(v + x for v in xs) * math.prod(v for v in xs)


def accurate(xs):
    return math.fsum(v * v for v in xs)


def as_list(xs):
    made = list(v * v for v in xs)
    return made[0] * made[-1]


def as_tuple(xs):
    a, b, c = tuple(v * v for v in xs)
    return a * b + c


def own_variable(xs):
    v = 3.0
    s = sum(v * v for v in xs)
    return s * v


def same_variable_twice(x):
    v = [x, x * x]
    return sum(v * 2.0 for v in v) + sum(sum(v * i for i in range(2)) for v in v)


def strictly(xs, ys):
    return sum(p * q for p, q in zip(xs, ys, strict=True))


def assigned_inside(xs):
    last = 0.0
    found = any((last := v * v) > 1.0 for v in xs)
    return last * 2.0 if found else last


def reads_what_is_rebound(xs, a):
    s = 0.0
    for i in range(3):
        a = a * 1.5
        s += sum(v * a + i for v in xs)
    return s


def inside(xs):
    def energy(scale):
        return sum(scale * v * v for v in xs)

    return energy(2.0) * energy(0.5)


def of_arrays(w, x):
    return sum(np.sum(w * i * x) for i in range(3))


def returns_early(xs):
    for v in xs:
        if v > 1.0:
            return v * v
    return xs[0] * 3.0


def leaves_early(xs):
    s = 0.0
    for v in xs:
        if v < 0.0:
            break
        s += v * v
    else:
        s = s * 2.0
    return s + v


def mapped(xs):
    return sum(map(math.sin, xs)) * math.fsum(map(lambda v: v * xs[0], xs))


def mapped_pairs(xs, ys):
    made = list(map(lambda a, b: a * b, xs, ys))
    return sum(map(lambda p, q: p * q, xs, ys)) + made[0]


def of_mapped(xs, x):
    largest = max(map(lambda v: v * x, xs), default=x)
    return largest if any(map(lambda v: v > x, xs)) else math.prod(map(abs, xs)) * x


def mapped_by_what_is_rebound(xs):
    f = math.sin
    total = sum(map(f, xs))
    f = math.cos
    return total + sum(map(f, xs))


def horner(x):
    return functools.reduce(lambda a, b: a * x + b, [1, 2, 3], 0.0)


def reduced(xs, x):
    return reduce(lambda a, b: a * x + b, xs) + reduce(operator.add, (v * v for v in xs), x)


def reduced_map(xs):
    return functools.reduce(max, map(math.sin, xs), 0.5) + functools.reduce(operator.mul, xs, 1.0)


def own_names_of_that_loop(xs):
    item, left = 2.0, 3.0
    for v in xs:
        for w in xs:
            if w < v:
                break
            left = left * w + item
        if v < 0.0:
            break
        item = item + v * left
    return item * left


CASES = [
    (scaled, (0.5, 4), (1.5, 0), (0.5, 100)),
    (dot, (XS, YS), (XS, [1.0]), (LONG, LONG[::-1]), (XS, [1.0, 2, 3.0]), ([], [])),
    (strictly, (XS, YS), (LONG, LONG[::-1]), (LONG, XS), (XS, [1.0]), (XS, np.array(YS))),
    (strictly, (np.array(XS), np.array(YS)), (np.array(XS), np.array(LONG))),
    (dot_of_list, (XS, YS), (LONG, LONG[::-1]), ([], [])),
    (norm, (XS,), (LONG,), ([0.0, 0.0],), (np.array(XS),), ((0.5, 0.25),)),
    (from_start, (XS, 0.7), (LONG, 0.7), ([], 0.7)),
    (some, (XS,), (LONG,), ([0.1],)),
    (pairs, (XS, YS), (LONG, YS), ([], YS)),
    (quadratic, (ROWS, [0.3, -0.2]), (ROWS, [0.3])),
    (products, (ROWS, [0.3, -0.2])),
    (largest, (0.5, 4), (-0.5, 4), (0.5, 0), (math.nan, 3)),
    (least_of_some, (XS, 0.1), (XS, 5.0), (LONG, 0.1)),
    (largest_of_equal, ([1.0, 1.0, 0.5],), ([0.5, 1.0, 1.0],), (LONG,), ([],), ([1, 2.0],)),
    (has_some, (XS, 0.9), (XS, 0.1), (LONG, 1.9), ([], 0.3)),
    (has_some_of_two, (XS, YS), (LONG, YS), ([1.0], [2.0])),
    (is_all, (XS, 0.9), ([0.1], 0.9), (LONG, 0.9)),
    (of_two, (0.75,), (1.5,), (0.1,)),
    (stops_before_the_error, ([2.0, 1.25],), ([0.5, 1.25],), ([0.5, 0.25],)),
    (product, (XS, 0.3), (LONG, 0.3), ([], 0.3), ([0.0, 1.0, 0.0], 0.0)),
    (accurate, (XS,), (LONG,), ([],)),
    (as_list, (XS,), (LONG,)),
    (as_tuple, (XS,), (YS,), ([1.0],)),
    (own_variable, (XS,), (LONG,)),
    (same_variable_twice, (0.5,), (1.5,)),
    (assigned_inside, (XS,), ([0.5, 0.25],), (LONG,), ([],)),
    (reads_what_is_rebound, (XS, 0.5), (LONG, 0.5)),
    (inside, (XS,), (YS,)),
    (of_arrays, (np.array(XS), 0.5), (np.array(YS), 0.25)),
    (returns_early, (XS,), ([0.5, 0.25, 0.75],), (LONG,), ([],)),
    (mapped, (XS,), (LONG,), ([1, 2.0],)),
    (mapped_pairs, (XS, YS), (LONG, LONG[::-1]), (XS, [1.0]), ([], [])),
    (of_mapped, (XS, 0.5), (XS, 5.0), (LONG, 0.5), ([], 0.5)),
    (mapped_by_what_is_rebound, (XS,), (LONG,)),
    (horner, (0.5,), (1.5,)),
    (reduced, (XS, 0.5), (LONG, 0.5), ([], 0.5), ([1.5], 0.5)),
    (reduced_map, (XS,), (LONG,), ([],)),
    (own_names_of_that_loop, (XS,), ([0.5, 0.25, 0.75],), (LONG,), ([],)),
    (leaves_early, (XS,), ([0.5, 0.25, 0.75],), (LONG,), ([],)),
]


ENTRIES_WITHOUT_GRADIENT = {
    least_of_some,
    largest_of_equal,
    stops_before_the_error,
    assigned_inside,
    of_mapped,
    reduced_map,
}
"""A zero of an item that may be none at all is told by the tape."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("f", "first", "later"), [(f, a, b) for f, a, *b in CASES])
def test_agrees_with_the_generic_engine(f, first, later):
    active = tuple(i for i, x in enumerate(first) if not isinstance(x, int))
    made = assert_agreement(f, first, *later, argnums=active)
    if f is from_start and sys.version_info >= (3, 12):
        return  # a sum of floats keeps what rounding loses: only `sum` itself does that
    assert made
    if f not in ENTRIES_WITHOUT_GRADIENT:
        assert answers(f, first)


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_agree_with_the_generic_engine(seed):
    f, later = program(seed), arguments(seed)
    assert_agreement(f, *later, argnums=(0, 1, 2, 3), tolerance=1e-9)


def test_the_gradient_of_a_dot_product_is_what_it_should_be():
    run = value_and_grad(dot, (0, 1))
    for _ in range(3):
        y, (dxs, dys) = run(LONG, LONG[::-1])
    assert y == pytest.approx(np.dot(LONG, LONG[::-1]))
    assert (dxs, dys) == (LONG[::-1], LONG)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="sums of floats are made by sum itself")
def test_the_code_is_the_loop_that_one_would_write():
    for _ in range(3):
        value_and_grad(dot, (0, 1))(LONG, LONG[::-1])
    text = code_adjoint(dot, LONG, LONG[::-1])
    assert "        total = total + t5 * t6\n" in text
    assert "            dxs[i] += dt5\n" in text
    assert "genexpr" not in text
    assert "append(t" not in text


def sum_of_squares(xs):
    return sum(v * v for v in xs)


def test_another_function_of_the_name_is_called():
    f = types.FunctionType(sum_of_squares.__code__, {**globals()}, "f")
    run = value_and_grad(f)
    for _ in range(3):
        assert run([1.0, 2.0]) == (5.0, [2.0, 4.0])
    assert answers(f, ([1.0, 2.0],))
    f.__globals__["sum"] = lambda xs: 2.0 * math.fsum(xs)
    for _ in range(3):
        assert run([1.0, 2.0]) == (10.0, [4.0, 8.0])
    del f.__globals__["sum"]
    with mock.patch.object(builtins, "sum", lambda xs: 3.0 * math.fsum(xs)):
        for _ in range(3):
            assert run([1.0, 2.0]) == (15.0, [6.0, 12.0])
    assert run([1.0, 2.0]) == (5.0, [2.0, 4.0])


def product_of_squares(xs):
    return math.prod(v * v for v in xs)


def test_a_patched_function_of_a_module_is_called():
    run = value_and_grad(product_of_squares)
    for _ in range(3):
        assert run([1.0, 2.0]) == (4.0, [8.0, 4.0])
    with mock.patch.object(math, "prod", lambda xs: 3.0 * math.fsum(xs)):
        assert run([1.0, 2.0]) == (15.0, [6.0, 12.0])
    assert run([1.0, 2.0]) == (4.0, [8.0, 4.0])


def sum_of_sines(xs):
    return sum(map(math.sin, xs))


def test_another_map_is_called():
    f = types.FunctionType(sum_of_sines.__code__, {**globals()}, "f")
    run = value_and_grad(f)
    for _ in range(3):
        usual = run([1.0, 2.0])
    assert answers(f, ([1.0, 2.0],))
    f.__globals__["map"] = lambda _, xs: [v * v for v in xs]
    for _ in range(3):
        assert run([1.0, 2.0]) == (5.0, [2.0, 4.0])
    del f.__globals__["map"]
    with mock.patch.object(math, "sin", lambda v: v * v):
        assert run([1.0, 2.0]) == (5.0, [2.0, 4.0])
    assert run([1.0, 2.0]) == usual


def adds_texts(x):
    return x * len(sum((s for s in ("a", "b")), ""))


def of_a_text(x):
    return sum(x * float(d) for d in "1234")


def kept_for_later(xs):
    g = (v * v for v in xs)
    first = sum(v for v in xs)
    return sum(g) * first


def used_twice(xs):
    g = (v * v for v in xs)
    return sum(g) + sum(g)


def with_a_function(xs):
    return sum((lambda t: t * v)(v) for v in xs)


def reduced_with_a_function(xs):
    return reduce(lambda a, b: a + b, ((lambda t: t * v)(v) for v in xs))


def reduced_by_name(xs):
    return reduce(lambda a, b: a + b, (v * v for v in xs), **{})


def by_key(xs):
    return max((v for v in xs), key=lambda v: -v)


def of_a_parameter(xs, sum):
    return sum(v * v for v in xs)


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (adds_texts, (0.5,)),
        (of_a_text, (0.5,)),
        (kept_for_later, (XS,)),
        (used_twice, (XS,)),
        (with_a_function, (XS,)),
        (reduced_with_a_function, (XS,)),
        (reduced_by_name, (XS,)),
        (by_key, (XS,)),
        (of_a_parameter, (XS, math.fsum)),
    ],
)
def test_what_is_no_such_loop_is_answered_all_the_same(f, xs):
    assert_agreement(f, xs, argnums=(0,))


def logarithms(xs):
    return sum(math.log(v) for v in xs)


def test_an_error_of_the_element_is_the_user_s():
    run = value_and_grad(logarithms)
    for _ in range(3):
        run([1.0, 2.0])
    got = outcome(lambda: run([1.0, -2.0]))
    assert got == generic(logarithms, ([1.0, -2.0],), 0)
    assert got[1] is ValueError


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (largest, (0.5, 4)),
        (least_of_some, (np.array(XS), 0.1)),
        (has_some, (np.array(XS), 0.9)),
        pytest.param(norm, (np.array(XS),), marks=pytest.mark.skipif(
            sys.version_info >= (3, 12), reason="`sum` keeps there what rounding loses: no loop"
        )),
    ],
)  # fmt: skip
def test_the_loops_are_compiled(f, xs):
    pytest.importorskip("numba", reason="compiled code needs Numba (zygote_lite[jit])")
    run = value_and_grad(f, 0, compile=True)
    for given in [xs, xs]:
        want = generic(f, given, 0)
        assert is_alike(outcome(lambda given=given: run(*given)), want, 1e-12)
    assert testing.programs(f, compiled=True)
