"""Derivative rules for scipy.special: an example of a third-party rule plugin."""

from rulescore import Section, hookimpl

__version__ = "0.1.0"

MODULES = ("_elementwise", "_along_axes")  # each has a rule set named `rule`


@hookimpl
def rulescore_rules() -> list[Section]:
    """Return the rules of this plugin, to be imported when `scipy.special` has been."""
    return [Section("scipy.special", f"rules_scipy_special.{name}") for name in MODULES]
