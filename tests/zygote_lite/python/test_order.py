"""A method is looked up before the arguments of its call are computed, as Python does it."""

import numpy as np
import pytest

from zygote_lite import grad, jvp, vmap


class Gain:
    def __init__(self, k):
        self.k = k

    def of(self, x):
        return self.k * x


def a_variable_of_the_call(x):
    y = np.array([x, 2.0 * x])
    return y.dot(y := y * 2.0) + y[0]


def an_object_of_the_call(x):
    gain = Gain(x)
    return gain.of((gain := Gain(3.0)).k) + gain.k * x


def a_method_of_the_object(x):
    gain = Gain(x)

    def change():
        gain.of = lambda y: 100.0 * y
        return 2.0

    return gain.of(change()) * x


def a_shared_variable(x):
    gain = Gain(x)

    def change():
        nonlocal gain
        gain = Gain(5.0 * x)
        return 2.0

    return gain.of(change()) * x


CHANGING = (a_variable_of_the_call, an_object_of_the_call, a_method_of_the_object,
            a_shared_variable)  # fmt: skip


@pytest.mark.parametrize("f", CHANGING)
def test_arguments_that_change_what_a_method_is_called_of(f):
    expected = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    found = [*(grad(f)(1.3) for _ in range(3)), jvp(f, (1.3,), (1.0,))[1]]
    assert found == pytest.approx([expected] * 4, rel=1e-6)
    assert vmap(f)(np.array([1.0, 1.3])) == pytest.approx([f(1.0), f(1.3)])


def test_a_property_is_asked_before_the_arguments():
    asked = []

    class Asked(Gain):
        @property
        def method(self):
            asked.append("method")
            return self.of

    def argument(x):
        asked.append("argument")
        return x

    def f(x):
        return Asked(x).method(argument(x))

    for _ in range(3):
        assert grad(f)(2.0) == 4.0
    assert asked == ["method", "argument"] * 3
    with pytest.raises(AttributeError, match="nothing"):
        grad(lambda x: x.nothing(argument(x)))(2.0)
    assert len(asked) == 6
