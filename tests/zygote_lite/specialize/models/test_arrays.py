"""Arrays that are taken apart, by unpacking or `*`, and put together, by `np.r_` and `np.c_`."""

import math

import numpy as np
import pytest

from tests.zygote_lite.checks import programs
from zygote_lite import DifferentiationError, testing, value_and_grad

A = np.array
GRID = np.linspace(0.0, 1.0, 20)
PROGRAMS = []
tried = programs.declaring(PROGRAMS)  # transformed


@tried((A([1.0, 2.0]),), (A([1.0, 2.0], np.float32),), ([1.0, 2.0],), ((1, 2.0),), (A([1, 2]),),
       (A([1.0, 2.0, 3.0]),), (A([1.0]),), (A([]),))  # fmt: skip
def two_numbers(x):
    a, b = x
    return a * b + math.sin(a)


@tried((A([1.0, 2.0]),), (A([]),), (A([1, 2]),), (A([1.0, 2.0], np.float32),), (A([1j, 2.0]),),
       (np.ones((2, 2)),))  # fmt: skip
def joined(x):
    y = np.r_[0.5, x, [2.0, x[0]] if len(x) else 1, 0:3, 0:1:3j, x[::-1]]
    return np.sum(y * np.cos(np.arange(len(y)))).real


@tried((A([1.0, 2.0]),), (A([[1.0, 2.0]]),), (np.ones((2, 1, 2)),), (A(2.0),))
def joined_alike(x):
    y = np.r_[x]
    y[0] = 7.0  # a copy
    return np.sum(np.c_[y, x * x] * np.r_[x, x][: len(x)][:, None]) + np.sum(x)


@tried((A([1.0, 2.0, 3.0]),), (A([1.0, 2.0]),), (A([1.0, 2.0, 3.0, 4.0]),))
def nested(x):
    a, (b, c) = x[0], x[1:] * 2.0
    return a * b * c + b


@tried((A([1.0, 2.0, 3.0]),), (A([1.0, 2.0]),), (A([1.0]),), (A([]),), (np.ones(40),),
       (A([1.0, 2.0, 3.0, 4.0]),))  # fmt: skip
def with_the_rest(x):
    a, *rest = x
    rest.append(a * 2)
    return a * sum(rest) * rest[-1] * len(rest)


@tried((A([1.0, 2.0, 3.0]),), (A([1.0, 2.0]),))
def with_the_middle(x):
    first, *middle, last = np.exp(x)
    return first * last + sum(middle)


@tried((A([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),), (np.ones((0, 2)),), (np.ones((1, 2)),),
       (A([[1.0, 2.0, 3.0]]),), ([(1.0, 2.0), (3.0, 4.0)],))  # fmt: skip
def loop_over_pairs(z):
    s = 0.0
    for a, b in z:
        s += a * b * b
    return s


@tried((A([[1.0, 2.0], [3.0, 4.0]]),), (np.ones((2, 5)),), (np.ones((3, 2)),))
def rows(z):
    a, b = z
    return np.sum(a * b * b)


@tried((A([[1.0, 2.0], [3.0, 4.0]]),), (np.ones((2, 3)),))
def columns(z):
    a, b = z.T
    return np.sum(a * b[0])


@tried((A([1.0, 0.5]), 3), (A([1.0, 0.5]), 0), (A([1.0, 0.5, 2.0]), 3))
def carried(y, n):
    for i in range(n):
        a, b = y
        y = np.array([a + 0.1 * b, b - 0.1 * math.sin(a)]) * (i + 1)
    return y[0] * y[1]


def model(x, a, b, *others):
    return a * np.exp(-b * x) + sum(others)


@tried((A([1.0, 0.3, 0.1]), GRID), (A([1.0, 0.3]), GRID), (A([1.0, 0.3, 0.2, 0.4]), GRID),
       ((1.0, 0.3, 0.1), GRID), ([1.0, 0.3, 0.1], GRID[:3]), (A([1.0]), GRID),
       (np.linspace(0.1, 0.2, 16), GRID), (np.linspace(0.1, 0.2, 17), GRID),
       (np.float32([1.0, 0.3, 0.1]), GRID))  # fmt: skip
def fitted(p, x):
    return np.sum((model(x, *p) - 1.0) ** 2)


@tried((A([1.0, 0.3, 0.1]), GRID), (A([1.0, 0.3, 0.1, 0.5]), GRID))
def fitted_in_another_scale(theta, x):
    return np.sum(model(x, *np.exp(theta)) ** 2)


@tried((A([1.0, 0.3, 0.1]), 2.0), (A([1.0, 0.3]), 2.0))
def two_stars(p, y):
    return np.sum(model(GRID, *p[:2], *(p[-1] * y, y)))


@tried((A([1.0, 2.0]), A([3.0, 4.0])), (A([1.0, 2.0]), A([3.0, 4.0, 5.0])))
def two_arrays(x, y):
    a, b = x
    c, d = y
    a, b, c, d = b, c, d, a
    return a * b - c * d


@tried((A([1.0, 2.0]), 3), (A([1.0, 2.0]), 0))
def written_meanwhile(x, n):
    y = np.zeros(2)
    s = 0.0
    for i in range(n):
        y[0] = x[0] * i
        a, b = y
        y[1] = a * x[1]
        s += a * b + y[1]
    return s


@pytest.mark.sampled(2)
@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    first = choices[0]
    count = sum(isinstance(x, np.ndarray | float) and x is not GRID for x in first)
    programs.assert_transformed(f, choices, tuple(range(count)), tolerance=1e-6)


@pytest.mark.parametrize("join", [np.r_, np.c_])
def test_nothing_to_join_is_the_error_of_numpy(join):
    for _ in range(4):
        with pytest.raises(ValueError, match="at least one array"):
            value_and_grad(lambda x: np.sum(join[()] * x))(np.ones(3))


def test_each_length_has_code_of_its_own():
    testing.forget(fitted)
    with testing.transformed_only():
        for p in (A([1.0, 0.3, 0.1]), A([1.0, 0.3]), A([1.0, 0.3, 0.1])):
            value_and_grad(fitted)(p, GRID)
    assert len(testing.programs(fitted)) == 2


def test_the_length_of_what_is_computed_is_tested_where_it_is_taken_apart():
    testing.forget(carried)
    with testing.transformed_only():
        value_and_grad(carried)(A([1.0, 0.5]), 3)
    (text,) = testing.programs(carried)
    assert "if len(y1) != 2:" in text
    with pytest.raises(ValueError, match="too many values"):
        carried(np.ones(3), 1)
    for _ in range(4):
        with pytest.raises((ValueError, DifferentiationError), match="too many values"):
            value_and_grad(carried)(np.ones(3), 1)


def test_the_cotangents_of_parts_are_assigned():
    testing.forget(two_numbers)
    with testing.transformed_only():
        value_and_grad(two_numbers)(A([1.0, 2.0]))
    (text,) = testing.programs(two_numbers)
    assert "[0] = " in text
    assert "+=" not in text


def test_a_long_array_is_recorded():
    f = with_the_rest
    with testing.recorded_only():
        want = value_and_grad(f)(np.ones(40))
    testing.forget(f)
    with testing.transformed_only(), pytest.raises(testing.NotTransformed, match="too-long"):
        value_and_grad(f)(np.ones(40))
    for _ in range(4):
        got = value_and_grad(f)(np.ones(40))
        np.testing.assert_array_equal(got[1], want[1])
