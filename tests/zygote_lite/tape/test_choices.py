"""Arguments by which a rule refuses a derivative: an integer among active values is a choice."""

import numpy as np
import pytest

from rulescore import RuleSet
from zygote_lite import gradient, hessian, pullback
from zygote_lite.errors import NoRuleError


def power(order, x):
    return x**order


@pytest.fixture(autouse=True)
def rule():
    rule = RuleSet("test_choices")
    rule.scalar(power, refuses={"order": "nobody knows it"})(
        lambda order, x: (None, order * x ** (order - 1))
    )
    rule.register()
    yield
    rule.unregister()


def through_tuple(x):
    return power(*(3, x))


def through_list(x):
    parts = [np.asarray(v) for v in (3, x)]
    return power(*parts)


def through_arrays(x):
    order, x = np.broadcast_arrays(3, x)
    return np.sum(power(order, x))


@pytest.mark.parametrize("f", [through_tuple, through_list, through_arrays])
def test_an_integer_beside_active_floats_is_a_choice(f):
    for _ in range(4):
        assert gradient(f, 0.5) == (pytest.approx(0.75),)


def test_so_it_is_in_a_second_derivative():
    assert hessian(through_tuple)(0.5) == pytest.approx(3.0)


class Pair:
    def __init__(self, order, x):
        self.order, self.x = order, x


INTEGERS = {
    "alone": (lambda n: power(n, 0.5), 3),
    "in a tuple": (lambda n, x: power(*(n, x)), 3, 0.5),
    "in a list": (lambda p: power(*p), [3, 0.5]),
    "in an array": (lambda n: np.sum(power(n, 0.5)), np.array([1, 2])),
    "in an object": (lambda p: power(*(p.order, p.x)), Pair(3, 0.5)),
    "by an inner gradient": (lambda x: gradient(lambda n: power(n, 0.5), 3)[0] * x, 0.5),
}


@pytest.mark.parametrize("case", INTEGERS)
def test_an_integer_that_is_differentiated_is_refused(case):
    f, *xs = INTEGERS[case]
    with pytest.raises(NoRuleError, match="power has no derivative by `order`: nobody knows it"):
        gradient(f, *xs)


def test_so_is_one_that_a_closure_captures():
    order = 3
    with pytest.raises(NoRuleError, match="no derivative by `order`"):
        pullback(lambda x: power(*(order, x)), 0.5)


def test_a_float_is_refused():
    with pytest.raises(NoRuleError, match="no derivative by `order`"):
        gradient(lambda x: power(*[3.0, x]), 0.5)


def test_a_float_in_a_tuple_that_is_written_out_is_constant():
    assert gradient(lambda x: power(*(3.0, x)), 0.5)[0] == gradient(lambda x: power(3, x), 0.5)[0]
    with pytest.raises(NoRuleError, match="no derivative by `order`"):
        gradient(lambda n, x: power(*(n, x)), 3.0, 0.5)
