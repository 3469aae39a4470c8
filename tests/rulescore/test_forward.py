"""`frule`: the value and the tangent of a call, by scalar, linear and forward rules."""

import math

import numpy as np
import pytest

from rulescore import Array, Numeric, RuleError, RuleSet, find_frule, frule
from rulescore.testing import CheckError, check_rrule

V = np.array([0.3, -0.7, 1.1])


def same(found, y, dy):
    assert np.all(found[0] == y)
    assert type(found[1]) is type(dy)
    np.testing.assert_array_equal(found[1], dy, strict=isinstance(dy, np.ndarray))


def product(x, y):
    return x * y


def root(x):
    return np.sqrt(x)


def larger(x, y):
    return np.maximum(x, y)


@pytest.fixture
def elementwise(rule):
    rule.scalar(product)(lambda x, y: (y, x))
    rule.scalar(root)(lambda x, out: 0.5 / out)
    rule.scalar(larger, chooses=True)(lambda x, y: (x >= y, x < y))
    return rule


def test_a_scalar_rule_gives_both_modes(elementwise):
    same(frule((None, 2.0, 3.0), product, 5.0, 7.0), 35.0, 29.0)
    same(frule((None, None, 3.0), product, 5.0, 7.0), 35.0, 15.0)
    same(frule((None, V, None), product, V, 2), 2 * V, 2 * V)
    assert frule((None, None, None), product, 5.0, 7.0) == (35.0, None)


def test_a_tangent_is_repeated_as_its_primal_is(elementwise):
    x, y = np.ones((2, 1)), np.array([1.0, 2.0, 3.0])
    found = frule((None, np.array([[1.0], [2.0]]), None), product, x, y)
    same(found, x * y, np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]))
    same(frule((None, 1.0, None), product, 2.0, y), 2 * y, y)


@pytest.mark.parametrize(
    ("x", "y", "dx", "dy"),
    [
        (np.float32(2), np.float32(3), np.float32(1), np.float32(3)),
        (V.astype("f"), V.astype("f"), V.astype("f"), (V.astype("f") ** 2)),
        (3, 4, 1.0, 4.0),
        (np.array([1, 2]), np.array([3, 4]), np.ones(2), np.array([3.0, 4.0])),
        (2.0, 1j, 1.0, 1j),
        (1j, 2j, 1.0 + 0j, 2j),
    ],
)
def test_a_tangent_has_the_kind_of_the_value(elementwise, x, y, dx, dy):
    same(frule((None, dx, None), product, x, y), x * y, dy)


def test_a_zero_tangent_is_a_strong_zero(elementwise):
    same(frule((None, 0.0), root, np.float64(0.0)), 0.0, np.float64(0.0))
    same(
        frule((None, np.array([0.0, 2.0])), root, np.array([0.0, 1.0])),
        [0.0, 1.0],
        V[:2] * 0 + [0, 1],
    )
    assert frule((None, 1.0), root, np.float64(0.0))[1] == math.inf
    found = frule((None, math.inf, 2.0), larger, 1.0, 2.0)  # what is not chosen counts nothing
    assert (found[0], float(found[1])) == (2.0, 2.0)


def test_a_linear_rule_gives_both_modes(rule):
    def joined(parts, scale, start=0.0):
        return np.concatenate(parts) * scale + start

    @rule.linear(joined, argnums=0, shifts=("start",))
    def _(dy, parts: list, scale: float, start=0.0):
        raise NotImplementedError

    found = frule((None, [V, None], 100.0), joined, [V, V[:1]], 2.0, start=5.0)
    same(found, joined([V, V[:1]], 2.0, 5.0), np.array([*(2 * V), 0.0]))


def test_a_constant_has_no_tangent(rule):
    rule.constant(quotient)
    assert frule((None, 1.0, None), quotient, 3.0, 2.0) == (1.5, None)


def test_nobody_has_a_rule(rule):
    @rule(math.hypot)
    def _(x: float):
        return x, lambda dy: (dy,)

    assert frule((None, 1.0), product, 1.0) is None
    assert frule((None, 1.0), math.hypot, 1.0) is None
    assert find_frule(math.hypot, 1.0) is None


def quotient(x, y, scale=1.0):
    return scale * x / y


@pytest.fixture
def by_hand(rule):
    @rule.forward(quotient)
    def _(x: float, y: float, scale=1.0):
        z = quotient(x, y, scale)
        parts = (lambda dx: scale * dx), (lambda dy: -z * dy)
        return z, (parts, lambda s: s / y)

    @rule.forward(quotient)
    def _(x: Array, y: Array, scale=1.0):
        def pushforward(dx, dy):
            return np.full(x.shape, [dx is None, dy is None], dtype=float)

        return quotient(x, y, scale), pushforward

    @rule.forward(quotient)
    def _(x: complex, y: int, scale=1.0):
        return quotient(x, y, scale), ((lambda dx: scale * dx / y), None)

    return rule


def test_a_forward_rule_by_hand(by_hand):
    assert frule((None, 1.0, None), quotient, 3.0, 2.0) == (1.5, 0.5)
    assert frule((None, 1.0, 4.0), quotient, 3.0, 2.0, scale=2.0) == (3.0, -5.0)
    assert frule((None, None, None), quotient, 3.0, 2.0) == (1.5, None)
    assert frule((None, 1j, 7.0), quotient, 1j, 2) == (0.5j, 0.5j)
    same(frule((None, V[:2], None), quotient, V[:2], V[:2]), 1.0, np.array([0.0, 1.0]))
    assert find_frule(quotient, 1.0, 2.0).kind == "forward"
    assert find_frule(quotient, 1.0, 2.0, unknown=1) is None
    assert frule((None, 1.0), quotient, "x") is None


def test_a_forward_rule_takes_a_number_without_axes(by_hand):
    assert frule((None, 1.0, None), quotient, np.float64(3.0), 2.0) == (1.5, 0.5)


def test_a_rule_of_another_set_that_overrides_leaves_no_forward_rule(by_hand, new_ruleset):
    other = new_ruleset("other")

    @other(quotient)
    def _(x: float, y: float, scale=1.0):
        return 0.0, lambda dy: (dy, dy)

    other.register()
    assert frule((None, 1.0, None), quotient, 3.0, 2.0) == (1.5, 0.5)
    other.register(override=True)
    assert frule((None, 1.0, None), quotient, 3.0, 2.0) is None
    assert frule((None, 1j, None), quotient, 1j, 2) == (0.5j, 0.5j)

    @other.forward(quotient)
    def _(x: float, y: float, scale=1.0):
        return 0.0, (lambda dx: dx, lambda dy: dy)

    assert frule((None, 1.0, None), quotient, 3.0, 2.0) == (0.0, 1.0)
    other.unregister()
    assert frule((None, 1.0, None), quotient, 3.0, 2.0) == (1.5, 0.5)


def test_a_forward_rule_does_not_take_the_place_of_a_rule(rule):
    @rule(quotient)
    def _(x: float, y: float):
        return x / y, lambda dy: (dy / y, -dy * x / y / y)

    @rule.forward(quotient)
    def _(x: float, y: float):
        return x / y, (lambda dx: dx / y, lambda dy: -dy * x / y / y)

    assert [r.kind for r in rule.rules] == ["general", "forward"]
    assert check_rrule(quotient, 3.0, 2.0).kind == "general"


CELL = """
@rule(math.hypot)
def _(x: float):
    return x, lambda dy: (dy,)
@rule.forward(math.hypot)
def _(x: float):
    return x, (lambda dx: dx,)
"""


def test_a_cell_that_is_run_again(new_ruleset):
    rule = new_ruleset()
    for _ in range(2):
        exec(compile(CELL, "<cell>", "exec"), {"rule": rule, "math": math, "__name__": "__main__"})
    assert [r.kind for r in rule.rules] == ["general", "forward"]


@pytest.mark.parametrize(
    ("tangents", "xs", "told"),
    [
        (math.sin, (None, 1.0), "come before the function: write"),
        ((None, 1.0), (1.0, 2.0), r"frule is given 2 tangents: .*, 3 in all"),
        ((None, V[:2], None), (V, V), r"argument 1 of .*\(3,\), and its tangent .*\(2,\)"),
        ((None, 1.0, None), (V, V), r"argument 1 of .* and its tangent float"),
    ],
)
def test_tangents_that_do_not_fit_are_refused(elementwise, tangents, xs, told):
    with pytest.raises(RuleError, match=told):
        frule(tangents, product, *xs)


def test_a_derivative_that_is_not_known_is_refused(rule):
    rule.scalar(quotient, refuses={"y": "it is too hard"})(lambda x, y: (1 / y, None))
    assert frule((None, 1.0, None), quotient, 3.0, 2.0) == (1.5, 0.5)
    with pytest.raises(RuleError, match="quotient has no derivative by `y`: it is too hard"):
        frule((None, None, 1.0), quotient, 3.0, 2.0)


WRONG = {
    "returns the value and the pushforward": lambda x, y: x / y,
    "has 1 part for 2 arguments: give": lambda x, y: (x / y, (lambda dx: dx,)),
    "for the tangent of float": lambda x, y: (x / y, (lambda dx: [dx], None)),
}


@pytest.mark.parametrize("told", WRONG)
def test_a_forward_rule_that_breaks_the_contract(rule, told):
    def body(x: float, y: float):
        return WRONG[told](x, y)

    rule.forward(quotient)(body)
    with pytest.raises(RuleError, match=told.replace("returns", "return")):
        frule((None, 1.0, None), quotient, 3.0, 2.0)


def test_a_forward_rule_is_declared_as_others_are():
    rule = RuleSet("mine")
    with pytest.raises(RuleError, match="takes no `ad`"):

        @rule.forward(quotient)
        def _(x: float, *, ad):
            pass

    rule.forward(quotient)
    with pytest.raises(RuleError, match=r"`rule.forward\(.*quotient\)` was not given the body"):
        rule.register()


BROKEN = {
    r"`frule` of the tangent of argument 1 gives .*, and the pullback": lambda x, y: (
        x / y,
        (lambda dx: 2 * dx, None),
    ),
    r"`frule` of the tangent of argument 2 gives": lambda x, y: (x / y, (lambda dx: dx / y, None)),
    r"the value of `frule` differs": lambda x, y: (y / x, (None, None)),
    r"`frule` of no tangent raises ZeroDivisionError": lambda x, y: (1 / 0, None),
    r"`frule` of the tangents of all arguments gives": lambda x, y: (
        x / y,
        lambda dx, dy: (dx or 0) / y - (dy or 0) * x / y / y + (dx or 0) * (dy or 0),
    ),
    r"`frule` of zero tangents is not zero": lambda x, y: (
        x / y,
        lambda dx, dy: (dx or 0) / y - (dy or 0) * x / y / y + (dx == 0),
    ),
}


@pytest.mark.parametrize("told", BROKEN)
def test_check_rrule_compares_both_modes(rule, told):
    @rule(quotient)
    def _(x: float, y: float):
        return x / y, lambda dz: (dz / y, -dz * x / y / y)

    def body(x: float, y: float):
        return BROKEN[told](x, y)

    check_rrule(quotient, 3.0, 2.0)
    rule.forward(quotient)(body)
    with pytest.raises(CheckError, match=told):
        check_rrule(quotient, 3.0, 2.0)


def test_numeric_matches_as_in_other_rules(rule):
    @rule.forward(root)
    def _(x: Numeric):
        return np.sqrt(x), (lambda dx: 7.0 * dx,)

    same(frule((None, V), root, V * V), np.sqrt(V * V), 7.0 * V)
