"""Imports inside functions: what they find, if it has been imported before, and stays."""

import ast
import builtins
import importlib.util
import sys
import types
from typing import TYPE_CHECKING, Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.typed.values import Unfit, Value

if TYPE_CHECKING:
    from zygote_lite._specialize.infer.interpreter import Interpreter

_IMPORT = builtins.__import__


def imports_of(s: ast.Import | ast.ImportFrom) -> list[ir.Statement]:
    """Return a call for each name that an import statement binds."""
    calls: list[ir.Statement] = []
    found: tuple[str, ...]
    for alias in s.names:
        if isinstance(s, ast.ImportFrom):
            name, found = "." * s.level + (s.module or ""), (alias.name,)
        else:
            name = alias.name
            head, *rest = name.split(".")
            found = (head, *rest) if alias.asname else (head,)
        target = alias.asname or found[0]
        arguments: list[ir.Atom] = [ir.Const(name), ir.Const(found)]
        calls.append(ir.Call(s, target, ir.Const(_WAYS[type(s)]), arguments))
    return calls


def module_of(name: str, path: tuple[str, ...]) -> Any:
    """Stand for `import name`, which gives its first module, or what a path from that leads to."""


def member_of(name: str, path: tuple[str, ...]) -> Any:
    """Stand for `from name import path`."""


_WAYS: dict[type, Any] = {ast.Import: module_of, ast.ImportFrom: member_of}


def import_module(interpreter: "Interpreter", xs: list[Value]) -> Value:
    """Return what `import` binds."""
    name, (head, *rest) = (x.sample for x in xs)
    module = _loaded(interpreter, name)
    if name != head:
        modules = interpreter.inputs.name_for(sys.modules, "modules")
        interpreter.inputs.guard(f"{modules}[{name!r}]", module)
    return _read(interpreter, _loaded(interpreter, head), head, rest)


def import_member(interpreter: "Interpreter", xs: list[Value]) -> Value:
    """Return what `from ... import` binds."""
    name, path = (x.sample for x in xs)
    if name.startswith("."):
        package = interpreter.globals_of.get("__package__")
        if not isinstance(package, str) or not package:
            raise Unfit("it imports from a package that is not known")
        name = importlib.util.resolve_name(name, package)
    return _read(interpreter, _loaded(interpreter, name), name, [*path])


def _loaded(interpreter: "Interpreter", name: str) -> types.ModuleType:
    """Return a module that has been imported before; then importing it does nothing."""
    statement = interpreter.inputs.global_value(interpreter, interpreter.globals_of, "__import__")
    if statement.sample is not _IMPORT:
        raise Unfit("it imports in a way of its own")
    module = sys.modules.get(name)
    if not isinstance(module, types.ModuleType):
        raise Unfit(f"the module {name} is not imported yet")
    return module


def _read(
    interpreter: "Interpreter", module: types.ModuleType, name: str, path: list[str]
) -> Value:
    inputs = interpreter.inputs
    expression = f"{inputs.name_for(sys.modules, 'modules')}[{name!r}]"
    return inputs.read_path(interpreter, module, expression, path, path[-1] if path else name)
