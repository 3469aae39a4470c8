"""Variables of modules that are written through a dict, as in `vars(module)["k"] = x`.

Code reads such a variable by its name, and the number that it finds there has no address by which
its cotangent could be known. So a write is refused where code of that module may read it.
"""

import sys
import types
from typing import Any

from zygote_lite._activity.marks import is_namespace
from zygote_lite._cotangents.kinds import TUPLE, VALUE, kind_of
from zygote_lite._cotangents.run import state
from zygote_lite._ir.bytecode import codes_in, variables_named
from zygote_lite._ir.places import where
from zygote_lite.errors import Fault


def note_variable(variables: dict[Any, Any], name: Any, value: Any) -> None:
    """Note that an entry of a dict will hold an active value; refuse it where code may read it."""
    if not is_namespace(variables) or kind_of(value) not in (VALUE, TUPLE):
        return
    if _has_code(variables):
        raise _refusal(name)
    state.variables.setdefault(id(variables), (variables, set()))[1].add(name)


def refuse_variables(f: types.FunctionType) -> None:
    """Refuse a function that reads a variable of its module that holds an active value."""
    _, written = state.variables.get(id(f.__globals__), (None, ()))
    for name in written:
        if any(name in variables_named(code) for code in codes_in(f.__code__)):
            raise _refusal(name)


def _has_code(variables: dict[Any, Any]) -> bool:
    """Return whether functions or classes of a module are in it, or run now."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_globals is variables:
            return True
        frame = frame.f_back  # type: ignore[assignment]
    members = [*variables.values()]
    members += [m for x in members if isinstance(x, type) for m in vars(x).values()]
    return any(getattr(m, "__globals__", None) is variables for m in members)


def _refusal(name: Any) -> Exception:
    return Fault.ATTRIBUTE(
        f"{where()}: the variable `{name}` of a module is given what depends on what is "
        "differentiated, and functions that read it would lose that: give it as an argument"
    )
