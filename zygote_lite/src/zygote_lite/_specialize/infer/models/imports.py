"""Imports inside functions: the module, if it has been imported before and stays the same."""

import builtins
import importlib.util
import sys
import types

from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.values import Value

_IMPORT = builtins.__import__


def import_module(builder: Builder, xs: list[Value]) -> Value:
    """Return what `import` binds."""
    name, (head, *rest) = (x.sample for x in xs)
    module = _loaded(builder, name)
    if name != head:
        modules = builder.inputs.name_for(sys.modules, "modules")
        builder.inputs.guard(f"{modules}[{name!r}]", module)
    return _read(builder, _loaded(builder, head), head, rest)


def import_member(builder: Builder, xs: list[Value]) -> Value:
    """Return what `from ... import` binds."""
    name, path = (x.sample for x in xs)
    if name.startswith("."):
        package = builder.frames[-1].globals.get("__package__")
        if not isinstance(package, str) or not package:
            raise Unsound.RAISES("it imports from a package whose name is not text")
        name = importlib.util.resolve_name(name, package)
    return _read(builder, _loaded(builder, name), name, [*path])


def _loaded(builder: Builder, name: str) -> types.ModuleType:
    """Return a module that has been imported before; then importing it does nothing."""
    statement = builder.global_value(builder.frames[-1].globals, "__import__")
    if statement.sample is not _IMPORT:
        raise Unsound.REPLACED("`__import__` is not Python's own")
    module = sys.modules.get(name)
    if not isinstance(module, types.ModuleType):
        raise Unsound.EFFECTS(
            f"the module {name} is not imported yet: import it at the top of the file"
        )
    return module


def _read(builder: Builder, module: types.ModuleType, name: str, path: list[str]) -> Value:
    inputs = builder.inputs
    expression = f"{inputs.name_for(sys.modules, 'modules')}[{name!r}]"
    return builder.read_path(module, expression, path, path[-1] if path else name)
