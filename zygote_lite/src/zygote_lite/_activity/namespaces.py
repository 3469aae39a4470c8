"""Variables of modules that are written through a dict, as in `vars(module)["k"] = x`.

Code reads such a variable by its name, and the number that it finds there has no address by which
its cotangent could be known. So a write is refused where code of that module may read it, or code
that knows the module by a name: by an `import`, or as a global variable.
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
    if not is_namespace(variables):
        return
    if _is_known_by_name(variables):
        raise _refusal(name)
    if kind_of(value) not in (VALUE, TUPLE):
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
    for x in f.__globals__.values():
        if isinstance(x, types.ModuleType) and id(_variables_of(x)) in state.variables:
            raise _refusal(min(state.variables[id(_variables_of(x))][1], key=str))


def _variables_of(module: types.ModuleType) -> Any:
    """Return the dict of a module, also of one that is loaded when it is first asked."""
    return types.ModuleType.__getattribute__(module, "__dict__")


def _is_known_by_name(variables: dict[Any, Any]) -> bool:
    """Return whether a dict is that of a module that was imported, or is a global variable."""
    if "__spec__" not in variables:
        return False
    known = {id(sys.modules): [*sys.modules.values()]}
    frame = sys._getframe()
    while frame is not None:
        known.setdefault(id(frame.f_globals), [*frame.f_globals.values()])
        frame = frame.f_back  # type: ignore[assignment]
    found = (x for values in known.values() for x in values if isinstance(x, types.ModuleType))
    return any(_variables_of(x) is variables for x in found)


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
