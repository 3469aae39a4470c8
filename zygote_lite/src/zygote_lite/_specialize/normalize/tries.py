"""`try` without handlers: what does not raise is its body, its `else` and its `finally`.

Transformed code has no effects: where it raises, the tape runs the call again, from its start, and
finds the handler. So no handler is written, with one exception: a `raise` of a plain exception in
the very body that catches it is a branch to the handler, and in a loop there a `break` as well.
`finally` is written on each exit.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.normalize.blocks import (
    Attempt,
    Block,
    HandlersOf,
    Thrown,
    catches,
    classes_named,
    dotted_name_of,
    falls,
    has,
    of_unknown_kind,
    reads_exception,
    throws,
    with_reraise,
)
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound

MOST_STATEMENTS = 2500
"""Statements of one function: one that grows beyond is left to the tape.

What follows an exit or a handler is copied: seven `try` in one loop, each with a `return`, come to
2,040. To make code takes 4 to 7 ms a statement: the limit keeps that below some 15 s.
"""


class Tries:
    """Write the statements of one function without `try`.

    Attributes:
        kinds: the names of the classes of exceptions that the function catches.
        most_attempts: how many statements that may always raise are tried, each with a copy of
            the handlers.
    """

    most = MOST_STATEMENTS

    def __init__(self, function: ir.Function, most_attempts: int = 40) -> None:
        self.function, self.most_attempts = function, most_attempts
        self.kinds: set[str] = set()
        self.count = self.attempts = 0
        self.closed: list[ir.Statement] = []  # what something else follows than a handler around it
        self.bound = Counter([*function.names, *function.captured, *_bound_in(function.body)])

    def without(self, body: Block) -> Block:
        """Return a block without `try`."""
        out: Block = []
        for s in body:
            self.count += 1
            if self.count > self.most:
                raise NotSupported.TOO_LONG("it is too long")
            match s:
                case ir.Try():
                    out += self.tried(s)
                case ir.If(body=then, orelse=orelse):
                    out.append(replace(s, body=self.without(then), orelse=self.without(orelse)))
                case ir.For(body=inner, orelse=orelse):
                    out.append(replace(s, body=self.without(inner), orelse=self.without(orelse)))
                case ir.While(origin, before, test, inner, orelse):
                    inner, orelse = self.without(inner), self.without(orelse)
                    out.append(ir.While(origin, before, test, inner, orelse))
                case _:
                    out.append(s)
        return out

    def tried(self, s: ir.Try) -> Block:
        """Return what a `try` does that raises nothing but what it catches itself."""
        body = self.without(s.body)
        orelse = self.protected(self.without(s.orelse), [], ())  # `finally` follows what it raises
        if isinstance(s.origin, ast.With) or s.star:
            body = [*of_unknown_kind(body), *orelse]
        else:
            body = self.protected(body, orelse, s.handlers)
        self.note_kinds(s)
        if not s.final:
            return body
        self.closed += ir.every(body)
        if any(isinstance(inner, ir.Yield) for inner in ir.every(body)):
            self.kinds.add("BaseException")
        if any(has(s.final, kind) for kind in (ir.Return, ir.Break, ir.Continue)):
            self.kinds.add("BaseException")
        final = self.without(_final_of(s))
        return [*self.finishing(body, final), *final]

    def note_kinds(self, s: ir.Try) -> None:
        """Note the names of the classes that a `try` catches."""
        if not isinstance(s.origin, ast.With):
            self.kinds |= {name for h in s.handlers for name in classes_named(h.kind)}
            if not self.kinds.isdisjoint(_FROM_OUTSIDE):
                raise Unsound.EFFECTS("it catches an interrupt, which comes at any time")

    # -- finally -------------------------------------------------------------------------------

    def finishing(self, body: Block, final: Block, inside: bool = False) -> Block:
        """Return a block that runs another one before each of its exits.

        Arguments:
            body: the block.
            final: the other one.
            inside: whether the block belongs to a loop in it, whose own exits are none.
        """
        out: Block = []
        for s in body:
            match s:
                case ir.Return(origin, value):
                    if inside and (has(final, ir.Break) or has(final, ir.Continue)):
                        raise NotSupported.STATEMENT(
                            "a `finally` has a `break` or `continue` of a loop that contains "
                            "another loop"
                        )
                    if isinstance(value, ir.Name):  # which may be given another value
                        kept = ir.Name(self.function.fresh("kept"))
                        out.append(ir.Move(origin, kept.id, value))
                        value = kept
                    out += [*self.again(final), ir.Return(origin, value)]
                case ir.Break() | ir.Continue() if not inside:
                    out += [*self.again(final), s]
                case Thrown() if not inside:
                    out += [*self.again(final), s]
                case ir.If(body=then, orelse=orelse):
                    then = self.finishing(then, final, inside)
                    out.append(replace(s, body=then, orelse=self.finishing(orelse, final, inside)))
                case ir.For(body=inner, orelse=orelse):
                    inner = self.finishing(inner, final, inside=True)
                    orelse = self.finishing(orelse, final, inside)
                    out.append(replace(s, body=inner, orelse=orelse))
                case ir.While(origin, before, test, inner, orelse):
                    inner = self.finishing(inner, final, inside=True)
                    orelse = self.finishing(orelse, final, inside)
                    out.append(ir.While(origin, before, test, inner, orelse))
                case _:
                    out.append(s)
        return out

    def again(self, final: Block) -> Block:
        """Return a further copy of a block, and count its statements."""
        self.count += sum(1 for _ in ir.every(final))
        if self.count > self.most:
            raise NotSupported.TOO_LONG("it is too long")
        return final

    # -- raise ---------------------------------------------------------------------------------

    def protected(self, body: Block, orelse: Block, handlers: HandlersOf) -> Block:
        """Return the body of a `try` with its `else`: a `raise` goes to the handler."""
        out: Block = []
        for i, s in enumerate(body):
            if isinstance(s, ir.Raise):
                kind, made = self.kind_of(s, body[:i])
                return [*(x for x in out if x is not made), *self.handled(s, kind, handlers)]
            if isinstance(s, ir.If) and throws(s):
                return [*out, self.protected_branches(s, body[i + 1 :], orelse, handlers)]
            if isinstance(s, ir.For | ir.While) and handlers:
                left = self.left_by_raising(s, body[i + 1 :], orelse, handlers)
                if left is not None:
                    return [*out, *left]
            if self.may_always_raise(s, body[i + 1 :], handlers):
                self.attempts += 1
                rest = self.protected(body[i + 1 :], orelse, handlers)
                return [*out, self.attempt(s, rest, handlers)]
            if isinstance(s, ir.Return) and isinstance(s.value, ir.Name):
                kept = ir.Name(self.function.fresh("kept"))
                move = ir.Move(s.origin, kept.id, s.value)
                if self.may_always_raise(move, [], handlers):
                    returned = ir.Return(s.origin, kept)
                    return [*out, self.attempt(move, [returned], handlers)]
            out.append(s)
        return [*out, *orelse]

    def protected_branches(
        self, s: ir.If, rest: Block, orelse: Block, handlers: HandlersOf
    ) -> ir.If:
        """Return an `if` of which a branch raises: what follows it goes into the other branch."""
        then, other = [
            self.protected([*inner, *rest], orelse, handlers)
            if falls(inner)
            else self.protected(inner, [], handlers)
            for inner in (s.body, s.orelse)
        ]
        return replace(s, body=then, orelse=other)

    def left_by_raising(
        self, s: ir.For | ir.While, rest: Block, orelse: Block, handlers: HandlersOf
    ) -> Block | None:
        """Return a loop that is left where it raises, and then the handler, or what follows.

        Return `None` where it raises nothing whose class is known.
        """
        thrown: list[tuple[str, ir.Raise, ir.Atom]] = []
        (loop,) = self.broken_out([s], thrown, is_loop=False)[:1]
        if not thrown:
            return None
        begun: Block = [ir.Move(s.origin, flag, ir.Const(False)) for flag, _, _ in thrown]
        is_endless = (
            isinstance(s, ir.While)
            and s.test == ir.Const(True)
            and not s.before
            and not has(s.body, ir.Break)
        )
        after = [] if is_endless else self.protected(rest, orelse, handlers)
        for n, (flag, raised, kind) in enumerate(reversed(thrown)):
            caught = self.handled(raised, kind, handlers)
            is_last = is_endless and not n  # it is not left in another way
            after = caught if is_last else [ir.If(raised.origin, ir.Name(flag), caught, after)]
        return [*begun, loop, *after]

    def broken_out(
        self, body: Block, thrown: list[tuple[str, ir.Raise, ir.Atom]], is_loop: bool = True
    ) -> Block:
        """Return the body of a loop with a `break` for each `raise` of a known class.

        Arguments:
            body: the statements.
            thrown: takes the variable that tells of each `raise`, the statement, and the class.
            is_loop: whether they are in the loop that is left.
        """
        out: Block = []
        for i, s in enumerate(body):
            match s:
                case ir.Raise() if is_loop:
                    kind, made = self.kind_of(s, body[:i])
                    if isinstance(kind, ir.Global | ir.Intrinsic | ir.Const):
                        flag = self.function.fresh("raised")
                        thrown.append((flag, s, kind))
                        told = ir.Move(s.origin, flag, ir.Const(True))
                        return [*(x for x in out if x is not made), told, ir.Break(s.origin)]
                    out.append(s)
                case ir.If(body=then, orelse=other):
                    then = self.broken_out(then, thrown, is_loop)
                    other = self.broken_out(other, thrown, is_loop)
                    out.append(replace(s, body=then, orelse=other))
                case ir.For(body=inner, orelse=other) | ir.While(body=inner, orelse=other):
                    own: list[tuple[str, ir.Raise, ir.Atom]] = []
                    inner = self.broken_out(inner, own)
                    other = self.broken_out(other, thrown, is_loop)
                    out.append(replace(s, body=inner, orelse=other))
                    thrown += own
                    if is_loop:
                        out += [
                            ir.If(r.origin, ir.Name(flag), [ir.Break(r.origin)], [])
                            for flag, r, _ in own
                        ]
                case _:
                    out.append(s)
        return out

    def may_always_raise(self, s: ir.Statement, rest: Block, handlers: HandlersOf) -> bool:
        """Return whether types may settle that a statement always raises what is caught."""
        if self.attempts >= self.most_attempts or any(s is closed for closed in self.closed):
            return False
        if isinstance(s, ir.Call):
            if isinstance(s.function, ir.Const) or s.function in (_ENTER, _EXIT):
                return False  # one of our own
            if any(isinstance(r, ir.Raise) and r.exception == ir.Name(s.target) for r in rest):
                return False  # it makes an exception
        names = [name for h in handlers for name in classes_named(h.kind)]
        return any(isinstance(s, _ALWAYS.get(name, ())) for name in names)

    def attempt(self, s: ir.Statement, rest: Block, handlers: HandlersOf) -> ir.Statement:
        """Return a statement with what follows it, and the handlers of errors that it raises."""
        kind = self.function.fresh("kind")
        raised = ir.Raise(s.origin, None, None)
        caught = self.handled(raised, ir.Name(kind), handlers)
        return Attempt(s.origin, ir.Const(False), caught, rest, [s], kind)

    def handled(self, s: ir.Raise, kind: ir.Atom | None, handlers: HandlersOf) -> Block:
        """Return the handler that catches what is raised; which one it is, its class tells."""
        if kind is None:
            return of_unknown_kind([s])
        chain: Block = [Thrown(s.origin, s.exception, s.cause, kind)]
        for handler in reversed([*handlers]):
            kinds = self.atoms_of(handler.kind)
            if kinds is None or reads_exception(handler):
                chain = of_unknown_kind([s])
                continue
            caught = self.protected(self.without(with_reraise(handler.body, kind)), [], ())
            matches = self.function.fresh("caught")
            call = ir.Call(s.origin, matches, ir.Const(catches), [kind, *kinds])
            chain = [call, ir.If(s.origin, ir.Name(matches), caught, chain)]
        return chain

    def kind_of(self, s: ir.Raise, before: Block) -> tuple[ir.Atom | None, ir.Call | None]:
        """Return the class of a new exception that is raised, and the call that makes it."""
        if isinstance(s, Thrown):
            return s.kind, None
        call = None
        x = s.exception
        if isinstance(x, ir.Name):
            made = [s for s in before if isinstance(s, ir.Call) and s.target == x.id]
            if not made or made[0].keywords or self.bound[x.id] > 1:
                return None, None
            call, x = made[0], made[0].function
        return (x, call) if isinstance(x, ir.Global | ir.Intrinsic) else (None, None)

    def atoms_of(self, kind: ast.expr | None) -> list[ir.Atom] | None:
        """Return the classes that a handler catches; nothing where they are not known by name."""
        if kind is None:
            return [ir.Const(BaseException)]
        if isinstance(kind, ast.Tuple):
            parts = [self.atoms_of(part) for part in kind.elts]
            if any(part is None for part in parts):
                return None
            return [atom for part in parts for atom in part or ()]
        path = dotted_name_of(kind)
        if not path or path.partition(".")[0] in self.bound:
            return None
        return [ir.Global(path)]


_FROM_OUTSIDE = {"KeyboardInterrupt", "SystemExit", "GeneratorExit"}


def _final_of(s: ir.Try) -> Block:
    """Return what `finally` does; of a `with` statement, what leaves the context."""
    if isinstance(s.origin, ast.With) and isinstance(s.final[0], ir.If):
        return s.final[0].orelse  # the flag is set where an exception was raised
    return s.final


_ENTER, _EXIT = ir.Intrinsic("enter_context"), ir.Intrinsic("exit_context")
_READING = (ir.Move, ir.Call, ir.GetItem, ir.GetAttribute, ir.Build)
_ALWAYS: dict[str, tuple[type[ir.Statement], ...]] = {
    "TypeError": (ir.Call, ir.GetItem),
    "AttributeError": (ir.GetAttribute, ir.SetAttribute, ir.Call),
    "KeyError": (ir.GetItem, ir.Call), "IndexError": (ir.GetItem, ir.Call),
    "LookupError": (ir.GetItem, ir.Call), "NameError": _READING, "UnboundLocalError": _READING,
    "ValueError": (ir.Call,), "StopIteration": (ir.Call,),
    "Exception": (*_READING, ir.SetAttribute),
}  # fmt: skip


def _bound_in(body: Block) -> Iterator[str]:
    """Yield the variables that statements of a block bind, each as often as one does."""
    for s in ir.every(body):
        if isinstance(s, ir.Plain):
            yield from s.targets
        elif isinstance(s, ir.Try):
            yield from [h.name for h in s.handlers if h.name is not None]
        elif isinstance(name := getattr(s, "target", None), str):
            yield name
