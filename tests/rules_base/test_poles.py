"""Rules without poles, told from their code or stated: the care that they spare changes nothing."""

import itertools
import math

import numpy as np
import pytest

from rulescore import plugins

FINITE = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, math.pi / 2, 5e-324, 1e-300, -1e-300, 1e300, -1e300)
SPECIAL = (*FINITE, math.inf, -math.inf, math.nan)
COTANGENTS = (1.0, 0.0, -2.5, math.inf, math.nan)
RULES = [
    rule
    for plugin in plugins()
    if plugin.name in ("rules_base", "rules_nnlib")
    for ruleset in plugin.rulesets
    for rule in ruleset.rules
    if rule.kind == "scalar" and not rule.poles
]
# they compute with whole numbers only, and have no gradient
OF_INTEGERS = {"operator.and_", "operator.or_", "operator.xor", "operator.invert", "operator.inv"}
OF_INTEGERS |= {"operator.lshift", "operator.rshift", "round(Numeric, Numeric)"}


def value(rule, xs):
    """Return the value of a call, or `None` where the function refuses it."""
    try:
        with np.errstate(all="ignore"):
            return rule.primal(*xs)
    except (TypeError, ValueError, ArithmeticError):
        return None


def calls(rule, points, kind):
    """Yield the arguments at special points, and the value there."""
    n = len(rule.types)
    for xs in itertools.product(points if n < 3 else points[::3], repeat=n):
        xs = tuple(map(kind, xs))
        y = value(rule, xs)
        if y is not None:
            yield xs, y


def is_same(a, b):
    """Return whether two numbers or arrays are equal, signs of zeros and of nans included."""
    if type(a) is float:
        return (a == b or (a != a and b != b)) and math.copysign(1.0, a) == math.copysign(1.0, b)
    same = np.array_equal(a, b, equal_nan=True)
    return same and np.array_equal(np.signbit(np.real(a)), np.signbit(np.real(b)))


KINDS = {"float": float, "float64": np.float64, "array": lambda x: np.array([x, 0.7])}
every_rule = pytest.mark.parametrize("rule", RULES, ids=[r.signature for r in RULES])
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))


@every_kind
@every_rule
def test_nothing_is_divided_by_zero_or_overflows(rule, kind):
    looked = 0
    for xs, y in calls(rule, FINITE, kind):
        with np.errstate(all="raise", under="ignore"):
            rule.reverse(rule, y, rule.function, xs, np.ones_like(y) if np.ndim(y) else 1.0)
        looked += 1
    assert looked or any(name in rule.signature for name in OF_INTEGERS) or kind is not float


@pytest.mark.sampled(4)
@every_kind
@every_rule
def test_the_care_would_change_nothing(rule, kind, monkeypatch):
    for xs, y in calls(rule, SPECIAL, kind):
        for dy in COTANGENTS:
            if np.ndim(y):
                dy = np.full_like(y, dy)
            with np.errstate(all="ignore"):
                quick = rule.reverse(rule, y, rule.function, xs, dy)
                monkeypatch.setattr(rule, "poles", True)
                careful = rule.reverse(rule, y, rule.function, xs, dy)
                monkeypatch.setattr(rule, "poles", False)
            for a, b in zip(quick, careful, strict=True):
                assert type(a) is type(b)
                assert a is None or is_same(a, b), (xs, dy, a, b)


def test_the_formula_sheets_state_it_for_few():
    """Those of `rules_base` for which the code does not tell, and the author says that he knows."""
    stated = {"numpy.tan", "numpy.tanh", "numpy.absolute", "abs", "operator.abs"}
    stated |= {f"math.{name}" for name in ("tan", "tanh", "asinh")}
    from rulescore._declaring.poles import may_have_poles

    found = {
        rule.signature.partition("(")[0]
        for rule in RULES
        for partials in rule.partials or (rule.body,)
        if rule.plugin == "rules_base" and may_have_poles(partials, rule.takes_out)
    }
    assert found == stated
