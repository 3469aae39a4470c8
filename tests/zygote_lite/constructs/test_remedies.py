"""What the table says to write instead of a refused construct has the right gradient."""

import contextlib
import copy
import types

import numpy as np
import pytest

from tests.zygote_lite.checks.finite_differences import assert_slopes
from zygote_lite import gradient, stop_gradient

made_of_text = eval("lambda x: x * x")


def calls_what_was_made_outside(x):
    return made_of_text(x) * x


def closes_the_generator(x):
    left = []

    def steps():
        try:
            yield x
            yield x * x
        finally:
            left.append(x)

    iterator = steps()
    y = next(iterator)
    iterator.close()
    return y * left[0]


def loops_over_a_list(x):
    values, total = [1.0, x, x * x], 0.0
    for a, b in zip(list(values), list(values)[1:], strict=False):
        total += a * b
    return total


def loops_over_indices(x):
    a = np.array([x, 2 * x])
    return sum(a[i] ** 2 for i in np.ndindex(a.shape))


def broadcasts_arrays(x):
    a, b = np.broadcast_arrays(np.array([x, x * x]), np.ones((2, 2)))
    return np.sum(a * b)


def converts_first(x):
    class Counted:
        seen = 0.0

        def __float__(self):
            self.seen = x
            return float(x)

    number, a = Counted(), np.zeros(2)
    a[0] = float(number)
    return a[0] * number.seen


def leaves_by_with(x):
    left = []

    @contextlib.contextmanager
    def leaving():
        yield x
        left.append(x)

    with leaving() as y:
        y = y * x
    return y * left[0]


def copies_deeply(x):
    return copy.deepcopy([x])[0] * x


def resizes_into_a_new_array(x):
    return np.sum(np.resize(np.array([x, x * x]), (4,)))


def takes_a_namespace(x):
    return types.SimpleNamespace(A=x).A * x


def sets_attributes_by_name(x):
    class Made:
        pass

    setattr(Made, "w" * 1, x)
    return getattr(Made, "w" * 1) * x


REMEDIES = [f for f in list(vars().values()) if getattr(f, "__module__", "") == __name__]


@pytest.mark.parametrize("f", REMEDIES, ids=lambda f: f.__name__)
def test_it_has_a_gradient(f):
    assert_slopes(gradient(f, 0.5), f, (0.5,), 1e-6)


def test_a_constant_may_be_passed_to_what_is_called_for_its_effect():
    heard = []
    assert gradient(lambda x: heard.append(float(stop_gradient(x))) or x * x, 0.5) == (1.0,)
    assert heard == [0.5]
