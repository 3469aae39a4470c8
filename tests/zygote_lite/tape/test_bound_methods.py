"""Methods that a variable holds: of the object of the look-up, until it holds something else."""

import pytest

from zygote_lite import testing, value_and_grad


def test_a_variable_that_holds_a_method_and_then_a_function():
    def f(x, n):
        a = [x]
        put = a.append
        for _ in range(n):
            put = lambda v: a.insert(0, v * x)
        put(3.0 * x)
        return a[0] * x

    for n, expected in ((1, (24.0, 36.0)), (0, (4.0, 4.0))):
        with testing.recorded_only():
            assert value_and_grad(f)(2.0, n) == pytest.approx(expected)
