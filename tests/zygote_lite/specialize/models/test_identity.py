"""Whether two arrays are one object: a guard where both are given."""

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import slopes
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import gradient, testing, value_and_grad

A = np.array


def distances(x, y):
    same = x is y
    d = np.sum((x - y * 2.0) ** 2)
    return d * 3.0 if same else d


def of_a_copy(x, y):
    z = x.copy()
    w = z
    return np.sum(z * y) * ((z is x) + 2.0 * (w is z) + 4.0 * (z is not w))


def of_equal_ones(x, y):
    a, b = np.sin(x), np.sin(x)
    return np.sum(a * b) * (2.0 if a is b else 3.0)


def times_one(x, y):
    return np.sum(x * y) * (2.0 if x * 1.0 is x else 3.0)


def passed_on(x, y):
    return inner(x, x) + inner(x, y)


def inner(a, b):
    return np.sum(a * b) * (5.0 if a is b else 1.0)


PROGRAMS = [distances, of_a_copy, of_equal_ones, times_one, passed_on]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_arrays_are_told_apart(f):
    x, y = A([1.0, 2.0]), A([0.5, 3.0])
    testing.forget(f)
    with testing.transformed_only(), testing.compared():
        value, found = value_and_grad(f, (0, 1))(x, y)
    assert value == f(x, y)
    for d, (_, wanted, _) in zip(found, slopes(f, (x, y)), strict=True):
        np.testing.assert_allclose(d, wanted, rtol=1e-6)
    assert assert_agreement(f, (x, y), (A([1.0]), A([2.0])), (x, y * 2.0))


def test_one_array_that_is_given_twice():
    x, y = A([1.0, 2.0]), A([0.5, 3.0])
    testing.forget(distances)
    for xs in [(x, y)] * 3 + [(x, x)] * 9 + [(x, y), (y, y), (y, x)]:
        value, (dx, dy) = value_and_grad(distances, (0, 1))(*xs)
        assert value == distances(*xs)
        k = 3.0 if xs[0] is xs[1] else 1.0
        np.testing.assert_allclose(dx, 2.0 * k * (xs[0] - 2.0 * xs[1]))
        np.testing.assert_allclose(dy, -4.0 * k * (xs[0] - 2.0 * xs[1]))


def swapped(x, y):
    a, b = x * 1.5, y * 2.0
    for _ in range(3):
        a, b = b, a
    return np.sum(a * x) * (1.0 if a is b else 2.0)


def test_variables_of_a_loop_are_recorded():
    assert_agreement(swapped, (A([1.0, 2.0]), A([0.5, 3.0])), argnums=(0,))


def test_whether_a_variable_is_an_argument_depends_on_the_path():
    def f(x, c):
        y = x * 2.0
        for _ in range(c):
            y = x
        return np.sum(x * x) if y is x else np.sum(y)

    for c, slope in ((-1, 2.0), (1, 6.0)):  # code that the first path made must not answer
        for _ in range(3):
            assert gradient(f, np.array([3.0]), c)[0].tolist() == [slope]


def test_whether_an_argument_is_another_that_may_be_none():
    def f(x, y):
        z = x * 1.0
        return np.sum(x * (2.0 if x is y else 3.0) * (1.0 if z is x else 5.0)) * (y is None or 7.0)

    x = np.ones(2)
    for y, slope in ((x, 70.0), (np.ones(2), 105.0), (None, 15.0)) * 2:
        for _ in range(3):
            assert value_and_grad(f)(x, y)[1].tolist() == [slope] * 2


def is_a_constant(x):
    return x * (2.0 if x is np.pi else 3.0)


def test_whether_a_number_is_a_certain_object_is_left_to_the_tape():
    """A float that transformed code computes with is another object than the one it was given."""
    assert "the same object" in testing.why_recorded(is_a_constant, 2.5)
    for x, slope in ((2.5, 3.0), (np.pi, 2.0)):
        assert [gradient(is_a_constant, x) for _ in range(3)] == [(slope,)] * 3


class Holder:
    def __init__(self, x):
        self.x = x


def test_whether_an_object_is_a_list_is_left_to_the_tape():
    def f(x):
        holder, numbers = Holder(x), [x]
        return holder.x * (2.0 if holder is numbers else 3.0)

    assert "two values are the same object" in testing.why_recorded(f, 2.5)
    assert gradient(f, 2.5) == (3.0,)
