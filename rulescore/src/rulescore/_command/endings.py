"""Where Python source ends: the compiled functions that it calls and nobody has a rule for."""

import ast
import builtins
import inspect
import sys
import textwrap
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from rulescore._naming import name_of
from rulescore._table.table import rules_of

# what the language itself is made of is no matter of rules, but for the modules of formulas
_LANGUAGE = sys.stdlib_module_names - {"math", "cmath", "_operator", "operator", "_statistics"}
_MOST = 400  # functions that are read for one: a library may be a single net of calls


def endings(f: Any) -> list[str]:
    """Return the names of compiled functions without a rule that the source of `f` calls.

    Read are the calls that are written with the name of a function or of something in a module, in
    `f` and in the Python functions without a rule that it calls. Which of them a call reaches, and
    whether a derivative passes there, is not known.
    """
    found: dict[str, None] = {}
    seen: set[int] = set()
    waiting = [f]
    while waiting and len(seen) < _MOST:
        known = plain_function(waiting.pop())
        if known is None or id(known) in seen:
            continue
        seen.add(id(known))
        for called in _called_by(known):
            if isinstance(called, type) or not callable(called) or rules_of(called):
                continue
            if plain_function(called) is not None:
                waiting.append(called)
            elif not hasattr(type(called).__call__, "__code__") and not _is_of_language(called):
                found[name_of(called)] = None
    return sorted(found)


def plain_function(f: Any) -> FunctionType | None:
    """Return the function written in Python that is behind `f`, or `None` where there is none.

    Behind NumPy's dispatcher, behind decorators, behind a method or a property.
    """
    f = f.fget if isinstance(f, property) else getattr(f, "_implementation", f)
    f = inspect.unwrap(f) if callable(f) else f
    f = getattr(f, "__func__", f)
    return f if isinstance(f, FunctionType) else None


def _called_by(f: FunctionType) -> Iterator[Any]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(f)))
    except (OSError, TypeError, SyntaxError):
        return
    names = _names_in(f)
    own = set(f.__code__.co_varnames) | set(f.__code__.co_cellvars)
    body = getattr(tree.body[0], "body", tree.body)  # without the decorators
    for statement in body if isinstance(body, list) else [body]:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                yield _meant(node.func, names, own)


def _is_of_language(f: Any) -> bool:
    owner = getattr(f, "__module__", None) or getattr(
        getattr(f, "__objclass__", type(getattr(f, "__self__", None))), "__module__", ""
    )
    return str(owner).partition(".")[0] in _LANGUAGE


def _names_in(f: FunctionType) -> dict[str, Any]:
    names = {**vars(builtins), **f.__globals__}
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # it is not bound yet
            names.pop(name, None)
    return names


def _meant(node: ast.expr, names: dict[str, Any], own: set[str]) -> Any:
    """Return what a name, or a dotted name of something in a module, stands for, else `None`."""
    if isinstance(node, ast.Name):
        return None if node.id in own else names.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _meant(node.value, names, own)
        if isinstance(owner, ModuleType | type) or hasattr(owner, "reduce"):
            return getattr(owner, node.attr, None)
    return None
