"""Imports inside functions: the module, if it has been imported before and stays the same."""

import builtins
import importlib.util
import sys
import types

from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.values import Value

_IMPORT = builtins.__import__


def import_module(interpreter: Builder, xs: list[Value]) -> Value:
    """Return what `import` binds."""
    name, (head, *rest) = (x.sample for x in xs)
    module = _loaded(interpreter, name)
    if name != head:
        modules = interpreter.inputs.name_for(sys.modules, "modules")
        interpreter.inputs.guard(f"{modules}[{name!r}]", module)
    return _read(interpreter, _loaded(interpreter, head), head, rest)


def import_member(interpreter: Builder, xs: list[Value]) -> Value:
    """Return what `from ... import` binds."""
    name, path = (x.sample for x in xs)
    if name.startswith("."):
        package = interpreter.globals_of.get("__package__")
        if not isinstance(package, str) or not package:
            raise Unsound.RAISES("it imports from a package that is not known")
        name = importlib.util.resolve_name(name, package)
    return _read(interpreter, _loaded(interpreter, name), name, [*path])


def _loaded(interpreter: Builder, name: str) -> types.ModuleType:
    """Return a module that has been imported before; then importing it does nothing."""
    statement = interpreter.global_value(interpreter.globals_of, "__import__")
    if statement.sample is not _IMPORT:
        raise Unsound.REPLACED("`__import__` is not Python's own")
    module = sys.modules.get(name)
    if not isinstance(module, types.ModuleType):
        raise Unsound.EFFECTS(f"the module {name} is not imported yet")
    return module


def _read(interpreter: Builder, module: types.ModuleType, name: str, path: list[str]) -> Value:
    inputs = interpreter.inputs
    expression = f"{inputs.name_for(sys.modules, 'modules')}[{name!r}]"
    return interpreter.read_path(module, expression, path, path[-1] if path else name)
