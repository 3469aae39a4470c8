"""Activations and losses in the manner of NNlib, and their derivative rules."""

from rulescore import RuleSet, hookimpl

__version__ = "0.1.0"


@hookimpl
def rulescore_rules() -> list[RuleSet]:
    """Return the rule sets of this plugin."""
    return []
