"""Arrays that a function writes to and then makes read-only, differentiated forwards and twice."""

import numpy as np
import pytest

from tests.zygote_lite.checks.comparing import assert_close
from tests.zygote_lite.checks.finite_differences import slope
from zygote_lite import grad, hessian, jacfwd, jacobian, jvp, linearize, testing

X = np.array([1.0, 2.0, 3.0])
V = np.array([1.0, 0.5, -1.0])


def filled_by_entries(x):
    y = np.zeros(3)
    y[0] = x[0] * 2.0
    y[1:] = x[1:] * x[0]
    y.setflags(write=False)
    return np.sum(y * x)


def given(x):
    x[0] = x[0] * x[1]
    x.setflags(write=False)
    return np.sum(x * x)


def a_view(x):
    y = x.copy()
    v = y[1:]
    v *= x[0]
    v.setflags(write=False)
    y[0] = x[1]
    return np.sum(y * x)


def a_view_and_its_base(x):
    y = x.copy()
    v = y[1:]
    v *= 2.0
    v.setflags(write=False)
    y[0] = x[1]
    y.setflags(write=False)
    return np.sum(v * x[1:]) * y[0] * y[1]


def added_at(x):
    y = np.zeros(3)
    np.add.at(y, [0, 0, 1], x)
    y.flags.writeable = False
    return np.sum(y * y)


def sorted_in_place(x):
    y = x[::-1] * 1.0
    y.sort()
    y.setflags(write=False)
    return y[0] * y[1] * y[2]


ALL = [filled_by_entries, given, a_view, a_view_and_its_base, added_at, sorted_in_place]


@pytest.mark.parametrize("tier", [testing.recorded_only, testing.observed])
@pytest.mark.parametrize("f", ALL)
def test_derivatives_are_those_of_differences(f, tier):
    want = slope(lambda h: f(X + h * V))[0]
    with tier():
        x = X.copy()
        _, push = linearize(f, x)
        assert_close(push(V), want, 1e-6)
        assert_close(push(V), want, 1e-6)
        assert x.flags.writeable is (f is not given)
        for _ in range(2):
            assert_close(jvp(f, (X.copy(),), (V,))[1], want, 1e-6)
            assert_close(jacfwd(f)(X.copy()) @ V, want, 1e-6)
            assert_close(jacobian(f)(X.copy()) @ V, want, 1e-6)


@pytest.mark.parametrize("tier", [testing.recorded_only, testing.observed])
@pytest.mark.parametrize("f", ALL)
def test_second_derivatives_are_those_of_differences(f, tier):
    with tier():
        want = slope(lambda h: grad(f)(X + h * V))[0]
        assert_close(jvp(grad(f), (X.copy(),), (V,))[1], want, 1e-6)
        assert_close(hessian(f)(X.copy()) @ V, want, 1e-6)
