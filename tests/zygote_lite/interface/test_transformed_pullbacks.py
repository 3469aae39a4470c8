"""`pullback` is answered by transformed code, and its answers are those of the tape."""

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.oracles import is_alike
from zygote_lite import pullback, testing
from zygote_lite.errors import DifferentiationError

WEIGHTS = np.array([0.5, 2.0])


def both(x, p):
    return np.sin(x) * p["w"], (x[0] * x[1], 3)


def by_tape(f, xs, dy):
    with testing.recorded_only():
        y, back = pullback(f, *xs)
        return y, back(dy)


@pytest.mark.parametrize("dy", [(np.ones(2), (1.0, None)), (None, (2.0, None)), None,
                                (np.array([1.0, 0.0]), None)])  # fmt: skip
def test_a_value_that_is_a_tuple_and_cotangents_that_are_partly_none(dy):
    xs = np.array([1.0, 2.0]), {"w": 2.0}
    with testing.transformed_only():
        y, back = pullback(both, *xs)
    assert is_alike(y, both(*xs))
    for _ in range(2):
        assert is_alike(back(dy), by_tape(both, xs, dy)[1])


@pytest.mark.parametrize(
    "xs",
    [(2.0,), (3,), (np.float32(2.0),), (np.array([0.5, 2.0], np.float32),), (np.zeros((0, 2)),)],
)
def test_types(xs):
    def f(x):
        return x * x + x

    dy = f(xs[0]) * 0 + 1
    with testing.compared():
        for _ in range(3):
            y, back = pullback(f, *xs)
            want = by_tape(f, xs, dy)
            assert_close((y, back(dy)), want)
            assert type(back(dy)[1]) is type(want[1][1])


def test_gradients_share_no_memory_with_anything():
    def f(x, y):
        return x + y

    x, dy = np.ones(2), np.ones(2)
    for _ in range(4):
        _, back = pullback(f, x, x)
        _, dx, dx2 = back(dy)
        dx[0] = 7.0
        assert x.tolist() == dy.tolist() == dx2.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "f",
    [lambda x: x, lambda x: x * 1.0, lambda x: x[1:], lambda x: (x + x, 1.0 * x, x + x),
     lambda x: (x * WEIGHTS, WEIGHTS / 1.0)],
    ids=("itself", "times one", "a view", "several", "weights"),
)  # fmt: skip
def test_values_share_memory_as_those_of_the_function_do(f):
    x = np.ones(2)

    def shared(y):
        arrays = (*y, x, WEIGHTS) if isinstance(y, tuple) else (y, x, WEIGHTS)
        return [np.may_share_memory(a, b) for a in arrays for b in arrays]

    want = shared(f(x))
    with testing.transformed_only():
        for _ in range(4):
            assert shared(pullback(f, x)[0]) == want


@pytest.mark.parametrize("of_argument", [float, np.float64, np.float32])
@pytest.mark.parametrize("kind", [float, np.float64, np.float32])
def test_a_gradient_has_the_type_of_its_argument(of_argument, kind):
    x = of_argument(2.0)

    def f(x):
        return 3.0 * x, (x * x,)

    with testing.transformed_only():
        _, back = pullback(f, x)
    dy = kind(1.0), (kind(1.0),)
    dx = back(dy)[1]
    assert dx == 7.0
    assert type(dx) is type(by_tape(f, (x,), dy)[1][1]) is type(x)


def test_a_cotangent_of_another_shape_is_refused():
    def f(x):
        return 2.0 * x

    for _ in range(4):
        _, back = pullback(f, np.ones(2))
        with pytest.raises(TypeError, match="the same shape and structure"):
            back(1.0)


def test_a_zero_that_meets_an_infinity_is_a_strong_zero():
    def f(x):
        return np.sqrt(x)

    for _ in range(4):
        _, back = pullback(f, np.array([0.0, 1.0]))
        assert back(np.array([0.0, 1.0]))[1].tolist() == [0.0, 0.5]


def test_arguments_that_change_before_a_gradient_that_is_not_finite():
    def f(x):
        return np.sqrt(x)

    x = np.array([0.0, 1.0])
    for _ in range(4):
        pullback(f, x)
    _, back = pullback(f, x)
    x[1] = 4.0
    with pytest.raises(DifferentiationError, match="changed since it was called"):
        back(np.array([0.0, 1.0]))


def test_what_a_closure_captures_is_differentiated():
    w = 3.0

    def f(x):
        return w * x

    for _ in range(4):
        _, back = pullback(f, 2.0)
        d_f, dx = back(1.0)
        assert (d_f.w, dx) == (2.0, 3.0)


def with_a_function_that_it_makes(x):
    return x * 2.0, lambda y: y * x


def with_a_method(x):
    return np.sum(x), (x.sum, 1)


@pytest.mark.parametrize(
    ("f", "called"),
    [(with_a_function_that_it_makes, lambda y: y(2.0)), (with_a_method, lambda y: y[0]())],
)
def test_functions_in_a_value_are_functions(f, called):
    x = np.array([1.0, 3.0])
    for _ in range(4):
        y, back = pullback(f, x)
        assert is_alike(called(y[1]), called(f(x)[1]))
        dy = np.ones_like(y[0]), None
        assert is_alike(back(dy), by_tape(f, (x,), dy)[1])
