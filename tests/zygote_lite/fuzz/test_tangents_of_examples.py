"""Some examples of rules, forward: one in so many, by both ways of the engine."""

import math

import numpy as np
import pytest

from rules_base.numpy import einsum, reductions, ufuncs
from rules_base.numpy.linalg import solve
from rulescore import RuleSet
from tests.zygote_lite.fuzz.tangents_of_examples import check

FEW = 12  # `tangents_of_examples` takes them all
EXAMPLES = [e for m in (ufuncs, reductions, einsum, solve) for e in [*m.rule.examples][::FEW]]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_tangents_are_adjoint_to_cotangents(number):
    f, xs, options = EXAMPLES[number]
    with np.errstate(all="ignore"):
        assert check(f, xs, options, number) in ("forward", "transposed", "constant", "flat")


def test_a_rule_that_is_wrong_in_one_mode_is_found():
    rule = RuleSet("wrong")

    def half(x):
        return x / 2

    @rule(half)
    def _(x: float):
        return x / 2, lambda dy: (dy / 2,)

    @rule.forward(half)
    def _(x: float):
        return x / 2, (lambda dx: dx / 3,)

    rule.register()
    try:
        assert check(math.sin, (0.5,), {}) == "forward"
        with pytest.raises(AssertionError, match="Not equal"):
            check(half, (1.0,), {})
    finally:
        rule.unregister()
