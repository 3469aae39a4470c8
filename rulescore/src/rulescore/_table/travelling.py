"""Functions and classes with rules do not travel by value: their rules would be left behind.

`cloudpickle` takes the functions of a script or a notebook by value, with their attributes, and
rules stand in a table. So an attribute of such a function refuses to be pickled.
"""

import pickle
import sys
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

from rulescore._errors import Fault
from rulescore._naming import name_of
from rulescore._rule import Rule

_MARK = "__rules__"


def refuse_by_value(rule: Rule, is_in_force: Callable[[Any], bool]) -> None:
    """Have what a rule is for refuse to be pickled by value.

    Arguments:
        rule: the rule.
        is_in_force: whether there is a rule for a function or a class at the time it is pickled.
    """
    for owner in (rule.function, *rule.types):
        is_class = isinstance(owner, type) and (
            owner.__module__ == "__main__" or "<locals>" in owner.__qualname__
        )
        if (is_class or isinstance(owner, FunctionType)) and _MARK not in vars(owner):
            try:
                setattr(owner, _MARK, _Mark(owner, is_in_force))
            except (AttributeError, TypeError):  # of a class that is closed
                continue


class _Mark:
    """Stand among the attributes of a function or a class that has rules."""

    __slots__ = ("_is_in_force", "_owner")

    def __init__(self, owner: Any, is_in_force: Callable[[Any], bool]) -> None:
        self._owner, self._is_in_force = weakref.ref(owner), is_in_force

    def __reduce__(self) -> tuple[Any, ...]:
        owner = self._owner()
        # a wrapper has the attributes of what it wraps, which may travel by its name
        if owner is None or _is_found_by_name(owner) or not self._is_in_force(owner):
            return bool, ()
        raise Fault.BY_VALUE.of(
            pickle.PicklingError,
            f"{name_of(owner)} has a rule, which would be lost where it is unpickled by value: put "
            "both into a module, and import it",
        )


def _is_found_by_name(x: Any) -> bool:
    found: Any = None if x.__module__ == "__main__" else sys.modules.get(x.__module__)
    for part in x.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is x
