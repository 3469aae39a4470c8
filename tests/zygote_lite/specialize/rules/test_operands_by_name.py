"""Operands of rules that a call gives by name: the rule answers, as on the tape."""

import numpy as np
import pytest

from rulescore import RuleSet
from tests.zygote_lite.checks.finite_differences import check_gradient
from zygote_lite import gradient, testing

X = np.array([[0.3, 1.0], [2.0, -1.0], [0.4, 0.2]])
rule = RuleSet("of operands by name")


def weighed(x, w, k=2.0):
    """Return a weighed sum."""
    return np.sum(x * w) * k


@rule(weighed)
def _(x: np.ndarray, w: np.ndarray, k: float):
    y = np.sum(x * w) * k

    def pullback(dy):
        return dy * w * k, dy * x * k, dy * y / k

    return y, pullback


@pytest.fixture(autouse=True)
def rules():
    rule.register()
    yield
    rule.unregister()


def by_name(x):
    return weighed(x, w=x + 1.0, k=3.0)


def in_another_order(x):
    return weighed(k=3.0, w=x + 1.0, x=x)


def all_differentiated(x):
    return weighed(x + 1.0, k=np.sum(x), w=x)


def with_a_default(x):  # which the rule has no form for: the source answers
    return weighed(x, w=x + 1.0)


@pytest.mark.parametrize("f", [by_name, in_another_order, all_differentiated])
def test_they_are_transformed(f):
    assert testing.why_recorded(f, X) is None
    with testing.compared():
        for _ in range(3):
            gradient(f, X)
    check_gradient(f, X)


def test_a_call_that_the_rule_has_no_form_for_is_right():
    check_gradient(with_a_default, X)
