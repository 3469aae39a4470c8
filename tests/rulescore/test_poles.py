"""Which partial derivatives may have poles, told from their code."""

import math

import numpy as np
import pytest

from rulescore._declaring.poles import may_have_poles

SCALE, HUGE, NAN = 0.3, 1e200, math.nan
TABLE = [1.0]


def helper(x):
    return 1 / x


def bind(limit):
    return lambda x: limit * x


GONE = None

WITHOUT = [
    lambda x: 1,
    lambda x: None,
    lambda x, y: (1, -1),
    lambda x, y: (y, x),
    lambda x, y: (None, 1j),
    lambda x: 2 * x,
    lambda x: -SCALE * x,
    lambda x: x > 0,
    lambda x, y: ((x > y) + 0.5 * (x == y), (x < y) + 0.5 * (x == y)),
    lambda x: (x > -1) & (x < 1),
    lambda x: np.cos(x),
    lambda x: -math.sin(x),
    lambda x: 1.0 * np.isfinite(x),
    lambda x, y: (np.sign(x) * np.copysign(1.0, y), None),
    lambda x: np.conjugate(np.sign(x)),
]
WITH = [
    lambda x: 1 / x,
    lambda x: 1 / SCALE,
    lambda x: x / 2,
    lambda x: x**2,
    lambda x: x % 2,
    lambda x: x // 2,
    lambda x: x * x,
    lambda x: x + 1,
    lambda x, y: (x + y, 1),
    lambda x: np.exp(x),
    lambda x: np.tan(x),
    lambda x: math.log(x),
    lambda x: helper(x),
    lambda x: x.real,
    lambda x: TABLE[0],
    lambda x: HUGE * x,
    lambda x: NAN,
    lambda x: 1e300,
    lambda x: GONE,
    lambda x: np.no_such_function(x),
    lambda x: x(1.0),
    lambda x: np,
    lambda x: [x],
    lambda x: "text",
    lambda x: 1.0 if x > 0 else 1 / x,
    lambda x: x > 0 and x,
    lambda x: 0 < x < 1,
    lambda x: np.where(x > 0, x, 0.0),
    lambda x: np.sum(x, axis=0),
    lambda x, y: (x, (y, 1 / y)),
    bind(0.5),
]
del globals()["GONE"]  # a name that is not there


@pytest.mark.parametrize("partials", WITHOUT, ids=range(len(WITHOUT)))
def test_code_without_poles_is_recognized(partials):
    assert not may_have_poles(partials, takes_out=False)


@pytest.mark.parametrize("partials", WITH, ids=range(len(WITH)))
def test_any_other_code_may_have_poles(partials):
    assert may_have_poles(partials, takes_out=False)


def test_an_output_may_be_infinite_so_it_is_compared_at_most():
    assert not may_have_poles(lambda x, out: out > 0, takes_out=True)
    assert not may_have_poles(lambda x, y, out: (x == out, y == out), takes_out=True)
    assert may_have_poles(lambda x, out: out, takes_out=True)
    assert may_have_poles(lambda x, out: 2 * out, takes_out=True)
    assert may_have_poles(lambda x, out: np.cos(out), takes_out=True)
    assert not may_have_poles(lambda x, out: (x, out), takes_out=False)


def test_a_statement_may_have_poles():
    def partials(x):
        slope = 1 / x
        return slope

    assert may_have_poles(partials, takes_out=False)


def test_a_rule_set_looks_unless_it_is_told(new_ruleset):
    rule = new_ruleset()
    f, g, h, k = (bind(i) for i in range(4))
    rule.scalar(f)(lambda x: 2 * x)
    rule.scalar(g, poles=True)(lambda x: 2 * x)
    rule.scalar(h)(lambda x: 1 / x)
    rule.scalar(k, poles=False)(lambda x: 1 / x)
    assert [r.poles for r in rule.rules] == [False, True, True, False]
