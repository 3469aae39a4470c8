"""Lowered code with one exit: what follows a branch that may leave goes into the other branch.

`return` becomes an assignment to the result, `continue` vanishes, `break` comes last in its
branch, and `while` loops are left by `break` alone. What is left is structured code that can be
run backwards.
"""

import ast
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.normalize.blocks import Attempt, Block, classes_named, falls, has
from zygote_lite._specialize.normalize.class_bodies import (
    Begin,
    Define,
    with_blocks,
    without_classes,
)
from zygote_lite._specialize.normalize.handlers import HandledTries
from zygote_lite._specialize.normalize.tries import Tries
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported
from zygote_lite.caches import Cache

_LEAVING = (ir.Break, ir.Continue, ir.Return)  # what follows does not follow `raise` anyway
_STRAIGHT = (ir.Call, ir.Apply, ir.Move, ir.Build, ir.GetAttribute, ir.GetItem, ir.SetItem,
           ir.SetAttribute, ir.Closure, ir.Delete, ir.Yield, Begin, Define)  # fmt: skip
IS_LEFT = "@left"
"""In a generator, a variable for whether the loop that walks over it was left."""


def normalize(
    function: ir.Function, handlers: bool = False, may_be_left: bool = False
) -> tuple[Block, str, set[str]]:
    """Return the body of a function without `return`, and the variable that holds its result.

    Where errors are to reach their `handlers`, `try` is kept. The third are the names of the
    classes of exceptions that it catches. Raises `NotSpecializable` for statements that are not run
    backwards from a structure. A generator that `may_be_left` ends where the variable `IS_LEFT` is
    true after a `yield`.
    """
    if function.is_generator:
        _refuse_in_generator(function.body)
    if may_be_left:
        function = replace(function, body=_ending_where_left(function.body))
    function = replace(function, body=without_classes(function.body, function.fresh))
    if handlers:
        return _Normalizer(function, HandledTries(function)).run()
    try:
        return _Normalizer(function, Tries(function)).run()
    except NotSpecializable as reason:
        if reason.reason is not NotSupported.TOO_LONG:
            raise
    return _Normalizer(function, Tries(function, most_attempts=0)).run()


@dataclass
class Walk(ir.For):
    """A loop, and what its unrolled form needs.

    Attributes:
        item: a variable for the next item.
        left: the variable that tells whether the loop was left; nothing if it never is.
        delegates: whether what is sent to the generator that it is in goes to what it walks over.
    """

    item: str
    left: str
    delegates: bool = False


class _Normalizer:
    def __init__(self, function: ir.Function, tries: Tries) -> None:
        self.function = function
        self.result = function.fresh("result")
        self.count = 0
        self.tries = tries

    def run(self) -> tuple[Block, str, set[str]]:
        body = self.tries.without(self.function.body)
        return self.block(body, None), self.result, self.tries.kinds

    def block(self, body: Block, loop: "_Flags | None") -> Block:
        """Return a block in which nothing follows what may leave it."""
        out: Block = []
        for i, s in enumerate(body):
            self.count += 1
            if self.count > self.tries.most:
                raise NotSupported.TOO_LONG("it is too long")
            rest = body[i + 1 :]
            match s:
                case ir.Return(origin, value):
                    return [*out, *self.leave(origin, value, loop)]
                case ir.Break(origin):
                    assert loop is not None
                    return [*out, ir.Move(origin, loop.broke, ir.Const(True)), s]
                case ir.Continue():
                    return out
                case ir.Raise():
                    return [*out, s]
                case ir.If(body=then, orelse=orelse):
                    if isinstance(s, Attempt):
                        s = replace(s, first=self.block(s.first, None))
                    if _may_leave(s):
                        then = self.block([*then, *(rest if falls(then) else [])], loop)
                        orelse = self.block([*orelse, *(rest if falls(orelse) else [])], loop)
                        return [*out, replace(s, body=then, orelse=orelse)]
                    then, orelse = self.block(then, loop), self.block(orelse, loop)
                    out.append(replace(s, body=then, orelse=orelse))
                case ir.For(origin, target, iterable, inner, orelse):
                    if target in (
                        *self.function.shared,
                        *self.function.nonlocals,
                    ):  # each iteration gives it another value
                        given = self.function.fresh("given")
                        inner = [ir.Move(origin, target, ir.Name(given)), *inner]
                        target = given
                    flags = self.flags(inner)
                    turn = self.block(inner, flags)
                    item, left = self.function.fresh("item"), flags.broke or flags.returned
                    delegates = isinstance(s, ir.Delegation)
                    one = Walk(origin, target, iterable, turn, [], item, left, delegates)
                    return [*out, *self.after(one, flags, orelse, rest, loop)]
                case ir.While(origin, before, test, inner, orelse):
                    flags = self.flags(inner)
                    turn = self.block(inner, flags)
                    if not isinstance(test, ir.Const):
                        stop: Block = [ir.Break(origin)]
                        turn = [*before, ir.If(origin, test, turn, stop)]
                    again = ir.While(origin, [], ir.Const(True), turn, [])
                    return [*out, *self.after(again, flags, orelse, rest, loop)]
                case ir.Plain(ast.Import() | ast.ImportFrom() as origin):
                    out += imports_of(origin)
                case ir.Plain(ast.Pass() | ast.Global()):
                    pass
                case ir.Plain(ast.Assign(value=ast.Lambda()) as origin, [here]):
                    out.append(ir.Move(origin, here, ir.Const(None)))  # for `write_global`
                case _ if isinstance(s, _STRAIGHT):
                    out.append(s)
                case _:
                    line = ast.unparse(s.origin).partition("\n")[0]
                    raise NotSupported.STATEMENT(f"it has the statement `{line}`")
        return out

    def leave(self, origin: ast.AST, value: ir.Atom, loop: "_Flags | None") -> Block:
        """Return what stands for `return`: in a loop, that loop is left first."""
        out: Block = [ir.Move(origin, self.result, value)]
        if self.function.is_generator and _is_none(value, self.result):
            out = []  # nobody asks for it
        if loop is not None:
            out += [ir.Move(origin, name, ir.Const(True)) for name in loop.names]
            out.append(ir.Break(origin))
        return out

    def flags(self, body: Block) -> "_Flags":
        returned = self.function.fresh("returned") if has(body, ir.Return) else ""
        broke = self.function.fresh("broke") if has(body, ir.Break) else ""
        return _Flags(returned, broke)

    def after(
        self, loop: ir.For | ir.While, flags: "_Flags", orelse: Block, rest: Block,
        outer: "_Flags | None",
    ) -> Block:  # fmt: skip
        """Return a loop with what follows it: the `else` part, and what no `return` left."""
        origin = loop.origin
        before: Block = [ir.Move(origin, name, ir.Const(False)) for name in flags.names]
        then: Block = [*orelse, *rest]
        if flags.broke and orelse:
            then = [ir.If(origin, ir.Name(flags.broke), [], orelse), *rest]
        if flags.returned:
            out = ir.Return(origin, ir.Name(self.result))
            then = [ir.If(origin, ir.Name(flags.returned), [out], []), *then]
        return [*before, loop, *self.block(then, outer)]


class _Flags:
    """The variables that tell how a loop was left: by any exit (`broke`), by `return`."""

    def __init__(self, returned: str, broke: str) -> None:
        self.returned, self.broke = returned, broke
        self.names = [name for name in (returned, broke) if name]


def imported_module(name: str, path: tuple[str, ...]) -> Any:
    """Stand for `import name`, which gives its first module, or what a path from that leads to."""


def imported_member(name: str, path: tuple[str, ...]) -> Any:
    """Stand for `from name import path`."""


_WAYS: dict[type, Any] = {ast.Import: imported_module, ast.ImportFrom: imported_member}


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


def _is_none(value: ir.Atom, result: str) -> bool:
    return value == ir.Name(result) or (isinstance(value, ir.Const) and value.value is None)


def _refuse_in_generator(body: Block) -> None:
    """Refuse a `yield` inside a `with`, or where an error that ends the generator is caught."""
    for s in ir.every(body):
        if isinstance(s, ir.Class):
            raise NotSupported.STATEMENT("a generator defines a class")
        if isinstance(s, ir.Try) and _yields([s]):
            for_all = any("BaseException" in classes_named(h.kind) for h in s.handlers)
            managed = isinstance(s.origin, ast.With)
            if managed or s.star or for_all or _yields(s.final):
                raise NotSupported.STATEMENT("a generator yields inside a `try` or a `with`")


def _yields(body: Block) -> bool:
    return any(isinstance(s, ir.Yield) for s in ir.every(body))


def finishes(function: ir.Function) -> bool:
    """Return whether a generator that is given up at a `yield` comes to a `finally`."""
    return function.is_generator and any(
        isinstance(s, ir.Try) and bool(s.final) and _yields([s]) for s in ir.every(function.body)
    )


def _ending_where_left(body: Block) -> Block:
    """Return the body of a generator that ends where the loop that walks over it is left."""
    out: Block = []
    for s in body:
        out.append(with_blocks(s, _ending_where_left))
        if isinstance(s, ir.Yield):
            end: Block = [ir.Return(s.origin, ir.Const(None))]
            out.append(ir.If(s.origin, ir.Name(IS_LEFT), end, []))
    return out


def _may_leave(s: ir.If) -> bool:
    return any(has(block, kind) for block in (s.body, s.orelse) for kind in _LEAVING)


def assigned(body: Block) -> set[str]:
    """Return the variables that a block may assign."""
    targets = {getattr(s, "target", ir.DISCARD) for s in ir.every(body)}
    return targets - {ir.DISCARD}


def assignments(body: Block) -> Counter[str]:
    """Return how often a block assigns each variable, those in a loop twice."""
    found: Counter[str] = Counter()
    for s in body:
        target = getattr(s, "target", None)
        if isinstance(target, str):
            found[target] += 1
        elif isinstance(s, ir.Delete):
            found[s.name] += 1
        for inner in ir.blocks_of(s):
            once = assignments(inner)
            found += once + once if isinstance(s, ir.For | ir.While) else once
    return found


def live(body: Iterable[ir.Statement], after: set[str], at_break: set[str]) -> set[str]:
    """Return the variables whose value at the start of a block may be read.

    Arguments:
        body: the block.
        after: those that may be read where the block ends.
        at_break: those that may be read after the loop that the block is in.
    """
    now = set(after)
    for s in reversed([*body]):
        match s:
            case ir.Break():
                now = set(at_break)
            case ir.Raise():
                now = set()
            case Attempt() | ir.If() | ir.For() | ir.While():
                now = _passage(s).before(now, at_break)
            case ir.Delete(_, name):
                now = now | {name}
            case ir.Closure(_, target, _, captured, defaults):
                now = now - {target} | {*captured} | _atom_names(defaults)
            case _:
                now = now - {getattr(s, "target", "")} | _reads(s)
    return now


@dataclass(frozen=True)
class _Passage:
    """Which variables a statement with blocks reads, and which may be read after it.

    Attributes:
        read: those that it may read, whatever follows.
        named: those that it names; what holds for `_OTHER` holds for all others.
        after: those that still have their value where it ends.
        at_break: those that still have it where it leaves the loop that it is in.
    """

    read: set[str]
    named: set[str]
    after: set[str]
    at_break: set[str]

    def before(self, after: set[str], at_break: set[str]) -> set[str]:
        """Return the variables that may be read before the statement."""
        return self.read | self.kept(after, self.after) | self.kept(at_break, self.at_break)

    def kept(self, needed: set[str], passing: set[str]) -> set[str]:
        """Return the variables that are needed and still have their value."""
        return needed & passing | (needed - self.named if _OTHER in passing else set())


_OTHER = "<any other>"


def _passage(s: ir.Statement) -> _Passage:
    known = _of_statements.get((id(s), _Passage))
    if known is None:
        named = {_OTHER}.union(*(_mentioned_in(inner) for inner in ir.every([s])))
        none: set[str] = set()
        read, after = _live_before(s, none, none), _live_before(s, named, none)
        found = _Passage(read, named, after - read, _live_before(s, none, named) - read)
        known = _of_statements.keep((id(s), _Passage), (s, found))
    passage: _Passage = known[1]
    return passage


def _mentioned_in(s: ir.Statement) -> set[str]:
    """Return the variables that a statement names, without those of its blocks."""
    named = {getattr(s, "target", ""), getattr(s, "kind", ""), getattr(s, "name", "")}
    captured = getattr(s, "captured", ())
    return {x for x in (*named, *captured) if isinstance(x, str)} | _reads(s)


def _live_before(s: ir.Statement, now: set[str], at_break: set[str]) -> set[str]:
    """Return the same as `live` for a statement with blocks."""
    match s:
        case Attempt(_, _, then, orelse, first, kind):
            return live(then, now, at_break) - {kind} | live([*first, *orelse], now, at_break)
        case ir.If(_, test, then, orelse):
            return live(then, now, at_break) | live(orelse, now, at_break) | _atom_names([test])
        case ir.For(_, target, iterable, inner, _):
            return live_in_loop(inner, now) - {target} | now | _atom_names([iterable])
        case ir.While(_, _, _, inner, _):
            return live_in_loop(inner, now)
    raise AssertionError(s)


def live_in_loop(body: Block, after: set[str]) -> set[str]:
    """Return the variables whose value at the start of an iteration may be read."""
    head: set[str] = set()
    while True:
        found = live(body, head | after, after)
        if found <= head:
            return head
        head |= found


# by the identity of a statement, which is kept
_of_statements: Cache[tuple[ir.Statement, Any]] = Cache(100_000)


def _reads(s: ir.Statement) -> set[str]:
    """Return the variables that a simple statement reads; rules are gone through often."""
    known = _of_statements.get(id(s))
    if known is None:
        known = _of_statements.keep(id(s), (s, _atom_names(ir.atoms_of(s))))
    names: set[str] = known[1]
    return names


def _atom_names(atoms: Iterable[ir.Atom]) -> set[str]:
    return {atom.id for atom in atoms if isinstance(atom, ir.Name)}
