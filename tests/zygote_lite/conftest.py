"""What the tests of the engine share: checking a gradient, rules, an engine without rules_base."""

import contextlib

import pytest

from rulescore import RuleSet, plugins
from rulescore._table import changes
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


@contextlib.contextmanager
def without(plugin):
    """Take the rules of a plugin away for a while."""
    rulesets = [r for p in plugins() if p.name == plugin for r in p.rulesets]
    for ruleset in rulesets:
        ruleset.unregister()
    try:
        yield
    finally:
        for ruleset in rulesets:
            changes.register(ruleset, plugin)  # as of the plugin, and not of the program


@pytest.fixture
def no_base():
    """Take the rules of rules_base away."""
    with without("rules_base"):
        yield


@pytest.fixture
def no_scipy():
    """Take the rules of rules_scipy away: its functions are as those of any library without."""
    with without("rules_scipy"):
        yield
