"""Branches inside expressions, and those that are one condition: `and`, `or`, `not`, `a < b < c`.

The branches that begin at an instruction are taken together, two at a time, until one is left, or
a value.
"""

import ast
from dataclasses import dataclass, replace
from typing import Any

from zygote_lite._ir.decompile.calls import Calls
from zygote_lite._ir.decompile.instructions import Instruction, NotFollowedError
from zygote_lite._ir.decompile.values import Null, Progress

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Is: ast.IsNot, ast.IsNot: ast.Is}


class NotPureError(NotFollowedError):
    """Tell that what was taken for an expression is a statement."""


@dataclass
class Edge:
    """Where a branch goes on.

    Attributes:
        at: the instruction.
        stack: what stands on the stack.
        kept: whether the value that was tested is on top of it.
    """

    at: int
    stack: list[Any]
    kept: bool

    def same(self, other: "Edge") -> bool:
        return self.at == other.at and self.kept == other.kept


@dataclass
class Fork:
    """A condition, and where it leads to if it is true or false.

    Attributes:
        test: the condition.
        edges: by its answers.
        ops: the instructions that belong to it.
        op: the last branch in it.
        cleared: the instructions that take from the stack what it keeps there.
        handlers: those of the `try` statements around.
    """

    test: ast.expr
    edges: dict[bool, Edge]
    ops: set[int]
    op: Instruction
    cleared: set[int]
    handlers: tuple[int, ...]


@dataclass
class WholeValue:
    """A value that is known at the instruction where all paths of an expression meet."""

    value: ast.expr
    ops: set[int]


class Conditions(Calls):
    """The branches of a function that are expressions."""

    def is_statement(self, at: int, s: Progress) -> bool:
        """Return whether a statement of several instructions begins here: a loop, a `try`."""
        raise NotImplementedError

    def is_comprehension(self, op: Instruction, s: Progress) -> bool:
        """Return whether an instruction begins the loop of a comprehension."""
        raise NotImplementedError

    def inlined(self, op: Instruction, s: Progress) -> None:
        """Do the loop of a comprehension, which leaves its result on the stack."""
        raise NotImplementedError

    def value_of_branch(self, s: Progress) -> bool:
        """Do what begins with a branch, if it is an expression; else return `False`."""
        assert s.at is not None
        op = self.graph.ops[s.at]
        join = self.join_of_value(s)
        if join is None:
            return False
        try:
            found = self.reduced(Progress(s.at, [*s.stack], base=s.base, handlers=s.handlers), join)
        except NotFollowedError:
            if op.value[1] is not None:
                raise
            return False
        if not isinstance(found, WholeValue):
            return False
        self.count += 1
        found.value.made = self.count  # type: ignore[attr-defined]
        s.stack[self.base_of(s) :] = [found.value]
        s.at = join
        return True

    def base_of(self, s: Progress) -> int:
        """Return how high the stack is below what a branch tests, keeps and compares on with."""
        base = len(s.stack) - 1
        test = s.stack[base]
        if base and s.stack[base - 1] is test:
            base -= 1
        if base and _is_between(test, s.stack[base - 1]):
            base -= 1
        return base

    def join_of_value(self, s: Progress) -> int | None:
        """Return where the value of an expression is known that begins with a branch."""
        assert s.at is not None
        join = self.graph.joins.get(s.at)
        if join is None or join < 0 or self.graph.depths[join] != self.base_of(s) + 1:
            return None
        return join

    def reduced(self, s: Progress, join: int | None) -> Fork | WholeValue:
        """Return the condition, or the value, that begins at a state.

        Arguments:
            s: the state, which is changed.
            join: where the value is known; `None` if this is the condition of a statement.
        """
        found = self.evaluated(s, join)
        while isinstance(found, Fork):
            larger = self.joined(found, join)
            if larger is None:
                break
            found = larger
        return found

    def evaluated(self, s: Progress, join: int | None) -> Fork | WholeValue:
        """Evaluate an expression up to the first branch that it does not itself consist of."""
        ops: set[int] = set()
        first = s.at
        while True:
            at = s.at
            if at is None or s.out:
                raise NotPureError("a statement")
            if at == join:
                return WholeValue(self.pop(s, self.graph.ops[at]), ops)
            op = self.graph.ops[at]
            if at != first and self.is_statement(at, s):
                raise NotPureError(str(op))
            ops.add(at)
            if op.name == "BRANCH":
                if self.join_of_value(s) in (None, join) or not self.value_of_branch(s):
                    return self.branch(s, op, ops)
            elif op.name == "FOR_ITER" and self.is_comprehension(op, s):
                self.inlined(op, s)
            else:
                self.step(op, s)

    def branch(self, s: Progress, op: Instruction, ops: set[int]) -> Fork:
        """Return a branch, with what it keeps on the stack taken away on each side."""
        base = self.base_of(s)
        test = s.stack.pop()
        between = (
            s.stack[base] if len(s.stack) > base and _is_between(test, s.stack[base]) else None
        )
        edges = {}
        cleared = set()
        kind, keeps = op.value
        for answer, at in zip((True, False), op.following, strict=True):
            stack = [*s.stack, *([test] if keeps is answer else [])]
            while len(stack) > base and at not in self.graph.loops:
                here = self.graph.ops[at]
                mine = [x is test or x is between for x in stack[base:]]
                if here.name == "POP_TOP" and mine[-1]:
                    stack.pop()
                elif here.name == "SWAP" and here.value == 2 and len(mine) > 1 and all(mine):
                    stack[-2:] = stack[:-3:-1]
                else:
                    break
                cleared.add(at)
                at = here.following[0]
            edges[answer] = Edge(at, stack, len(stack) > base and stack[-1] is test)
        condition = self.plain(test, op)
        if kind == "none":
            none = self.place(ast.Constant(None), op)
            condition = self.place(ast.Compare(condition, [ast.Is()], [none]), op)
        return Fork(condition, edges, ops | cleared, op, cleared, s.handlers)

    def joined(self, a: Fork, join: int | None) -> Fork | WholeValue | None:
        """Return a branch together with one or both of those that it leads to."""
        parts: dict[bool, Fork | WholeValue] = {}
        for side in (True, False):
            edge, other = a.edges[side], a.edges[not side]
            if edge.kept or edge.at == join or not self.is_alone(a, edge.at):
                continue
            is_shared = other.kept or not self.graph.before[other.at] <= a.ops
            if not is_shared and not side and not parts:
                continue  # neither `and` nor `or`, nor a choice
            state = Progress(edge.at, [*edge.stack], base=len(edge.stack), handlers=a.handlers)
            if self.is_statement(edge.at, state):
                continue
            try:
                is_chain = bool(edge.stack) and _is_between(a.test, edge.stack[-1])
                b = (self.evaluated if is_chain else self.reduced)(state, join)
            except NotFollowedError:
                continue
            found = self.pair(a, side, b)
            if found is not None:
                return found
            parts[side] = b
        if len(parts) == 2:
            return self.choice(a, parts[True], parts[False])
        return None

    def is_alone(self, a: Fork, at: int) -> bool:
        """Return whether nothing but a branch leads to an instruction."""
        before = self.graph.before[at]
        return before <= a.ops and all(self.is_alone(a, x) for x in before & a.cleared)

    def pair(self, a: Fork, side: bool, b: Fork | WholeValue) -> Fork | WholeValue | None:
        """Return `a and b` or `a or b`, where that is what two branches mean.

        Arguments:
            a: the first.
            side: its answer that leads to the second.
            b: the second.
        """
        other = a.edges[not side]
        ops = a.ops | b.ops
        if isinstance(b, WholeValue):
            if not other.kept:
                return None
            return WholeValue(self.both(a, b.value, side), ops)
        for answer in (not side, side):  # where all lead to one place, the chain goes on
            if not b.edges[answer].same(other):
                continue
            if answer is not side:  # a false: as if b was false
                test = self.both(a, b.test, side)
                edges = {side: b.edges[side], not side: other}
            elif other.kept:
                continue
            elif has_opposite(a.test):  # a false: as if b was true
                test = self.both(a, negated(b.test), side)
                edges = {side: b.edges[not side], not side: other}
            else:
                test = self.both(replace(a, test=negated(a.test)), b.test, not side)
                edges = b.edges
            return Fork(test, edges, ops, b.op, a.cleared | b.cleared, a.handlers)
        return None

    def both(self, a: Fork, b: ast.expr, side: bool) -> ast.expr:
        """Return `a and b`, or `a or b` if `side` is false; or one chain of comparisons."""
        if side and isinstance(a.test, ast.Compare) and isinstance(b, ast.Compare) and (
            b.left is a.test.comparators[-1]
        ):  # fmt: skip
            ops, comparators = [*a.test.ops, *b.ops], [*a.test.comparators, *b.comparators]
            return self.place(ast.Compare(a.test.left, ops, comparators), a.op)  # type: ignore[no-any-return]
        kind: Any = ast.And if side else ast.Or
        values = [a.test, b]
        if isinstance(b, ast.BoolOp) and isinstance(b.op, kind):
            values = [a.test, *b.values]
        return self.place(ast.BoolOp(kind(), values), a.op)  # type: ignore[no-any-return]

    def choice(
        self, a: Fork, b: Fork | WholeValue, c: Fork | WholeValue
    ) -> Fork | WholeValue | None:
        """Return `b if a else c`, where both go on at the same places."""
        ops = a.ops | b.ops | c.ops
        if isinstance(b, WholeValue) and isinstance(c, WholeValue):
            return WholeValue(self.place(ast.IfExp(a.test, b.value, c.value), a.op), ops)
        if isinstance(b, WholeValue) or isinstance(c, WholeValue):
            return None
        if not all(b.edges[side].same(c.edges[side]) for side in (True, False)):
            return None
        test = self.place(ast.IfExp(a.test, b.test, c.test), a.op)
        cleared = a.cleared | b.cleared | c.cleared
        return Fork(test, b.edges, ops, c.op, cleared, a.handlers)


def negated(test: ast.expr) -> ast.expr:
    """Return `not test`, in a form that the compiler makes no other comparison of."""
    made: ast.expr
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and _is_none_test(test):
        made = ast.Compare(test.left, [_OPPOSITE[type(test.ops[0])]()], test.comparators)
    elif has_opposite(test):
        made = ast.IfExp(test, ast.Constant(False), ast.Constant(True))
    else:
        made = ast.UnaryOp(ast.Not(), test)
    ast.copy_location(made, test)
    return ast.fix_missing_locations(made)


def has_opposite(test: ast.expr) -> bool:
    """Return whether the compiler makes another comparison of `not test`: of `in` and `is`."""
    if not isinstance(test, ast.Compare) or len(test.ops) > 1 or _is_none_test(test):
        return False
    return isinstance(test.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot)


def _is_none_test(test: ast.Compare) -> bool:
    last = test.comparators[-1]
    is_none = isinstance(last, ast.Constant) and last.value is None
    return is_none and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITE


def _is_between(test: Any, value: Any) -> bool:
    """Return whether a comparison's right operand is kept for the next comparison of a chain."""
    return (
        isinstance(test, ast.Compare)
        and not isinstance(value, Null)
        and test.comparators[-1] is value
    )
