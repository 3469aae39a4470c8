"""Noncentral distributions, against differences."""

import math

import pytest
from scipy import special as sp

from rulescore import RuleError, rrule
from rulescore.testing import check_rrule


def test_examples(example):
    f, xs, options = example
    assert check_rrule(f, *xs, **options).plugin == "rules_scipy"


def test_degrees_of_freedom_are_refused():
    y, back = rrule(sp.chndtr, 3.0, 2.5, 1.0)
    with pytest.raises(RuleError, match="no derivative by `df`"):
        back(y)


def test_few_degrees_of_freedom_of_t():
    y, back = rrule(sp.nctdtr, 1, 0.5, 0.7)
    with pytest.raises(NotImplementedError, match="one degree of freedom"):
        back(y)


@pytest.mark.parametrize(
    ("f", "xs", "at"),
    [
        (sp.chndtr, (math.inf, 2.0, 1.0), 1),
        (sp.chndtr, (3.0, 2.0, math.inf), 3),
        (sp.ncfdtr, (3.0, 4.0, 2.0, math.inf), 4),
        (sp.nctdtr, (3.0, 1.0, math.inf), 2),
        (sp.nctdtr, (3.0, 1.0, -math.inf), 3),
    ],
)
def test_slopes_at_infinity_are_zero(f, xs, at):
    _, back = rrule(f, *xs)
    assert back.only([i == at for i in range(len(xs) + 1)])(1.0)[at] == 0
