"""Derivative rules for scipy.special: an example of a third-party rule plugin."""

from rules_scipy_special import _along_axes, _elementwise  # noqa: F401 (they fill `rule`)
from rules_scipy_special._ruleset import rule
from rulescore import RuleSet, hookimpl

__all__ = ["rule"]
__version__ = "0.1.0"


@hookimpl
def rulescore_rules() -> list[RuleSet]:
    """Return the rule sets of this plugin."""
    return [rule]
