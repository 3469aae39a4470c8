"""A function may return an array that it made and wrote in place, as it is or inside something."""

import numpy as np
import pytest

from zygote_lite import gradient, pullback


def filled(x):
    r = np.zeros(3)
    r[...] = x * x
    return r


def by_element(x):
    r = np.zeros(3)
    for i in range(3):
        r[i] = x[i] * x[i]
    return r


def turned(x):
    return filled(x).reshape(1, 3).T


def part(x):
    r = np.zeros(5)
    r[1:4] = x * x
    return r[1:4]


def accumulated(x):
    r = np.zeros(3)
    r += x * x
    return r


@pytest.mark.parametrize("f", [filled, by_element, turned, part, accumulated])
def test_an_array_that_was_written_is_returned(f):
    x = np.array([0.5, -1.5, 2.0])
    y, back = pullback(f, x)
    dy = np.array([1.0, 2.0, 3.0]).reshape(y.shape)
    for _ in range(2):
        np.testing.assert_allclose(back(dy)[1], 2 * x * [1.0, 2.0, 3.0])


WRAPS = {"tuple": lambda r: (r, 1.0), "list": lambda r: [r], "dict": lambda r: {"r": r}}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_it_is_returned_inside_something(wrap):
    def f(x):
        r = np.zeros(3)
        r[...] = x * x
        return wrap(r)

    x, dy = np.array([0.5, -1.5, 2.0]), np.array([1.0, 2.0, 3.0])
    _, back = pullback(f, x)
    given = wrap(dy)
    np.testing.assert_allclose(back(given)[1], 2 * x * dy)


def test_an_array_without_axes_is_a_value():
    def f(x):
        r = np.empty(())
        r[...] = x[1]
        return r

    np.testing.assert_array_equal(gradient(f, np.array([0.5, -1.5]))[0], [0.0, 1.0])


def test_weights_of_a_quantile_take_its_source():
    def f(x):
        return np.quantile(x, 0.3, weights=np.ones(3), method="inverted_cdf")

    np.testing.assert_array_equal(gradient(f, np.array([0.5, -1.5, 2.0]))[0], [0.0, 1.0, 0.0])
