"""Calls with `*` and `**`: each mapping of keywords is differentiated or not."""

import pytest

from rulescore import RuleSet
from zygote_lite import grad


def solve(x, args=(), tol=0.1):
    return x * args[0] + tol


def scaled(x, by=1.0):
    return x * by


@pytest.fixture(autouse=True)
def a_rule_with_an_option():
    rule = RuleSet("solves")

    @rule(solve)
    def _(x: float, args: tuple, *, tol=0.1):
        return x * args[0], lambda dy: (dy * args[0], (dy * x,))

    rule.register()
    yield
    rule.unregister()


def test_options_of_a_mapping_are_constants_beside_a_differentiated_keyword():
    options = {"tol": 1e-3}
    for _ in range(3):
        assert grad(lambda x: solve(x, args=(x,), **options))(1.5) == 3.0
        assert grad(lambda x: solve(x, **{"args": (x,)}, **options))(1.5) == 3.0
        assert grad(lambda x: solve(*(x,), **options, args=(x,)))(1.5) == 3.0


def test_an_option_that_is_differentiated_is_no_constant():
    assert grad(lambda x: solve(x, args=(x,), **{"tol": x}))(1.5) == 4.0  # by its source


def test_a_keyword_that_is_given_twice_is_the_error_of_python():
    for _ in range(3):
        with pytest.raises(TypeError, match="multiple values for keyword argument 'by'"):
            grad(lambda x: scaled(x, by=x, **{"by": 2.0}))(1.5)
