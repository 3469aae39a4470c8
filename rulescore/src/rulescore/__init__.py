"""Derivative rules that belong to no one AD.

- the verbs: `rrule`, `frule`
- to declare rules: `RuleSet`, with `Array`, `Numeric`, `project`; a plugin: `hookimpl`, `Section`
- at the definition of a function: `scalar_rule`, `custom_rule`, `custom_frule`,
  `non_differentiable`, `opt_out`
- cotangents: `Tangent`, `accumulate`, `zero`, `stop_gradient`, `goes_by_value`, `flatten`
- to look at rules: `find_rule`, `find_frule`, `find_batched`, `rules_of`, `why`, `plugins`
- for an AD: `provider_of`, `reason_of`, `generation`, `home_of`, `when_changed`
- errors: `RuleError`
- modules: `rulescore.testing` checks rules, `rulescore.batching` helps to write batching rules,
  `rulescore.interop` exports functions to other hosts; all others that `help` lists are private

    >>> import math
    >>> from rulescore import rrule
    >>> y, back = rrule(math.cos, 0.6)
    >>> back(1.0)
    (None, -0.5646424733950354)
"""

from rulescore._array import Array, Numeric
from rulescore._declaring.definitions import (
    custom_frule,
    custom_rule,
    non_differentiable,
    opt_out,
    scalar_rule,
    stop_gradient,
)
from rulescore._declaring.ruleset import RuleSet
from rulescore._errors import RuleError
from rulescore._forward import frule
from rulescore._methods import flatten, goes_by_value
from rulescore._naming import home_of
from rulescore._plugins.entry import hookimpl
from rulescore._plugins.loading import plugins
from rulescore._plugins.published import provider_of, reason_of
from rulescore._plugins.sections import Section
from rulescore._project import project, zero
from rulescore._table.resolution import find_batched, find_frule, find_rule, rrule
from rulescore._table.table import generation, rules_of, when_changed
from rulescore._tangent import Tangent, accumulate
from rulescore._why import why

__all__ = [
    # the verbs
    "rrule",
    "frule",
    # declaring rules
    "RuleSet",
    "hookimpl",
    "Section",
    "Array",
    "Numeric",
    "project",
    # declaring them at the definition of a function
    "custom_frule",
    "custom_rule",
    "scalar_rule",
    "non_differentiable",
    "opt_out",
    # cotangents
    "stop_gradient",
    "Tangent",
    "accumulate",
    "zero",
    "flatten",
    "goes_by_value",
    # looking at rules
    "find_rule",
    "find_frule",
    "find_batched",
    "rules_of",
    "why",
    "plugins",
    "provider_of",
    "reason_of",
    "generation",
    "home_of",
    "when_changed",
    # errors
    "RuleError",
]
__version__ = "0.1.0"
