"""Statements that protect code: `try` with `except` or `finally`, and `with`."""

import ast
from typing import Any

from zygote_lite._ir.decompile.expressions import is_marked
from zygote_lite._ir.decompile.graph import Graph
from zygote_lite._ir.decompile.instructions import Instruction
from zygote_lite._ir.decompile.statements import BREAK, CONTINUE, Statements, Stops, inner_stops
from zygote_lite._ir.decompile.values import (
    Caught,
    Choices,
    Manager,
    Mark,
    Progress,
    Returned,
    TargetSlot,
    Walked,
)

EXCEPT, FINALLY, WITH = "except", "finally", "with"
_NO_EXPRESSIONS = (
    "STORE_",
    "DELETE_",
    "POP_TOP",
    "RERAISE",
    "RAISE_",
    "RETURN_",
    "POP_EXCEPT",
    "PUSH_EXC",
)


class Entered(Mark):
    """What stands below an exception on the stack: the one before, and where it was raised."""


class ProtectedStatements(Statements):
    """The nesting of what handles exceptions."""

    def __init__(self, graph: Graph, choices: Choices) -> None:
        super().__init__(graph, choices)
        self.chains: dict[int, tuple[int, ...]] = {}
        self.finals: dict[int, list[ast.stmt]] = {}

    def chain(self, at: int) -> tuple[int, ...]:
        if at not in self.chains:
            found: list[int] = []
            handler, seen = self.graph.ops[at].handler, set()
            while handler is not None and handler.index not in seen:
                seen.add(handler.index)
                op = self.graph.ops[handler.index]
                if op.name == "PUSH_EXC_INFO":
                    found.insert(0, handler.index)
                handler = op.handler
            self.chains[at] = tuple(found)
        return self.chains[at]

    def kind(self, handler: int) -> str:
        """Return by which statement there is a handler."""
        at = first = self.graph.ops[handler].following[0]
        while True:
            op = self.graph.ops[at]
            if op.name == "CHECK_EG_MATCH":
                self.refuse(op, "`except*`")
            if op.name == "WITH_EXCEPT_START":
                return WITH
            if op.name == "CHECK_EXC_MATCH":
                return EXCEPT
            if op.name == "POP_TOP" and at == first:  # a `finally` that returns begins so, too
                return (
                    FINALLY if self.choices.of((self.graph.code, at, FINALLY), 0, [1]) else EXCEPT
                )
            if op.name.startswith(_NO_EXPRESSIONS) or not op.following or at in self.graph.loops:
                return FINALLY
            at = op.following[0]

    def leave(self, s: Progress, stops: Stops) -> bool:
        assert s.at is not None
        if not s.handlers or s.handlers[-1] in self.chain(s.at):
            return False
        handler, s.handlers = s.handlers[-1], s.handlers[:-1]
        if handler in self.finals:
            self.skip_copy(s, handler, stops)
        return True

    def skip_copy(self, s: Progress, handler: int, stops: Stops) -> None:
        """Go on after a copy of what `finally` does."""
        wanted = self.finals[handler]
        assert s.at is not None
        op = self.graph.ops[s.at]
        stack = [x if is_marked(x) else Returned(x) for x in s.stack]
        for ends in (stops, inner_stops(stops)):  # there it may say `continue` at its end
            copy = Progress(s.at, [*stack], base=len(stack), handlers=s.handlers)
            self.run(copy, ends, most=len(wanted))
            if [ast.dump(x) for x in copy.out] == [ast.dump(x) for x in wanted]:
                if copy.at is None and isinstance(stack[-1] if stack else None, Returned):
                    self.say(s, ast.Return(self.pop(s, op)), op)
                s.at = copy.at
                s.stack = [x.value if isinstance(x, Returned) else x for x in copy.stack]
                return
        self.refuse(op, "a `finally`")

    def protect(self, s: Progress, stops: Stops) -> bool:
        assert s.at is not None
        new = [h for h in self.chain(s.at) if h not in s.handlers]
        if not new:
            return False
        kind = self.kind(new[0])
        if kind == WITH:
            self.with_(s, new[0], stops)
        elif kind == EXCEPT:
            self.try_(s, new[0], stops)
        else:
            self.finally_(s, new[0], stops)
        return True

    def end_of(self, s: Progress, handler: int, depth: int, stops: Stops) -> int | None:
        """Return where what a handler protects is left for what comes after it."""
        inside = {at for at in self.graph.order if handler in self.chain(at)}
        exits = {n for at in inside for n in self.graph.ops[at].following} - inside
        found = [x for x in exits if self.graph.depths[x] == depth]
        better = [x for x in found if stops.get(x) not in (BREAK, CONTINUE)]
        if s.stack and isinstance(s.stack[depth - 1], Walked):  # `break` takes it away
            better = [x for x in better if self.graph.ops[x].name != "POP_TOP"]
        first = max(better, key=self.graph.last.__getitem__, default=None)
        return self.choices.of((self.graph.code, handler), first, found)

    def protected(self, s: Progress, handler: int, stops: Stops, base: int) -> list[ast.stmt]:
        """Return the statements that a handler protects."""
        body = Progress(s.at, [*s.stack], base=base, handlers=(*s.handlers, handler), head=s.head)
        self.run(body, stops)
        return self.filled(body.out, self.graph.ops[handler])

    def raised(self, s: Progress, handler: int, depth: int) -> list[Any]:
        """Return what stands on the stack after `PUSH_EXC_INFO`."""
        height = self.graph.depths[handler] + 1
        return [*s.stack[:depth], *(Entered() for _ in range(depth, height - 1)), Caught()]

    # -- `except` ------------------------------------------------------------------------------

    def try_(self, s: Progress, handler: int, stops: Stops) -> None:
        op = self.graph.ops[handler]
        depth = len(s.stack)
        end = self.end_of(s, handler, depth, stops)
        if end is not None:
            goal = self.join(end, handler, depth, stops)
        else:
            goal = self.end_of_handlers(handler, depth, stops)
        ends = [end] if end is not None and goal is not None else [end, goal]
        body = self.protected(s, handler, inner_stops(stops, *ends), depth)
        orelse = []
        if goal is None:
            goal = end
        elif end is not None and end != goal:
            orelse = self.block(s, end, s.stack, inner_stops(stops, goal)).out
        handlers = self.handlers(s, handler, inner_stops(stops, goal))
        self.say(s, ast.Try(body, handlers, orelse, []), op)
        s.at = goal

    def end_of_handlers(self, handler: int, depth: int, stops: Stops) -> int | None:
        """Return where handlers go on that are left, where nothing else goes on."""
        leaving = {
            at: n
            for at in self.graph.order
            for n in self.graph.ops[at].following
            if self.graph.ops[at].name == "POP_EXCEPT" and self.graph.depths[n] == depth
        }
        found = self.graph.reach(handler, [*stops, *leaving])  # none of a `try` that comes later
        ends = [self.after_name(n) for at, n in leaving.items() if at in found]
        return max(ends, key=self.graph.last.__getitem__, default=None)

    def after_name(self, at: int) -> int:
        """Return the instruction after those that take the name of an exception away."""
        last = at
        for name in ("LOAD_CONST", "STORE_", "DELETE_"):
            if not self.graph.ops[last].name.startswith(name):
                return at
            last = self.graph.ops[last].following[0]
        return last

    def handlers(self, s: Progress, handler: int, stops: Stops) -> list[ast.ExceptHandler]:
        found: list[ast.ExceptHandler] = []
        depth = len(s.stack)
        at: int = self.graph.ops[handler].following[0]
        while self.graph.ops[at].name != "RERAISE":
            op = self.graph.ops[at]
            state = Progress(at, self.raised(s, handler, depth), handlers=s.handlers)
            state.base = len(state.stack)
            kind = None
            name = None
            rest = None
            if op.name != "POP_TOP":
                while state.at is not None and self.graph.ops[state.at].name != "CHECK_EXC_MATCH":
                    self.step_or_branch(state)
                kind = self.pop(state, op)
                branch = self.graph.ops[self.graph.ops[state.at].following[0]]  # type: ignore[index]
                state.at, rest = branch.following
            op = self.graph.ops[state.at]  # type: ignore[index]
            if op.name != "POP_TOP":
                name = op.value
            state.stack.pop()
            state.stack[-1] = Caught(name)
            state.at = op.following[0]
            state.base = len(state.stack)
            self.run(state, stops)
            body = self.filled(state.out, op)
            found.append(self.place(ast.ExceptHandler(kind, name, body), op))
            if rest is None:
                break
            at = rest
        return found

    def step_or_branch(self, s: Progress) -> None:
        op = self.graph.ops[s.at]  # type: ignore[index]
        if op.name == "BRANCH":
            if not self.value_of_branch(s):
                self.refuse(op)
        else:
            self.step(op, s)

    def op_pop_except(self, op: Instruction, s: Progress) -> None:
        caught = s.stack.pop()
        if not isinstance(caught, Caught | Entered):
            self.refuse(op)
        if isinstance(caught, Caught) and caught.name is not None:
            op.following = [self.after_name(op.following[0])]

    def op_reraise(self, op: Instruction, s: Progress) -> None:
        s.at = None

    # -- `finally` -----------------------------------------------------------------------------

    def finally_(self, s: Progress, handler: int, stops: Stops) -> None:
        op = self.graph.ops[handler]
        depth = len(s.stack)
        stack = self.raised(s, handler, depth)
        final = Progress(op.following[0], stack, base=len(stack), handlers=s.handlers)
        self.run(final, inner_stops(stops))
        self.finals[handler] = final.out
        end = self.end_of(s, handler, depth, stops)
        goal = None
        if end is not None:
            after = Progress(end, [*s.stack], base=depth, handlers=s.handlers)
            self.skip_copy(after, handler, stops)
            goal = after.at
        body = self.protected(s, handler, inner_stops(stops, goal), depth)
        self.say(s, ast.Try(body, [], [], self.filled(final.out, op)), op)
        s.at = goal

    # -- `with` --------------------------------------------------------------------------------

    def op_before_with(self, op: Instruction, s: Progress) -> None:
        manager = Manager(self.pop(s, op))
        s.stack += [manager, TargetSlot(manager.targets.append)]

    def with_(self, s: Progress, handler: int, stops: Stops) -> None:
        op = self.graph.ops[handler]
        manager = s.stack[-2]
        at = op.following[0]  # WITH_EXCEPT_START
        branch = self.graph.ops[self.graph.ops[at].following[0]]
        goal: int = branch.following[0]
        for _ in range(4):
            goal = self.graph.ops[goal].following[0]
        body = self.protected(s, handler, inner_stops(stops, goal), len(s.stack) - 1)
        item = ast.withitem(manager.value, *(manager.targets or [None]))
        self.say(s, ast.With([item], body), op)
        del s.stack[-2:]
        s.at = goal
