"""The cmath module."""

import cmath

from rulescore import rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_base"


def test_a_real_argument_gets_a_real_cotangent():
    _, dx = rrule(cmath.exp, 0.5)[1](1.0 + 2.0j)
    assert type(dx) is float


def test_polar_of_one_result():
    (_r, _phi), back = rrule(cmath.polar, 3.0 + 4.0j)
    assert back((1.0, None))[1] == 0.6 + 0.8j
    assert abs(back((None, 1.0))[1] - 1j / (3.0 - 4.0j)) < 1e-15
    assert rrule(cmath.polar, 0j)[1]((1.0, None))[1] == 0


def test_every_public_function_has_a_rule():
    from rules_base.python.cmath import rule

    functions = [f for name, f in vars(cmath).items() if callable(f) and name[0] != "_"]
    known = {id(r.function) for r in rule.rules}
    assert [f.__name__ for f in functions if id(f) not in known] == []
