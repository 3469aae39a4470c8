"""Rules at the definition of a function, opting out of one, and `stop_gradient`."""

import copy

import numpy as np
import pytest

from rulescore import (
    RuleError,
    RuleSet,
    custom_frule,
    custom_rule,
    find_frule,
    find_rule,
    frule,
    non_differentiable,
    opt_out,
    rrule,
    scalar_rule,
    stop_gradient,
    why,
)
from rulescore.testing import check_rrule


@scalar_rule(lambda x, out: 3 * out / x)
def cube(x):
    return x**3


@scalar_rule(lambda x, y: y, lambda x, y: x)
def product(x, y):
    return x * y


@custom_rule
def clipped(x, limit=1.0, *, scale=1.0):
    """Return the number itself, whose gradient is clipped."""

    def pullback(dy):
        return (np.clip(scale * dy, -limit, limit),)

    return x, pullback


@custom_rule
def only_of_floats(x: float):
    return 2 * x, lambda dy: (2 * dy,)


@non_differentiable
def rounded(x, digits=0):
    return np.round(x, digits)


@custom_frule
def quotient(x: float, y: float, *, scale=1.0):
    """Return a quotient."""
    q = scale * x / y
    return q, (lambda dx: scale * dx / y, lambda dy: -q * dy / y)


def test_a_function_is_defined_with_its_forward_rule():
    assert quotient(6.0, 2.0) == 3.0
    assert quotient.__doc__ == "Return a quotient."
    assert frule((None, 1.0, 0.5), quotient, 6.0, 2.0) == (3.0, -0.25)
    assert frule((None, 1.0, None), quotient, 6.0, 2.0, scale=2.0) == (6.0, 1.0)
    assert frule((None, 1.0, None), quotient, 6, "2") is None
    rule = find_rule(quotient, 6.0, 2.0, ad=lambda *_: None)
    assert rule.needs_ad
    assert rule.file == __file__
    assert check_rrule(quotient, 6.0, 2.0).kind == "general"
    with pytest.raises(RuleError, match="return the value and the pushforward"):
        custom_frule(lambda x: x)(2.0)
    wrong = custom_frule(lambda x: (x, (abs, abs)))
    with pytest.raises(RuleError, match="2 parts for 1 argument"):
        frule((None, 1.0), wrong, 2.0)


def test_a_scalar_rule_at_the_definition():
    assert cube(2.0) == 8.0
    check_rrule(cube, 2.0)
    check_rrule(product, np.array([1.0, 2.0]), 3.0)
    assert frule((None, 1.0), cube, 2.0) == (8.0, 12.0)


def test_a_rule_of_a_body_is_its_own_function():
    assert clipped(3.0) == 3.0
    assert clipped.__name__ == "clipped"
    assert "clipped" in clipped.__doc__
    y, back = rrule(clipped, 3.0, 0.5)
    assert (y, back(2.0), back(-0.1)) == (3.0, (None, 0.5, None), (None, -0.1, None))
    assert rrule(clipped, 3.0, scale=0.1)[1](2.0) == (None, 0.2)
    assert find_rule(clipped, 3.0).plugin == __name__
    assert find_rule(clipped, 3.0).file == __file__


def test_annotations_say_for_what_the_rule_is():
    assert find_rule(only_of_floats, "text") is None
    check_rrule(only_of_floats, 2.0)


def test_a_body_that_asks_for_the_ad_is_refused():
    with pytest.raises(RuleError, match="`ad`"):

        @custom_rule
        def twice(f, x, *, ad):
            return ad(f, x)


def without_partials():
    @scalar_rule
    def f(x):
        return x


def returning_a_number():
    @custom_rule
    def f(x: float):
        return 3

    f(2.0)


@pytest.mark.parametrize(
    ("declare", "told"),
    [
        (lambda: scalar_rule(3), "3 is not a plain function"),
        (lambda: custom_rule(len), "<built-in function len> is not a plain function"),
        (lambda: non_differentiable(3), "3 is not callable: give the function"),
        (without_partials, r"`scalar_rule` takes the partial derivatives"),
        (returning_a_number, r"the rule .*f returned int: return the value and the pullback"),
        (lambda: RuleSet("mine").of_instances("a"), "'a' is not a plain function"),
        (lambda: RuleSet("mine").method(3), r"`rule\.method` is for .* and not for 3"),
    ],
)
def test_what_is_declared_wrongly_names_the_line(declare, told):
    with pytest.raises(RuleError, match=rf"test_definitions\.py:\d+: {told}"):
        declare()


def test_no_gradient_passes_through_what_is_not_differentiable():
    y, back = rrule(rounded, 2.345, digits=1)
    assert (y, back(1.0)) == (2.3, (None, None))
    assert frule((None, 1.0), rounded, 2.345)[1] is None


class Own(np.ndarray):
    """An array of one's own."""


def mean_of(x):
    return np.mean(x)


def test_opting_out_of_a_rule_for_a_type():
    rules = RuleSet("general")

    @rules(mean_of)
    def _(x: np.ndarray):
        return np.mean(x), lambda dy: (np.full_like(x, dy / x.size),)

    @rules.forward(mean_of)
    def _(x: np.ndarray):
        return np.mean(x), (np.mean,)

    plain = np.array([1.0, 2.0])
    rules.register()
    try:
        check_rrule(mean_of, plain)
        own = RuleSet("own")
        assert find_rule(mean_of, plain.view(Own)).plugin == "general"
        own.opt_out(mean_of, Own)
        own.register()
        try:
            assert find_rule(mean_of, plain).plugin == "general"
            assert rrule(mean_of, plain.view(Own)) is None
            assert find_frule(mean_of, plain.view(Own)) is None
            assert find_frule(mean_of, plain) is not None
            assert "answers" not in dict(why(mean_of, plain.view(Own)))
        finally:
            own.unregister()
        assert rrule(mean_of, plain.view(Own)) is not None
        opt_out(mean_of, Own)
        assert rrule(mean_of, plain.view(Own)) is None
    finally:
        rules.unregister()


class Model:
    def __init__(self, w):
        self.w = w


@pytest.mark.parametrize(
    "x",
    [2.0, 3, np.float32(2), np.arange(3.0), [1.0, np.ones(2)], {"a": (1.0, [2.0])},
     Model(np.ones(2)), np.asfortranarray(np.ones((2, 3)))],
    ids=["float", "int", "float32", "array", "list", "dict", "object", "Fortran"],
)  # fmt: skip
def test_what_stops_a_gradient_is_a_copy(x):
    y = stop_gradient(x)
    assert type(y) is type(x)
    assert repr(getattr(y, "__dict__", y)) == repr(getattr(x, "__dict__", x))
    _, back = rrule(stop_gradient, x)
    assert back(copy.deepcopy(x)) == (None, None)
    if isinstance(x, np.ndarray):
        assert not np.shares_memory(x, y)
        assert y.flags.c_contiguous == x.flags.c_contiguous
