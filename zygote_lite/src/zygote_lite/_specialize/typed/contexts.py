"""Contexts: what `with` sets for a while, and the operations that have to run in it.

The state of floating-point errors and the filters of warnings are written as the program has them:
the operations that were called in a context, one after the other, stand in a `with` of their own.
"""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.stand_ins import StandIn
from zygote_lite._specialize.typed.values import Value


@dataclass(eq=False)
class Context(StandIn):
    """What `with` is given, and whether it was entered.

    Attributes:
        manager: what makes the context that is written; nothing where it changes nothing.
        options: the options of that.
        value: what `as` names.
        kinds: the classes of errors that it swallows.
        home: the block that it is made in.
        around: the contexts around it, once it is entered.
    """

    manager: Any = None
    options: dict[str, Any] = field(default_factory=dict)
    value: Value | None = None
    kinds: tuple[Any, ...] = ()
    home: Any = None
    around: "tuple[Context, ...] | None" = None


NOWHERE: tuple[Context, ...] = ()
_ERROR_KINDS = {"all", "divide", "over", "under", "invalid"}
_ERRORS = {"ignore", "warn", "raise"}


def error_state(options: dict[str, Any]) -> Context:
    """Return the context that `np.errstate` makes, of options that are known."""
    if not options.keys() <= _ERROR_KINDS or not {*options.values()} <= _ERRORS:
        raise Unsound.EFFECTS("it has floating-point errors printed, or passed to a function")
    return Context(np.errstate, options)


def warning_filter(action: Any, category: Any = Warning) -> Context:
    """Return the context in which warnings are filtered."""
    if type(action) is not str or not isinstance(category, type):
        raise Unsound.EFFECTS("it filters warnings with options that are not constants")
    options = {"action": action}
    return Context(warnings.catch_warnings, options | ({} if category is Warning else
                                                      {"category": category}))  # fmt: skip
