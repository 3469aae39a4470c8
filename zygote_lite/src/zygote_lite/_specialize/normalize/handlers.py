"""`try` with its handlers: each statement that may raise becomes an attempt with these handlers.

This is how a function is written once its code was left by an error that the program catches.
Whether an attempt can raise, and what, is known where its operations are (`infer.protected`).
"""

import ast
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.normalize.blocks import (
    Block,
    HandlersOf,
    Thrown,
    catches,
    falls,
    has,
    with_reraise,
)
from zygote_lite._specialize.normalize.tries import Tries
from zygote_lite._specialize.typed.reasons import NotSupported

_MAY_RAISE = (ir.Call, ir.Apply, ir.GetItem, ir.GetAttribute, ir.SetItem, ir.SetAttribute)


def raised_error(x: Any) -> Any:
    """Stand for the exception that `raise` is given, or makes of a class."""


class HandledTries(Tries):
    """Write the statements of one function with attempts for all that may raise in a `try`."""

    most = 4000

    def __init__(self, function: ir.Function) -> None:
        super().__init__(function, most_attempts=400)

    def tried(self, s: ir.Try) -> Block:
        """Return what a `try` does."""
        if s.star:
            raise NotSupported.STATEMENT("it has an `except*`")
        body = self.protected(self.without(s.body), self.without(s.orelse), s.handlers)
        self.note_kinds(s)
        if not s.final:
            return body
        if not isinstance(s.origin, ast.With):  # whose handler leaves the context
            again: list[ir.Statement] = [ir.Raise(s.origin, None, None)]
            body = self.protected(body, [], [ir.Handler(None, None, again)])
        if any(has(s.final, kind) for kind in (ir.Return, ir.Break, ir.Continue)):
            self.kinds.add("BaseException")
        final = self.without(s.final)
        return [*self.finishing(body, final), *final]

    def protected(self, body: Block, orelse: Block, handlers: HandlersOf) -> Block:
        """Return the body of a `try` with its `else`: what is raised goes to the handler."""
        out: Block = []
        for i, s in enumerate(body):
            rest = body[i + 1 :]
            if isinstance(s, ir.Raise):
                return [*out, *self.raised(s, handlers)]
            if isinstance(s, ir.If) and _raises_inside(s):
                return [*out, self.protected_branches(s, rest, orelse, handlers)]
            if isinstance(s, ir.Return) and isinstance(s.value, ir.Name):  # it may be unbound
                kept = ir.Name(self.function.fresh("kept"))
                move = ir.Move(s.origin, kept.id, s.value)
                return [*out, self.attempt(move, [ir.Return(s.origin, kept)], handlers)]
            if self.may_raise(s):
                self.attempts += 1
                return [*out, self.attempt(s, self.protected(rest, orelse, handlers), handlers)]
            out.append(s)
        return [*out, *orelse]

    def may_raise(self, s: ir.Statement) -> bool:
        """Return whether a statement is an attempt: it may raise, and leaves in no other way."""
        if self.attempts >= self.most_attempts:
            raise NotSupported.TOO_LONG("it has too many statements in a `try`")
        if isinstance(s, ir.Call) and isinstance(s.function, ir.Const):
            return False  # one of our own
        if isinstance(s, ir.For | ir.While):
            return _raises_inside(s) and not has([s], ir.Return)
        return isinstance(s, (*_MAY_RAISE, ir.Move))

    def raised(self, s: ir.Raise, handlers: HandlersOf) -> Block:
        """Return the statements that handle the error of a `raise`."""
        if isinstance(s, Thrown):
            return self.handled(s, s.kind, handlers)
        if s.exception is None:
            raise NotSupported.STATEMENT(
                "it has a `raise` without an exception outside an `except`"
            )
        made = self.function.fresh("error")
        call = ir.Call(s.origin, made, ir.Const(raised_error), [s.exception])
        return [call, *self.handled(s, ir.Name(made), handlers)]

    def handled(self, s: ir.Raise, kind: ir.Atom | None, handlers: HandlersOf) -> Block:
        """Return the handler that catches an error."""
        assert kind is not None
        chain: Block = [Thrown(s.origin, None, None, kind)]
        for handler in reversed([*handlers]):
            kinds = self.atoms_of(handler.kind)
            if kinds is None:
                raise NotSupported.STATEMENT(
                    "it computes which exceptions it catches: name their classes"
                )
            body = self.without(with_reraise(handler.body, kind))
            if handler.name is not None:
                end: Block = [ir.Delete(s.origin, handler.name)] if falls(body) else []
                body = [ir.Move(s.origin, handler.name, kind), *body, *end]
            matches = self.function.fresh("caught")
            call = ir.Call(s.origin, matches, ir.Const(catches), [kind, *kinds])
            chain = [call, ir.If(s.origin, ir.Name(matches), body, chain)]
        return chain


def _raises_inside(s: ir.Statement) -> bool:
    return any(
        isinstance(inner, (*_MAY_RAISE, ir.Raise))
        for block in ir.blocks_of(s)
        for inner in ir.every(block)
    )
