"""Derivative rules for Python's operators, math, builtins and NumPy."""

import importlib

from rules_base._polynomials import evalpoly
from rulescore import RuleSet, hookimpl

__all__ = ["evalpoly"]
__version__ = "0.1.0"

MODULES = (
    "_arithmetic",
    "_attributes",
    "_builtins",
    "_complex",
    "_constants",
    "_elementary",
    "_indexing",
    "_joining",
    "_math",
    "_matmul",
    "_polynomials",
    "_reductions",
    "_shaping",
)


@hookimpl
def rulescore_rules() -> list[RuleSet]:
    """Return the rule sets of this plugin."""
    return [importlib.import_module(f"rules_base.{name}").rule for name in MODULES]
