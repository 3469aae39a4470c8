"""Derivative rules for Python's operators, math, builtins and NumPy."""

from rulescore import RuleSet, hookimpl

__version__ = "0.1.0"


@hookimpl
def rulescore_rules() -> list[RuleSet]:
    """Return the rule sets of this plugin."""
    return []
