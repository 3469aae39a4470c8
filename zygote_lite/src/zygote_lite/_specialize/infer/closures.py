"""Functions that are defined inside: their code, and the variables that they read."""

import ast
import inspect
import types
from collections.abc import Iterator
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.bytecode import without_type_parameters
from zygote_lite._ir.source import definition_of
from zygote_lite._specialize.infer.cells import is_cell
from zygote_lite._specialize.infer.iteration.written import ClosureOf
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import Env
from zygote_lite._specialize.typed.naming import is_of_body
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.stand_ins import Local
from zygote_lite._specialize.typed.values import Value, constant
from zygote_lite.caches import Cache


def closure(builder: Builder, s: ir.Closure, defaults: list[Value], env: Env) -> Value:
    """Return a function that is defined inside, with the variables that it reads."""
    frame, own = builder.frames[-1], s.captured
    if isinstance(s, ClosureOf):
        frame, own = s.frame, s.names
    names = dict(zip(own, s.captured, strict=True))
    kept = [name for name in own if not is_cell(env.get(names[name]))]
    if any(frame.times[name] + (name in frame.variables) > 1 for name in kept):
        raise NotSupported.STATEMENT(
            "a nested function reads the variable of a comprehension: pass it as an argument"
        )
    code = _code_of(frame.code, s.definition)
    if code is None and not getattr(s.definition, "name", "").startswith("genexpr_"):
        raise NotSupported.STATEMENT("the source of a nested class or function is not found")
    if code is None:
        code = _code_made_of(s.definition, own, frame.code.co_filename)
    around = {name: env[names[name]] for name in own if names[name] in env}
    for name in own:
        if is_of_body(name):
            around["__class__"] = around.pop(name)
    usual = dict(zip(_optional_parameters(s.definition.args), defaults, strict=True))
    local = constant(Local(code, frame.globals, around, usual))
    if isinstance(s.definition, ast.FunctionDef):
        around.setdefault(s.definition.name, local)  # it may call itself
    return local


# by the identity of a definition, which is kept
_made_codes: Cache[tuple[Any, types.CodeType]] = Cache(2048)


def _code_made_of(definition: Any, captured: list[str], filename: str) -> types.CodeType:
    """Return the code of a function that lowering made, of a generator expression."""
    known = _made_codes.get(id(definition))
    if known is None:
        given = ast.arguments([], [ast.arg(name) for name in captured], None, [], [], None, [])
        around = without_type_parameters(ast.FunctionDef("around", given, [definition], []))
        module = ast.fix_missing_locations(ast.Module([around], []))
        (outer,) = _codes_in(compile(module, filename, "exec"))
        (code,) = [c for c in _codes_in(outer) if c.co_name == definition.name]
        known = _made_codes.keep(id(definition), (definition, code))
    return known[1]


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
