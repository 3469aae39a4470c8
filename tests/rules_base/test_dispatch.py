"""No call is answered by two rules at once."""

import importlib
import itertools

import numpy as np
import pytest

from rules_base import MODULES
from rulescore import find_rule
from rulescore._naming import name_of

VALUES = (0.5, 2, True, 0.5j, np.float64(0.5), np.ones(2), [0.5, 1.5], (0.5, 1.5), None, "text")


def functions_with_several_rules():
    counts = {}
    for module in MODULES:
        for rule in importlib.import_module(f"rules_base.{module}").rule.rules:
            key = name_of(rule.function), id(rule.function)
            arity = len(rule.types) + len(rule.optional)
            function, number, most = counts.get(key, (rule.function, 0, 0))
            counts[key] = function, number + 1, max(most, arity)
    return [(name, f, most) for (name, _), (f, number, most) in counts.items() if number > 1]


@pytest.mark.parametrize("arity", [1, 2, 3])
def test_no_call_is_ambiguous(arity):
    looked_up = 0
    for _, f, most in functions_with_several_rules():
        if arity <= most + 1:
            for xs in itertools.product(VALUES, repeat=arity):
                find_rule(f, *xs)  # raises RuleError where several rules match
                looked_up += 1
    assert looked_up > 500
