"""What the tests of the engine share: checking a gradient, rules, an engine without rules_base."""

import pytest

from rulescore import RuleSet, plugins
from tests.zygote_lite.checks.finite_differences import check_gradient


@pytest.fixture
def check():
    """Give `check_gradient`."""
    return check_gradient


@pytest.fixture
def rules():
    """Give a rule set of the test's own, which is taken back after it."""
    ruleset = RuleSet("rules_of_the_test")
    ruleset.register()
    yield ruleset
    ruleset.unregister()


@pytest.fixture
def no_base():
    """Take the rules of rules_base away."""
    rulesets = [r for p in plugins() if p.name == "rules_base" for r in p.rulesets]
    for ruleset in rulesets:
        ruleset.unregister()
    yield
    for ruleset in rulesets:
        ruleset.register()
