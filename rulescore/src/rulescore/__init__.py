"""Derivative rules that belong to no one AD.

The verb is `rrule`, the declaring form is `RuleSet`, the rest is what rules are made of.
"""

from rulescore._array import Array, Numeric
from rulescore._plugins import Section, hookimpl, plugins
from rulescore._project import project, zero
from rulescore._rule import RuleError
from rulescore._ruleset import RuleSet
from rulescore._table import (
    find_rule,
    generation,
    goes_by_value,
    rrule,
    when_changed,
    why,
)
from rulescore._tangent import Tangent, accumulate

__all__ = [  # noqa: RUF022 - in the order in which a newcomer needs them
    # the verb
    "rrule",
    # declaring rules
    "RuleSet",
    "hookimpl",
    "Section",
    "Array",
    "Numeric",
    "project",
    # cotangents
    "Tangent",
    "accumulate",
    "zero",
    "goes_by_value",
    # looking at rules
    "find_rule",
    "why",
    "plugins",
    "generation",
    "when_changed",
    # errors
    "RuleError",
]
__version__ = "0.1.0"
