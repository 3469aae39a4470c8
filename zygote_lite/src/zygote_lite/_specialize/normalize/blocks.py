"""Blocks of statements: how they end, what they raise, and which handler catches it."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._ir import nodes as ir

Block = list[ir.Statement]
HandlersOf = Sequence[ir.Handler]
EXITS = (ir.Break, ir.Continue, ir.Return, ir.Raise)


@dataclass
class Thrown(ir.Raise):
    """`raise` of a new exception, of which nobody has asked but for its class: `kind`."""

    kind: ir.Atom


@dataclass
class Attempt(ir.If):
    """`first`, then `orelse`; where it is known that `first` always raises an error: `body`.

    Attributes:
        first: a statement.
        kind: the variable for the class of the error.
    """

    first: Block
    kind: str


def has(body: Block, kind: type[ir.Statement]) -> bool:
    """Return whether a block leaves its loop (or its function) by a statement of a kind."""
    for s in body:
        if isinstance(s, kind):
            return True
        if isinstance(s, ir.For | ir.While) and kind in (ir.Break, ir.Continue):
            if has(s.orelse, kind):
                return True
            continue
        if any(has(inner, kind) for inner in ir.blocks_of(s)):
            return True
    return False


def falls(body: Block) -> bool:
    """Return whether the end of a block may be reached."""
    if not body:
        return True
    last = body[-1]
    if isinstance(last, ir.If):
        return falls(last.body) or falls(last.orelse)
    return not isinstance(last, EXITS)


def throws(s: ir.If) -> bool:
    """Return whether a branch, or one inside it, raises."""
    return any(
        isinstance(inner, ir.Raise) or (isinstance(inner, ir.If) and throws(inner))
        for block in (s.body, s.orelse)
        for inner in block
    )


def catches(kind: Any, *kinds: Any) -> bool:
    """Return whether a handler for some classes catches a new exception of a class.

    Raises `TypeError` for a class whose exceptions may do more than to be made.
    """
    if not all(isinstance(k, type) and issubclass(k, BaseException) for k in (kind, *kinds)):
        raise TypeError("what is raised or caught is no class of exceptions")
    if issubclass(kind, UnicodeError | BaseExceptionGroup) or not _has_no_init(kind):
        raise TypeError("an exception may do more than to be made")
    return any(k in kind.__mro__ for k in kinds)


def _has_no_init(kind: type) -> bool:
    """Return whether a class and those that it is derived from are Python's own, or NumPy's."""
    return all(
        not is_written_in_python(k) or k.__module__.partition(".")[0] == "numpy"
        for k in kind.__mro__
    )


def reads_exception(handler: ir.Handler) -> bool:
    """Return whether a handler asks for the exception itself, or has one that may do so."""
    if handler.name is None:
        return False
    return any(
        isinstance(s, ir.Try | ir.Class)
        or (isinstance(s, ir.Closure) and handler.name in s.captured)
        or any(isinstance(x, ir.Name) and x.id == handler.name for x in ir.atoms_of(s))
        for s in ir.every(handler.body)
    )


def of_unknown_kind(body: Block) -> Block:
    """Return a block of whose exceptions nothing is known: they leave the code."""
    out: Block = []
    for s in body:
        match s:
            case ir.Raise(origin):
                out.append(ir.Raise(origin, None, None))
            case ir.If(body=then, orelse=orelse):
                out.append(replace(s, body=of_unknown_kind(then), orelse=of_unknown_kind(orelse)))
            case _:
                out.append(s)
    return out


def with_reraise(body: Block, kind: ir.Atom) -> Block:
    """Return the body of a handler: a `raise` alone raises once more what was caught."""
    out: Block = []
    for inner in body:
        if isinstance(inner, ir.Raise) and inner.exception is None:
            inner = Thrown(inner.origin, None, None, kind)
        elif isinstance(inner, ir.If):
            then = with_reraise(inner.body, kind)
            inner = replace(inner, body=then, orelse=with_reraise(inner.orelse, kind))
        out.append(inner)
    return out


def dotted_name_of(e: ast.expr) -> str:
    """Return the dotted name that an expression is, or nothing."""
    if isinstance(e, ast.Name):
        return e.id
    path = dotted_name_of(e.value) if isinstance(e, ast.Attribute) else ""
    return f"{path}.{e.attr}" if path and isinstance(e, ast.Attribute) else ""


def classes_named(kind: ast.expr | None) -> list[str]:
    """Return the names of the classes that a handler catches."""
    if kind is None:
        return ["BaseException"]
    if isinstance(kind, ast.Tuple):
        return [name for part in kind.elts for name in classes_named(part)]
    return [kind.attr if isinstance(kind, ast.Attribute) else getattr(kind, "id", "BaseException")]
