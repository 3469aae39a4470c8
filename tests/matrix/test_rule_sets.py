"""In one process: rule sets switched off are gone, the others answer, and all come back."""

import math

import numpy as np
import pytest

from rulescore import find_rule, generation, plugins, rrule
from zygote_lite import gradient


def rules_of(name):
    """Return the rules of a plugin, without what it says of its own types (`rule.method`)."""
    found = [r for p in plugins() if p.name == name for s in p.rulesets for r in s.rules]
    return [r for r in found if r.kind != "method"]


def test_every_rule_answers_or_is_gone(rule_sets, answer):
    for plugin in plugins():
        rules = rules_of(plugin.name)
        assert rules
        answers = {rule.signature: answer(rule) for rule in rules}
        if plugin.name in rule_sets:
            assert [signature for signature, rule in answers.items() if rule is None] == []
            assert {rule.plugin for rule in answers.values()} <= rule_sets
        else:
            left = [rule for rule in answers.values() if rule is not None]
            assert [rule for rule in left if rule.plugin not in rule_sets] == []


def test_every_example_has_a_rule_or_none(rule_sets):
    for plugin in plugins():
        for ruleset in plugin.rulesets:
            for f, xs, options in ruleset.examples:
                given = {name: x for name, x in options.items() if not name.startswith("check_")}
                rule = find_rule(f, *xs, ad=lambda f, *xs: None, **given)
                assert (rule is not None) == (plugin.name in rule_sets), (f, xs, options)


def test_a_rule_and_no_rule(rule_sets):
    answered = rrule(math.cos, 0.6)
    if "rules_base" in rule_sets:
        assert answered[1](1.0)[1] == -math.sin(0.6)
    else:
        assert answered is None


def test_a_nnlib_rule_needs_no_other_plugin(rule_sets):
    import rules_nnlib

    p, t = np.array([[0.2, 0.8], [0.6, 0.4]]), np.eye(2)
    calls = [(rules_nnlib.relu, (2.0,)), (rules_nnlib.mish, (p,)), (rules_nnlib.softmax, (p,))]
    calls += [(rules_nnlib.cross_entropy, (p, t)), (rules_nnlib.logit_cross_entropy, (p, t))]
    for f, xs in calls:
        answered = rrule(f, *xs)
        if "rules_nnlib" not in rule_sets:
            assert answered is None
        else:
            y, back = answered
            assert np.all(y == f(*xs))
            assert back(y)[1] is not None


def test_the_engine_is_loud_where_a_rule_is_missing(rule_sets):
    def f(x):
        return math.sin(x) * 2

    if "rules_base" in rule_sets:
        assert gradient(f, 0.6) == pytest.approx((2 * math.cos(0.6),))
    else:
        with pytest.raises(Exception, match=r"math\.sin of .* has no rule"):
            gradient(f, 0.6)


def test_switching_is_a_change_of_the_table():
    before = generation()
    plugin = next(p for p in plugins() if p.name == "rules_nnlib")
    rule = plugin.rulesets[0].rules[0]
    assert find_rule(rule.function, 1.0) is rule
    plugin.rulesets[0].unregister()
    assert find_rule(rule.function, 1.0) is None
    plugin.rulesets[0].register()
    assert find_rule(rule.function, 1.0) is rule
    assert generation() == before + 2
