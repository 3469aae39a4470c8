"""`np.vectorize` inside: a loop over the entries, with its first call and its kinds."""

import contextlib
import io
import math

import numpy as np
import pytest

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import gradient, testing, value_and_grad

PROGRAMS = []
tried = programs.declaring(PROGRAMS)  # transformed
X = np.array([0.5, 1.5, -2.0, 0.8])
CHOICES = (X, 0.7), (X[1:] * 1.2, 0.6), (X, 0.9)


@np.vectorize
def soft_threshold(x, t):
    if abs(x) < t:
        return 0.0
    return x - t if x > 0 else x + t


@tried(*CHOICES)
def heat_capacity(x, a):
    def piecewise(t):
        return a * t**2 if t < 1.0 else a + t * math.log(t)

    return np.vectorize(piecewise)(x).sum()


@tried(*CHOICES)
def from_a_decorator(x, a):
    return (soft_threshold(x, a) ** 2).sum() + soft_threshold(x, x * a)[0]


@tried((np.outer(X, X), 0.7), (np.outer(X, X[:2]), 0.6))
def of_a_matrix(x, a):
    f = np.vectorize(lambda u: math.sin(u) * a if u > 0 else u * u)
    return (f(x) @ np.ones(x.shape[1])).sum() + f(x.T)[0, 1]


@tried(*CHOICES)
def with_a_method(x, a):
    class Law:
        def __init__(self, k):
            self.k = k

        def at(self, u):
            return self.k * abs(u) ** 1.5

    return np.vectorize(Law(a).at)(x).sum()


@programs.for_each(PROGRAMS)
def test_is_transformed_and_right(f, choices):
    programs.assert_transformed(f, choices, (0, 1))


LEFT = []
left = programs.declaring(LEFT)  # to the tape, for some of the arguments at least


@left(*CHOICES, (X[2:], 0.7), (X, 0.7))
def first_is_an_integer(x, a):
    return np.vectorize(lambda u: 0 if u < 0 else u * a)(x).sum() + a * x[0]


@left(*CHOICES, (np.array([0.0, 1.0]), 0.5), (X, 0.7))
def raises_for_zero(x, a):
    try:
        return np.vectorize(lambda u: a / u)(x[1:]).sum() + np.vectorize(lambda u: u / a)(x)[0]
    except ZeroDivisionError:
        return a * 7


@left(*CHOICES)
def of_a_number(x, a):
    return np.vectorize(lambda u: u * a)(a) * x[0]


@left(*CHOICES)
def of_integers(x, a):
    return (np.vectorize(lambda n: a**n)(np.arange(3)) * x[0]).sum()


@left(*CHOICES)
def with_types(x, a):
    return np.vectorize(lambda u: u * a, otypes=[float])(x).sum()


@left(*CHOICES)
def of_two_results(x, a):
    u, v = np.vectorize(lambda u: (u * a, u + a))(x)
    return (u * v).sum()


@left((X.astype(np.float32), 0.7), (X, 0.7))
def of_single_precision(x, a):
    return np.vectorize(lambda u: u * u)(x).sum() * a


@programs.for_each(LEFT)
def test_agrees_with_the_tape(f, choices):
    with testing.recorded_only():
        for xs in choices:
            y, _ = value_and_grad(f, (0, 1))(*xs)
            assert y == f(*xs)
    assert_agreement(f, *choices, argnums=(0, 1))


def test_first_entries_are_given_once_more():
    def printed(x):
        def show(u):
            print(u)
            return u * u

        return np.vectorize(show)(x).sum()

    texts = []
    for _ in range(4):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            value_and_grad(printed)(X)
        texts.append(out.getvalue())
    with contextlib.redirect_stdout(io.StringIO()) as out:
        printed(X)
    assert texts == [out.getvalue()] * 4


def test_empty_arrays_raise():
    for _ in range(3):
        with pytest.raises(ValueError, match="size 0"):
            gradient(heat_capacity, X[:0], 0.5)


def test_another_function_is_found():
    def through(x):
        return soft_threshold(x, 0.5).sum()

    for _ in range(3):
        before = gradient(through, X)[0]
    known = soft_threshold.pyfunc
    try:
        soft_threshold.pyfunc = lambda x, t: x * x + t
        with testing.recorded_only():
            want = gradient(through, X)[0]
        np.testing.assert_allclose(gradient(through, X)[0], want)
    finally:
        soft_threshold.pyfunc = known
    np.testing.assert_allclose(gradient(through, X)[0], before)
