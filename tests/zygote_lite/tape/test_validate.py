"""What goes in and comes out: no shared memory, and cotangents that fit."""

import numpy as np
import pytest

from zygote_lite import DifferentiationError, grad, pullback
from zygote_lite._tape.validate import own_buffers


@pytest.mark.parametrize("count", [1, 998, 999, 1000, 1001, 3000])
def test_what_is_returned_shares_no_memory_with_the_last_of_many_values(count):
    held = [np.ones(1) for _ in range(count)]
    for x in (held[0], held[-1]):
        d = own_buffers(x, held)
        assert not np.shares_memory(d, x)
        np.testing.assert_array_equal(d, x)


def test_an_array_that_an_argument_holds_twice_is_not_written():
    def write(xs):
        xs[0][0] = 2.0 * xs[1][1]
        return np.sum(xs[0] * xs[1])

    f, expected = grad(write), [[0.0, 0.5], [1.0, 1.1]]
    x = np.array([0.3, 0.5])
    for _ in range(3):
        np.testing.assert_allclose(f([x.copy(), x.copy()]), expected)
        for shared in ([x.copy()] * 2, {0: (y := x.copy()), 1: y[::-1]}):
            with pytest.raises(DifferentiationError, match=r"put a copy at one of them \[ZL015\]"):
                f(shared)
    memory = np.array([0.3, 0.5, 0.3, 0.5])
    np.testing.assert_allclose(f([memory[:2], memory[2:]]), expected)
    np.testing.assert_allclose(grad(lambda xs: np.sum(xs[0] * xs[1]))([x, x]), [x, x])


def test_the_function_itself_may_hold_an_array_twice():
    x = np.ones(3)

    class Held:
        def __init__(self):
            self.a = self.b = x

        def __call__(self, v):
            self.a[0] = v
            return self.b[0] * v

    for _ in range(3):
        assert pullback(Held(), 1.3)[1](1.0)[1] == pytest.approx(2.6)


@pytest.mark.parametrize("dy", ["a", "1.0", [1.0], {}, object()])
def test_a_cotangent_of_a_number_is_a_number(dy):
    for back in [pullback(lambda x: x * 2.0, 2.0)[1] for _ in range(3)]:
        with pytest.raises(
            TypeError, match=r"the value is float \(4.0\): give one of the same shape"
        ):
            back(dy)
