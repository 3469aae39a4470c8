"""Functions that are defined inside: their code, and the variables that they read."""

import ast
import inspect
import types
from collections.abc import Iterator
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.source import definition_of
from zygote_lite._specialize.infer.cells import is_cell
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.naming import is_of_body
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.stand_ins import Local
from zygote_lite._specialize.typed.values import Value, constant


def closure(builder: Builder, s: ir.Closure, defaults: list[Value], env: Env) -> Value:
    """Return a function that is defined inside, with the variables that it reads."""
    frame = builder.frames[-1]
    kept = [name for name in s.captured if not is_cell(env.get(name))]
    if any(frame.times[name] + (name in frame.variables) > 1 for name in kept):
        raise NotSupported.STATEMENT("a function inside reads a variable of a comprehension")
    code = _code_of(frame.code, s.definition)
    if code is None:
        raise NotSupported.STATEMENT("it has a class or a generator expression inside")
    around = {name: env[name] for name in s.captured if name in env}
    for name in s.captured:
        if is_of_body(name):
            around["__class__"] = around.pop(name)
    usual = dict(zip(_optional_parameters(s.definition.args), defaults, strict=True))
    local = constant(Local(code, frame.globals, around, usual))
    around.setdefault(s.target, local)
    return local


def _optional_parameters(a: ast.arguments) -> list[str]:
    positional = [*a.posonlyargs, *a.args]
    by_name = [p for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None]
    return [p.arg for p in (*positional[len(positional) - len(a.defaults) :], *by_name)]


def _code_of(code: types.CodeType, definition: Any) -> types.CodeType | None:
    name = getattr(definition, "name", "<lambda>")
    found = [c for c in _codes_in(code) if c.co_name == name]
    if len(found) > 1 or any(c.co_firstlineno != definition.lineno for c in found):
        found = [c for c in found if c.co_firstlineno <= definition.lineno]
        found = [c for c in found if _is_at(definition, c)]  # lambdas on one line, or decorators
    return found[0] if len(found) == 1 else None


def _codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code of the functions that are defined inside, also in the bodies of classes."""
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            if c.co_flags & inspect.CO_OPTIMIZED:
                yield c
            else:
                yield from _codes_in(c)


def _is_at(definition: Any, code: types.CodeType) -> bool:
    """Return whether the source of a function is a definition, by its place."""
    found = definition_of(code)
    return (found.lineno, found.col_offset) == (definition.lineno, definition.col_offset)
