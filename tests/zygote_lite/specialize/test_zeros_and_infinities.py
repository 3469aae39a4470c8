"""Gradients that are zero, and those that meet an infinity: specialized code answers them."""

import copy
import math

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import entry_at
from tests.zygote_lite.checks.finite_differences import slopes
from tests.zygote_lite.checks.oracles import generic, is_alike, is_specialized, specialized_only
from zygote_lite import grad, gradient, value_and_grad

INF = math.inf


def assert_answered(f, *xs, numbers=None):
    """Assert that the tape answers two calls and no more, and that all give what it gives."""
    numbers = tuple(range(len(xs))) if numbers is None else numbers
    kind, want = generic(f, copy.deepcopy(xs), numbers)
    assert kind == "value"
    differentiated = value_and_grad(f, numbers)
    for call in (1, 2, 3, 4, 5):
        if call < 3:
            got = differentiated(*copy.deepcopy(xs))
        else:
            assert is_specialized(f)
            with specialized_only():
                got = differentiated(*copy.deepcopy(xs))
        assert is_alike(got, want), (call, got, want)
    return want


def assert_slopes(f, xs, gradient):
    """Compare a gradient with differences, where those are finite."""
    for path, slope, off in slopes(f, xs):
        d = entry_at(gradient, path)
        d = np.zeros(np.shape(slope)) if d is None else np.asarray(d)
        known = np.isfinite(slope)
        assert d.shape == slope.shape
        atol = np.max(off[known], initial=0) + 1e-6
        np.testing.assert_allclose(d[known], slope[known], atol=atol)


# -- zero ----------------------------------------------------------------------------------------


def one_of_two(s, t):
    if s > 2:
        y = s * t
    else:
        y = t * 2.0
    return y


def array_on_one_path(x, t):
    if t > 2:
        return np.sum(x) * t
    return t * 2.0


def flat(s):
    if s > 0:
        return s * 0.0
    return s


def positive(p):
    total = 0.0
    for i in range(len(p)):
        if p[i] > 0:
            total += p[i] * p[i]
    return total


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (one_of_two, (1.0, 2.0)),
        (array_on_one_path, (np.array([1.0, 2.0]), 1.0)),
        (flat, (2.0,)),
    ],
    ids=["numbers", "array", "constant"],
)
def test_a_gradient_of_zero_is_answered(f, xs):
    _, found = assert_answered(f, *xs)
    assert_slopes(f, xs, found)


@pytest.mark.parametrize(
    "p", [[1.0, -2.0, 3.0], [-1.0, -2.0, -3.0], [-1.0] * 70], ids=["some", "all", "all of many"]
)
def test_a_list_some_of_whose_items_have_a_gradient_of_zero(p):
    _, (found,) = assert_answered(positive, p)
    expected = [2 * v if v > 0 else 0.0 for v in p]
    assert [d or 0.0 for d in found or [None] * len(p)] == expected


def test_what_a_branch_decides_is_a_zero_of_the_kind():
    for _ in range(3):
        found = gradient(array_on_one_path, np.array([1.0, 2.0]), 1.0)
    np.testing.assert_array_equal(found[0], np.zeros(2))
    assert found[1] == 2.0


def test_without_a_path_in_the_code_there_is_none():
    def f(x, y, p):
        if x > 1:
            return x * x + p[0]
        return x * p[0]

    for x in (2.0, 2.0, 2.0, 0.5, 2.0):
        found = gradient(f, x, 3.0, (1.0, 2.0))
        assert found[1] is None
        assert found[2] == ((1.0 if x > 1 else x), None)
    with specialized_only():
        assert gradient(f, 2.0, 3.0, (1.0, 2.0))[1] is None


def test_a_zero_gradient_is_used_in_a_descent():
    """It is a number, whatever the branch."""
    x = 3.0
    for _ in range(5):
        x -= 0.1 * (grad(flat)(x) or 0.0)
    assert x == 3.0


# -- infinity ------------------------------------------------------------------------------------


def edit_distance(c):
    n, m = c.shape
    d = np.full((n + 1, m + 1), np.inf)
    d[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            d[i, j] = min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1]) + c[i - 1, j - 1]
    return d[n, m]


def discounted_path(w, g):
    n = len(w)
    d = np.full(n, np.inf)
    d[0] = 0.0
    for _ in range(n):
        for i in range(n):
            for j in range(n):
                d[j] = min(d[j], g * d[i] + w[i, j])
    return d[n - 1]


def weighed_border(x, m):
    d = np.full(3, np.inf)
    d[1] = x[0]
    return np.sum(np.where(d < 1e9, d * m, 0.0))


def two_steps(w, t):
    d = w[0] * t
    e = np.minimum(np.min(d[:, None] + w, axis=0), d)
    return np.min(np.minimum(np.min(e[:, None] + w, axis=0), e) * t)


def warped(x, y):
    n, m = len(x), len(y)
    d = np.full((n + 1, m + 1), np.inf)
    d[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            steps = np.array([d[i, j + 1], d[i + 1, j], d[i, j]])
            d[i + 1, j + 1] = (x[i] - y[j]) ** 2 + np.min(steps)
    return np.sqrt(d[n, m])


def logarithms(x):
    return np.sum(np.where(x > 0, np.log(np.abs(x)), 0.0))


def root_of_what_was_chosen(x, y):
    return np.sum(np.maximum(np.sqrt(x), y))


def inverses(x):
    return np.sum(1.0 / x)


def inverses_in_a_loop(x):
    total = 0.0
    for i in range(len(x)):
        total = total + 1.0 / x[i]
    return total


def root_on_a_path(x):
    total = 0.0
    for i in range(len(x)):
        r = np.sqrt(x[i])
        if r > 0.5:
            total = total + r
    return total


def list_with_border(p):
    best = [math.inf] * len(p)
    best[0] = 0.0
    for i in range(1, len(p)):
        best[i] = min(best[i], best[i - 1] + p[i] * p[i - 1])
    return best[len(p) - 1]


RNG = np.random.default_rng(0)
HOLES = np.array([[0.0, 1.0, INF], [INF, 0.0, 2.0], [1.0, INF, 0.0]])
WITH_INFINITY = [
    (edit_distance, (RNG.random((3, 4)),)),
    (edit_distance, (HOLES,)),
    (discounted_path, (RNG.random((4, 4)), 0.9)),
    (discounted_path, (HOLES, 0.9)),
    (weighed_border, (np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0]))),
    (two_steps, (HOLES, 0.9)),
    (warped, (np.array([1.0, 3.0, 2.0]), np.array([1.0, 2.5, 2.0, 1.0]))),
    (list_with_border, ([1.0, 2.0, 0.5],)),
]


@pytest.mark.parametrize(("f", "xs"), WITH_INFINITY, ids=range(8))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_infinity_that_does_not_matter(f, xs):
    _, found = assert_answered(f, *xs)
    for d in found:
        assert d is None or np.isfinite(d).all()
    if f is not two_steps and np.isfinite(f(*xs)):  # at a kink
        assert_slopes(f, xs, found)


AT_A_POLE = [
    (logarithms, (np.array([0.0, 1.0, -1.0]),)),
    (root_of_what_was_chosen, (np.array([0.0, 4.0]), np.array([1.0, 1.0]))),
    (inverses, (np.array([0.0, 1.0]),)),
    (inverses, (np.array([INF, np.nan]),)),
    (inverses_in_a_loop, (np.array([0.0, 1.0]),)),
    (root_on_a_path, (np.array([0.0, 1.0]),)),
]


@pytest.mark.parametrize(("f", "xs"), AT_A_POLE, ids=range(6))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_pole_has_the_gradient_of_the_tape(f, xs):
    assert_answered(f, *xs)


def test_it_is_answered_where_warnings_are_errors():
    """A zero that meets an infinity would warn in the code that most calls take."""
    f, xs = WITH_INFINITY[4]
    assert_answered(f, *xs)


def test_finite_calls_after_infinite_ones():
    x = np.array([4.0, 1.0])
    expected = value_and_grad(inverses)(x)
    for y in (np.array([0.0, 1.0]), x, np.array([0.0, 1.0]), x):
        with np.errstate(all="ignore"):
            found = value_and_grad(inverses)(y)
    assert is_alike(found, expected)
