"""The nesting of control flow: `if` and loops."""

import ast
import math
from collections.abc import Iterable
from typing import Any

from zygote_lite._ir.decompile.conditions import Fork, has_opposite, negated
from zygote_lite._ir.decompile.instructions import Instruction, NotFollowedError
from zygote_lite._ir.decompile.stores import Stores
from zygote_lite._ir.decompile.values import (
    Progress,
    Returned,
    TargetSlot,
    Walked,
)

END, ITERATION, BREAK, CONTINUE, ELSEWHERE = "end", "iteration", "break", "continue", "nowhere"
_LONGEST_COPY = 16  # instructions, of what ends a function
Stops = dict[int, str]
"""By the instructions at which a block ends, what leads there.

That is the block's own end, which may be the end of an iteration, a statement, or nothing.
"""


class Statements(Stores):
    """The nesting of control flow: `if` and loops."""

    def run(self, s: Progress, stops: Stops, most: float = math.inf) -> None:
        """Appended statements up to an instruction at which the block ends, or up to its last.

        Arguments:
            s: the state, which is changed: `at` is where the block ended.
            stops: where it ends.
            most: how many statements there are to be.
        """
        while s.at is not None and len(s.out) < most:
            at, op = s.at, self.graph.ops[s.at]
            self.choices.read(op)
            starts = s.head == at
            if at in stops and not starts:
                if stops[at] == ELSEWHERE:
                    stops = self.copied(at, stops)
                    continue
                if stops[at] not in (END, ITERATION):
                    self.say(s, ast.Break() if stops[at] == BREAK else ast.Continue(), op)
                    s.at = None
                return
            s.base = min(s.base, len(s.stack))
            if self.leave(s, stops):
                continue
            if self.is_comprehension(op, s):
                self.inlined(op, s)
            elif op.name == "FOR_ITER" or (
                not starts and at in self.graph.loops and op.name != "SEND"
            ):
                self.loop(s, stops)
            elif self.protect(s, stops) or self.match(s, stops):
                pass
            elif op.name == "BRANCH":
                if not self.value_of_branch(s):
                    self.condition(s, stops)
            else:
                self.step(op, s)
            s.head = None

    def copied(self, at: int, stops: Stops) -> Stops:
        """Return the ends of a block that repeats what stands elsewhere, if that is short."""
        found = self.graph.reach(at, ())
        if len(found) > _LONGEST_COPY or not found.isdisjoint(
            (*self.graph.loops, *(stops.keys() - {at}))
        ):
            self.refuse(self.graph.ops[at], "to which control flow jumps")
        return {x: kind for x, kind in stops.items() if x != at}

    def leave(self, s: Progress, stops: Stops) -> bool:
        """Leave the `try` statements that end before the next instruction."""
        raise NotImplementedError

    def protect(self, s: Progress, stops: Stops) -> bool:
        """Do a `try` or `with` statement if one begins here."""
        raise NotImplementedError

    def match(self, s: Progress, stops: Stops) -> bool:
        """Do a `match` statement whose subject is on the stack, if one begins here."""
        raise NotImplementedError

    def chain(self, at: int) -> tuple[int, ...]:
        """Return the handlers around an instruction, the outermost first."""
        raise NotImplementedError

    def is_statement(self, at: int, s: Progress) -> bool:
        if self.graph.ops[at].name == "SEND":
            return False
        if at in self.graph.loops and not self.is_comprehension(self.graph.ops[at], s):
            return True
        return bool({*self.chain(at)} - {*s.handlers})

    def block(self, s: Progress, at: int, stack: list[Any], stops: Stops, **more: Any) -> Progress:
        """Return the state after a block that begins somewhere."""
        inner = Progress(at, [*stack], base=len(stack), handlers=s.handlers, **more)
        self.run(inner, stops)
        return inner

    # -- `if` ----------------------------------------------------------------------------------

    def condition(self, s: Progress, stops: Stops) -> None:
        """Do an `if` statement."""
        assert s.at is not None
        op = self.graph.ops[s.at]
        found = self.reduced(Progress(s.at, s.stack, base=s.base, handlers=s.handlers), None)
        if not isinstance(found, Fork):
            self.refuse(op)
        yes, no = found.edges[True], found.edges[False]
        if len(yes.stack) != len(no.stack) or len(yes.stack) < s.base:
            self.refuse(op, "a choice between two ways")
        s.stack = [*yes.stack]
        join = self.join(yes.at, no.at, len(s.stack), stops, s.handlers)
        if join is None:
            self.without_join(s, found, stops)
            return
        inner = inner_stops(stops, join)
        body = self.block(s, yes.at, s.stack, inner)
        orelse = self.block(s, no.at, s.stack, inner)
        self.say_if(s, found, body.out, orelse.out)
        s.at = join

    def without_join(self, s: Progress, found: Fork, stops: Stops) -> None:
        """Do an `if` statement of which one way never comes to where the other does."""
        inner = inner_stops(stops)
        ends = set(_own_ends(stops))
        reached = {
            side: bool(self.graph.reach(edge.at, stops) & ends)
            for side, edge in found.edges.items()
        }
        if all(reached.values()) and all(self.graph.depths[x] < len(s.stack) for x in ends):
            body, orelse = (
                self.block(s, found.edges[side].at, s.stack, inner_stops(stops, *ends)).out
                for side in (True, False)
            )  # both leave what is around, such as an `except`
            self.say_if(s, found, body, orelse)
            s.at = None
            return
        if reached[True] == reached[False]:
            goes_on = found.edges[True].at > found.edges[False].at
        else:
            goes_on = reached[True]
        if s.stack and isinstance(s.stack[-1], Returned):  # one way goes on to return that
            place = (self.graph.code, found.op.offset, "goes on")
            goes_on = bool(self.choices.of(place, goes_on, [not goes_on]))
        leaving = self.block(s, found.edges[not goes_on].at, s.stack, inner)
        if goes_on:
            self.say_if(s, found, [], leaving.out)
        else:
            self.say_if(s, found, leaving.out, [])
        s.at = found.edges[goes_on].at

    def say_if(
        self, s: Progress, found: Fork, body: list[ast.stmt], orelse: list[ast.stmt]
    ) -> None:
        test = found.test
        for fails, rest in ((orelse, body), (body, orelse)):
            if len(fails) == 1 and not rest and _is_failure(fails[0]):
                held = test if fails is orelse else negated(test)
                self.say(s, ast.Assert(held, fails[0].msg), found.op)  # type: ignore[attr-defined]
                return
        if not body and orelse and not has_opposite(test):
            test, body, orelse = negated(test), orelse, []
        nothing = self.place(ast.Pass(), found.op)
        self.say(s, ast.If(test, body or [nothing], orelse), found.op)

    def join(
        self, a: int, b: int, depth: int, stops: Stops, handlers: tuple[int, ...] = ()
    ) -> int | None:
        """Return where two ways meet first, if they do before the block ends, or raises."""
        around = self.graph.handlers_around(a) & self.graph.handlers_around(b)
        limits = around | {*stops, *handlers}
        common = self.graph.reach(a, limits) & self.graph.reach(b, limits)
        common -= limits - _own_ends(stops)
        return self.first(common, depth, stops)

    def first(self, found: Iterable[int], depth: int, stops: Stops) -> int | None:
        """Return the first of some instructions before which the stack has a height."""
        places = [at for at in found if self.graph.depths[at] == depth]
        return min(places, key=lambda at: (at in stops, self.graph.order[at]), default=None)

    # -- loops ---------------------------------------------------------------------------------

    def loop(self, s: Progress, stops: Stops) -> None:
        """Do a loop."""
        assert s.at is not None
        head = s.at
        op = self.graph.ops[head]
        outer = dict.fromkeys(stops, ELSEWHERE)
        found = None
        end: int | None
        if op.name == "FOR_ITER":
            base = len(s.stack) - 1
            end = self.after_iterator(op.following[1], base)
        else:
            base = len(s.stack)
            found = self.test_of_loop(s)
            end = None if found is None else found[1]
        goal = self.choices.of(
            (self.graph.code, head),
            self.end_of_loop(s, end, base, stops),
            [*self.ends_of_loop(s, base, stops), None],
        )
        inner = outer | {head: ITERATION} | ({} if goal is None else {goal: BREAK})
        if op.name == "FOR_ITER":
            targets: list[ast.expr] = []
            stack = [*s.stack, TargetSlot(targets.append)]
            body = Progress(op.following[0], stack, base=base + 1, handlers=s.handlers)
            self.run(body, inner)
            iterator = s.stack.pop()
            value = iterator.value if isinstance(iterator, Walked) else self.plain(iterator, op)
            if not targets:
                self.refuse(op, "a loop without a variable")
            made: Any = ast.For(targets[0], value, self.filled(body.out, op), [])
        elif found is not None:
            body = self.block(s, found[2], s.stack, inner)
            made = ast.While(found[0], self.filled(body.out, op), [])
        else:
            body = self.block(s, head, s.stack, inner, head=head)
            made = ast.While(self.place(ast.Constant(True), op), self.filled(body.out, op), [])
        if end is not None and end != goal:
            made.orelse = self.block(s, end, s.stack, inner_stops(stops, goal)).out
        self.say(s, made, op)
        s.at = goal

    def filled(self, body: list[ast.stmt], op: Instruction) -> list[ast.stmt]:
        return body or [self.place(ast.Pass(), op)]

    def after_iterator(self, at: int, base: int) -> int:
        """Return the instruction after those that take an iterator that is used up away."""
        while self.graph.ops[at].name in ("END_FOR", "POP_TOP") and self.graph.depths[at] > base:
            at = self.graph.ops[at].following[0]
        return at

    def test_of_loop(self, s: Progress) -> tuple[ast.expr, int, int] | None:
        """Return the condition of a `while`, where it goes on if that fails, and where if not."""
        assert s.at is not None
        inside = self.graph.loops[s.at]
        try:
            found = self.reduced(Progress(s.at, [*s.stack], base=s.base, handlers=s.handlers), None)
        except NotFollowedError:
            return None
        if not isinstance(found, Fork):
            return None
        yes, no = found.edges[True], found.edges[False]
        if len(yes.stack) != len(s.stack) or len(no.stack) != len(s.stack):
            return None
        if yes.at in inside and no.at not in inside:
            return found.test, no.at, yes.at
        if no.at in inside and yes.at not in inside and not has_opposite(found.test):
            return negated(found.test), yes.at, no.at
        return None

    def exits_of_loop(self, s: Progress) -> set[int]:
        """Return the instructions outside a loop that it leads to, by exceptions too.

        What a `try` statement in the loop protects, such as a `return`, is no place to go on at.
        """
        assert s.at is not None
        inside = self.graph.loops.get(s.at, {s.at})
        mine = {h for at in inside for h in self.chain(at)} - {*s.handlers}
        exits = {n for at in inside for n in self.graph.successors(at)} - inside
        return {x for x in exits if mine.isdisjoint(self.chain(x))}

    def end_of_loop(self, s: Progress, end: int | None, base: int, stops: Stops) -> int | None:
        """Return where `break` goes to, which is where a loop goes on that has no `else`."""
        assert s.at is not None
        head = s.at
        around = self.graph.handlers_around(head)  # where no `break` leads to
        exits = self.exits_of_loop(s) - around
        limits = around | {*stops}
        first = None if end is None else self.graph.reach(end, limits)
        exits = {x for x in exits if self.graph.ops[x].name != "END_FOR" and x != end}
        barriers = limits - _own_ends(stops)
        reached = [self.graph.reach(x, {*limits, head}) - {head} - barriers for x in exits]
        if first is not None:
            first -= barriers
            joins = [self.first(first & found, base, stops) for found in reached]
            return self.first([x for x in joins if x is not None], base, stops) or end
        joins = [self.first(a & b, base, stops) for i, a in enumerate(reached) for b in reached[:i]]
        known = [x for x in joins if x is not None]
        if known:
            return self.first(known, base, stops)
        ends = [x for x in exits if self.graph.depths[x] == base and x not in barriers]
        return max(ends, default=None)

    def ends_of_loop(self, s: Progress, base: int, stops: Stops) -> set[int]:
        """Return all instructions after a loop that `break` could go to."""
        assert s.at is not None
        exits = self.exits_of_loop(s)
        found = {x for at in exits for x in self.graph.reach(at, stops)}
        found -= self.graph.loops.get(s.at, {s.at})
        return {x for x in found if self.graph.depths[x] == base}


def inner_stops(stops: Stops, *ends: int | None) -> Stops:
    """Return where a block inside a block ends, which has ends of its own."""
    kinds = {END: ELSEWHERE, ITERATION: CONTINUE}
    found = {at: kinds.get(kind, kind) for at, kind in stops.items()}
    own = {at: END if stops.get(at) != ITERATION else ITERATION for at in ends if at is not None}
    return found | own


def _own_ends(stops: Stops) -> set[int]:
    return {at for at, kind in stops.items() if kind in (END, ITERATION)}


def _is_failure(statement: ast.stmt) -> bool:
    """Return whether a statement is what an assertion does that fails."""
    if not isinstance(statement, ast.Assert):
        return False
    return isinstance(statement.test, ast.Constant) and statement.test.value is False
