"""`np.piecewise` in transformed code gives what its own source gives on the tape."""

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import testing, value_and_grad

X = np.array([-1.0, -0.3, 0.1, 0.5, 2.0])


def one_for_each(x, k):
    return np.sum(np.piecewise(x, [x < 0, x >= 0], [lambda t: -k * t * t, np.sin]) * x)


def otherwise(x, k):
    return np.sum(np.piecewise(x, (x < -0.2, x < 0.2), [np.sin, lambda t: t * k, np.tanh]) * x)


def a_condition_alone(x, k):
    return np.sum(np.piecewise(x, x < 0.2, [lambda t, a: a * t, lambda t, a: a * a * t], k))


def constants(x, k):
    return np.sum(np.piecewise(x, [x < -0.2, x > 0.2], [k, lambda t, *, b: b * t, 3], b=k) * x)


def later_ones_win(x, k):
    return np.sum(np.piecewise(x, [x < 0.3, x < 0.0], [lambda t: t**3, lambda t: k / t]))


def of_a_table(x, k):
    table = np.outer(x, np.array([1.0, 2.0, k]))
    return np.sum(np.piecewise(table, [table < 0.2], [lambda t: t**2, lambda t: k * t**3]))


def of_integers(x, k):
    n = np.arange(5)
    return np.sum(np.piecewise(n, [n < 3], [lambda t: t * 1.7, 2.6])) * x[0] * k


def never_called(x, k):
    return np.sum(np.piecewise(x, [x < 100.0], [np.sin, lambda t: t / np.zeros(7)])) * k


PROGRAMS = [
    one_for_each, otherwise, a_condition_alone, constants, later_ones_win, of_a_table, of_integers,
    never_called,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gradients(f, dtype):
    run = value_and_grad(f, (0, 1))
    for x in (X, X[::-1] * 0.9, -np.abs(X)):  # where no entry is of one of the cases, too
        x = x.astype(dtype)
        with testing.transformed_only():
            y, (dx, dk) = run(x, 0.7)
        with testing.recorded_only():
            right, (ex, ek) = run(x, 0.7)
        assert y == right
        assert dx.dtype == dtype
        np.testing.assert_allclose(dx, ex, rtol=1e-12 if dtype is np.float64 else 1e-5)
        np.testing.assert_allclose(dk, ek, rtol=1e-12 if dtype is np.float64 else 1e-5)
    if f is not of_integers and dtype is np.float64:
        assert_slopes((dx, dk), f, (x, 0.7), 1e-6)


def too_many_functions(x):
    return np.sum(np.piecewise(x, [x < 0.2], [np.sin, np.cos, np.tan]))


def a_condition_too_short(x):
    return np.sum(np.piecewise(x, [x[:2] < 0.2], [np.sin]))


@pytest.mark.parametrize(
    ("f", "error"), [(too_many_functions, ValueError), (a_condition_too_short, IndexError)]
)
def test_errors_are_numpys(f, error):
    for _ in range(3):
        with pytest.raises(error):
            value_and_grad(f)(X)
