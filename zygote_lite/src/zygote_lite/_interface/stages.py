"""The texts of stages that no other function shows: with one exit, with types, and the guards."""

import ast
import dataclasses
import re
import types
from collections.abc import Callable
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.emit import emit
from zygote_lite._ir.lower.function import lower
from zygote_lite._ir.names import name_of
from zygote_lite._specialize.driver import specialize
from zygote_lite._specialize.entry import entered
from zygote_lite._specialize.normalize.blocks import Attempt
from zygote_lite._specialize.normalize.class_bodies import Begin, Define
from zygote_lite._specialize.normalize.exits import normalize
from zygote_lite._specialize.text.typed_writer import type_text
from zygote_lite._specialize.typed.structures import paths_of
from zygote_lite._specialize.watch import GRADIENT, PULLBACK

_OF_CLASSES = re.compile(r"(?m)^( *class )(?=.*:$)|\bclass(\d*) (\w+)")  # the word, or a variable


def text_of_exits(f: types.FunctionType) -> str:
    """Return the lowered code of a function in normal form, in which it is left at its end alone.

    Raises `NotSpecializable` where it has no such form.
    """
    function = lower(f.__code__, f.__globals__, delegates=True)
    body, result, _ = normalize(function)
    body = _readable(body)
    if not function.is_generator:
        body.append(ir.Return(body[-1].origin, ir.Name(result)))
    text = emit(dataclasses.replace(function, body=body)).text
    return _OF_CLASSES.sub(lambda found: found[1] or f"class{found[2]}_{found[3]}", text)


def _readable(body: list[ir.Statement]) -> list[ir.Statement]:
    """Return a block in which what only the normal form has is written as Python has it."""
    out: list[ir.Statement] = []
    for s in body:
        inner: Any = {
            name: _readable(block)
            for name, block in vars(s).items()
            if isinstance(block, list) and block and isinstance(block[0], ir.Statement)
        }
        s = dataclasses.replace(s, **inner)
        match s:
            case Begin():
                continue
            case Define(origin, name, bases, entries):
                named = [(False, base) for base in bases]
                moves: Any = [ir.Move(origin, entry, x) for entry, x in entries]
                s = ir.Class(origin, name, named, [], moves, [], "")
            case Attempt(origin, _, handled, orelse, first, kind):
                handler = ir.Handler(ast.Name("Exception"), kind, handled)
                s = ir.Try(origin, first, [handler], orelse, [])
            case ir.Call(_, _, ir.Const(f)) if isinstance(f, types.FunctionType):
                s = dataclasses.replace(s, function=ir.Global(f.__name__))
        out.append(s)
    return out


def text_of_types(
    f: Any, xs: tuple[Any, ...], flags: tuple[bool, ...], as_pullback: bool = False
) -> str:
    """Return both passes as they are before anything is optimized, with the types of values."""
    made = specialize(f, xs, flags, as_pullback=as_pullback, plain=True)
    given = [
        f"# {path}: {type_text(leaf.fact)}\n"
        for name, x in zip(made.parameters, made.arguments, strict=False)
        for path, leaf in paths_of(x, name)
    ]
    return f"{''.join(given)}{made.text}"


def text_of_guards(
    f: Any, xs: tuple[Any, ...], flags: tuple[bool, ...], as_pullback: bool = False
) -> str:
    """Return the function that tests the guards and enters the code, after what its names mean."""
    enter = entered(f, xs, flags, False, PULLBACK if as_pullback else GRADIENT)
    text, _ = enter.__globals__["made_of"]
    known, words = enter.__globals__["bound"], re.findall(r"\w+", text)
    meant = [f"# {name} = {_meaning_of(x)}\n" for name, x in known.items() if name in words]
    return f"{''.join(meant)}{text.rstrip()}"


def _meaning_of(x: Any) -> str:
    """Return what a guard compares with, in words."""
    if isinstance(x, dict) and "__name__" in x:
        return f"vars({x['__name__']})"
    if isinstance(x, types.ModuleType):
        return x.__name__
    if type(x) in (bool, int, float, str):
        return repr(x)
    return name_of(x) if callable(x) else f"<{type(x).__qualname__}>"


def text_of_code(f: Any, xs: tuple[Any, ...], flags: tuple[bool, ...], **how: bool) -> str:
    """Return the code that runs."""
    return str(specialize(f, xs, flags, **how).text)


TEXTS: dict[str, Callable[..., str]] = {
    "exits": text_of_exits, "typed": text_of_types,
    "adjoint": text_of_code, "guards": text_of_guards,
}  # fmt: skip
