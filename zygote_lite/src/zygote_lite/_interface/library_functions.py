"""Python functions that call others: functions in C, and those that have parameters by name alone.

Transformed code is made of Python functions that are called by position. For `grad(np.sum)`, called
with one argument, it is made of `def sum(a): return called(a)`, where `called` is `np.sum`; for a
call of `def f(x, *, s)`, of `def f(x, s): return called(x, s=s)`. The tape is asked about `np.sum`
and `f` themselves.
"""

import ast
import copy
import functools
import inspect
import keyword
import types
from typing import Any

import numpy as np

from rulescore import rules_of
from zygote_lite._ir.source import definition_of, note_definition
from zygote_lite._specialize.text.spell import module_in_text
from zygote_lite._tape.arguments import parameter_names
from zygote_lite.caches import Cache

_NAME_OF_CALLED = "called"
_OWNERS_OF_FUNCTIONS = (
    types.NoneType,
    types.ModuleType,
)  # the others are methods, which hold an object
_functions_made: Cache[types.FunctionType] = Cache(512)


def that_calls(f: Any, count: int, names: tuple[str, ...] = ()) -> types.FunctionType | None:
    """Return a Python function that calls a function of a library, written in C.

    Arguments:
        f: any callable.
        count: how many arguments it is given by position.
        names: those given by keyword. They are the last parameters of the function.

    It is `None` for any other callable, and where no rule gives the derivative of `f`.
    """
    if not _is_given_in_c(f) or not (count or names) or not all(map(_is_free_name, names)):
        return None
    key = (f, count, names)
    found = _functions_made.get(key)
    return _functions_made.keep(key, _written_anew(f, count, names)) if found is None else found


def that_names(
    f: types.FunctionType, count: int, names: tuple[str, ...]
) -> types.FunctionType | None:
    """Return a Python function that calls another one with arguments by name.

    Arguments:
        f: a Python function.
        count: how many arguments it is given by position.
        names: those given by name. They are the last parameters of the function.

    It is `None` where a name is taken, and for a closure, which may be another one in each call.
    """
    if f.__closure__ or not all(map(_is_free_name, names)):
        return None
    key = (f, count, names)
    found = _functions_made.get(key)
    return _functions_made.keep(key, _written_anew(f, count, names)) if found is None else found


def in_one_order(f: types.FunctionType) -> types.FunctionType | None:
    """Return a closure with its parameters by name alone as ones by position, after the others.

    It has the code, the cells and the defaults of `f`, so that each closure of one definition is
    answered by the same transformed code. `None` where `f` has none, or takes any number.
    """
    code, names = f.__code__, f.__kwdefaults__ or {}
    if not code.co_kwonlyargcount or code.co_flags & inspect.CO_VARARGS:
        return None
    made = _codes_made.get(code)
    if made is None:
        count = code.co_argcount + code.co_kwonlyargcount
        made = code.replace(co_argcount=count, co_kwonlyargcount=0)
        note_definition(made, functools.partial(_with_one_order, code))
        _codes_made.keep(code, made)
    defaults: list[Any] = []
    for name in reversed(code.co_varnames[code.co_argcount : made.co_argcount]):
        if name not in names:
            break
        defaults.insert(0, names[name])
    else:
        defaults = [*(f.__defaults__ or ()), *defaults]
    found = types.FunctionType(made, f.__globals__, f.__name__, tuple(defaults), f.__closure__)
    found.__qualname__, found.__module__ = f.__qualname__, f.__module__
    return found


_codes_made: Cache[types.CodeType] = Cache(512)


def _with_one_order(code: types.CodeType) -> Any:
    """Return the definition of a function, with its parameters by name among the others."""
    definition = copy.deepcopy(definition_of(code))
    parameters = definition.args
    parameters.args += parameters.kwonlyargs
    defaults: list[Any] = []
    for default in reversed(parameters.kw_defaults):
        if default is None:
            break
        defaults.insert(0, default)
    else:
        defaults = [*parameters.defaults, *defaults]
    parameters.kwonlyargs, parameters.kw_defaults, parameters.defaults = [], [], defaults
    return definition


def all_that_call(f: Any) -> list[Any]:
    """Return the functions that were written for one in C; of any other, it is one of them."""
    made = [found for (called, *_), found in _functions_made.items() if called is f]
    return made if _is_given_in_c(f) else [f, *made]


def _is_given_in_c(f: Any) -> bool:
    if type(f) is type(np.sum):
        return True
    is_function = type(f) is types.BuiltinFunctionType and type(f.__self__) in _OWNERS_OF_FUNCTIONS
    is_known = is_function or type(f) is np.ufunc
    return is_known and any(rule.kind != "constant" for rule in rules_of(f))


def _written_anew(f: Any, count: int, names: tuple[str, ...]) -> types.FunctionType:
    given = _names_by_position(f, count, names)
    name = f.__name__ if _is_free_name(f.__name__) else "f"
    call = ", ".join([*given, *[f"{key}={key}" for key in names]])
    call = f"{_NAME_OF_CALLED}({call})"
    home = module_in_text(f) if _is_given_in_c(f) else None
    # both are the same call: the test guards the text, which says `math.sin`, and not `called`
    tested = (
        call if home is None else f"{call} if home.{f.__name__} is {_NAME_OF_CALLED} else {call}"
    )
    text = f"def {name}({', '.join([*given, *names])}):\n    return {tested}\n"
    space: dict[str, Any] = {
        _NAME_OF_CALLED: f,
        "home": home,
        "__name__": getattr(f, "__module__", None) or name,
    }
    exec(compile(text, f"<{name}>", "exec"), space)
    function: types.FunctionType = space[name]
    function.__qualname__ = f.__qualname__ if type(f) is types.FunctionType else name
    note_definition(function.__code__, functools.partial(_its_definition, text))
    return function


def _names_by_position(f: Any, count: int, names: tuple[str, ...]) -> list[str]:
    """Return names for the parameters by position: those of the function, if they are known."""
    known, letters = parameter_names(f)[:count], ("x", "y", "z")[:count]
    for found in (known, letters):
        if len(found) == count and all(map(_is_free_name, found)) and not {*names} & {*found}:
            return [*found]
    longest = max(map(len, names), default=0)
    return [f"x{'_' * longest}{i}" for i in range(count)]  # longer than the others, so another


def _is_free_name(text: str) -> bool:
    taken = keyword.iskeyword(text) or text in (_NAME_OF_CALLED, "home", "np", "math")
    return text.isidentifier() and not taken


def _its_definition(text: str) -> ast.FunctionDef:
    (definition,) = ast.parse(text).body
    assert isinstance(definition, ast.FunctionDef)
    return definition
