"""The `match` statement: patterns, from what takes the subject apart.

A pattern is tested on a path along which nothing fails. Each value that is taken from the subject
there has a slot, and the instructions of the path say which pattern it has to match.
"""

import ast
from dataclasses import dataclass, field
from typing import Any

from zygote_lite._ir.decompile.conditions import Fork
from zygote_lite._ir.decompile.instructions import Instruction, NotFollowedError
from zygote_lite._ir.decompile.protected import ProtectedStatements
from zygote_lite._ir.decompile.statements import Stops, inner_stops
from zygote_lite._ir.decompile.values import Mark, Progress


@dataclass
class Matched(Mark):
    """A value that has to match a pattern.

    Attributes:
        made: what makes the pattern, once that is known.
        parts: the slots of what it consists of.
        star: which of these takes the rest, if one does.
        name: the variable that gets the value.
        copy: the slot of the same value whose pattern is matched first (`pattern as name`).
        rest: the variable that gets the rest of a mapping.
        at: parts by their places, from the end if these are negative.
        is_copy: whether it is the copy of another.
    """

    made: Any = None
    parts: list["Matched"] = field(default_factory=list)
    star: int | None = None
    name: str | None = None
    copy: "Matched | None" = None
    rest: str | None = None
    at: dict[int, "Matched"] = field(default_factory=dict)
    is_copy: bool = False

    def pattern(self) -> ast.pattern:
        if self.copy is not None:
            inner = self.copy.pattern()
            return inner if self.name is None else ast.MatchAs(inner, self.name)
        if self.made is None:
            return ast.MatchAs(None, self.name)
        found: ast.pattern = self.made()
        return found

    def patterns(self) -> list[ast.pattern]:
        if self.at:  # the rest is nobody's
            count = len(self.parts)
            star = max((i + 1 for i in self.at if i >= 0), default=count - 1 + min(0, *self.at))
            places = [j if j < star else j - count for j in range(count)]
            taken = [self.at.get(j, Matched()).pattern() for j in places]
            return [*taken[:star], ast.MatchStar(None), *taken[star + 1 :]]
        found = [part.pattern() for part in self.parts]
        if self.star is not None:
            found[self.star] = ast.MatchStar(self.parts[self.star].name)
        return found


@dataclass
class _Of(Mark):
    """The answer of a test, the length, the keys, the values or the rest of what has a slot."""

    what: str
    slot: Matched


@dataclass
class _Case:
    """A pattern with its guard, where its body begins, and where it goes on if it fails."""

    slots: list[Matched]
    guard: ast.expr | None
    body: int
    fails: int | None
    is_kept: bool  # whether the subject is on the stack there

    def made(self, body: list[ast.stmt]) -> ast.match_case:
        found = [slot.pattern() for slot in self.slots]
        return ast.match_case(found[0] if len(found) == 1 else ast.MatchOr(found), self.guard, body)


class MatchStatements(ProtectedStatements):
    """The `match` statement."""

    def match(self, s: Progress, stops: Stops) -> bool:
        assert s.at is not None
        op = self.graph.ops[s.at]
        is_copied = op.name == "COPY" and op.value == 1
        count = 3 if op.name == "MATCH_CLASS" else 1
        if not is_copied and op.name not in ("MATCH_SEQUENCE", "MATCH_MAPPING", "MATCH_CLASS"):
            return False
        base = len(s.stack) - count
        if base < s.base or not isinstance(s.stack[base], ast.expr):
            return False
        try:
            cases, last = self.cases(s, base)
        except (NotFollowedError, AttributeError, LookupError, TypeError):
            if is_copied:  # for another statement
                return False
            self.refuse(op, "a pattern of another form")
        subject = self.plain(s.stack[base], op)
        del s.stack[base:]
        joins = [
            self.join(case.body, case.fails, base, stops)
            for case in cases
            if case.fails is not None
        ]
        goal = next((join for join in joins if join is not None), None)
        inner = inner_stops(stops, *([] if goal is None else [goal]))
        made = []
        for case in cases:
            body = self.block(s, case.body, s.stack, inner).out
            made.append(case.made(self.filled(body, op)))
        if last is not None and goal is not None and last != goal:
            otherwise = self.filled(self.block(s, last, s.stack, inner).out, op)
            made.append(ast.match_case(ast.MatchAs(None, None), None, otherwise))
        node = self.place(ast.Match(subject, made), op)
        for part in ast.walk(node):
            if isinstance(part, ast.pattern):
                self.place(part, op)
                part.end_lineno = part.end_lineno or part.lineno
        s.out.append(node)
        s.at = last if goal is None else goal
        return True

    def cases(self, s: Progress, base: int) -> tuple[list[_Case], int | None]:
        """Return the cases of a statement, and where it goes on if all fail."""
        found: list[_Case] = []
        at, stack = s.at, [*s.stack[:base], Matched(), *s.stack[base + 1 :]]
        while True:
            assert at is not None
            op = self.graph.ops[at]
            if found and op.name == "POP_TOP":  # of the last pattern, no alternative matched
                return found, op.following[0]
            case = self.case_with_copy(s, at, stack) or self.case(s, at, stack, False)
            before = found[-1] if found else None
            if before is not None and before.body == case.body and case.guard is None:
                before.slots += case.slots
                before.fails, before.is_kept = case.fails, case.is_kept
            else:
                found.append(case)
            if not case.is_kept:
                if found[0].fails is None:
                    self.refuse(op, "an assignment")
                return found, case.fails
            at, stack = case.fails, [*s.stack[:base], Matched()]

    def case_with_copy(self, s: Progress, at: int, stack: list[Any]) -> _Case | None:
        """Return the case that begins at an instruction, if it matches a copy of the subject."""
        op = self.graph.ops[at]
        if op.name != "COPY" or op.value != 1:
            return None
        try:
            return self.case(s, at, [*stack, Matched()], True)
        except (NotFollowedError, AttributeError, LookupError, TypeError):
            return None

    def case(self, s: Progress, at: int, stack: list[Any], is_kept: bool) -> _Case:
        """Return the case that begins at an instruction.

        Arguments:
            s: the state around.
            at: the instruction.
            stack: what stands on the stack: the slot of the subject last, when its pattern begins.
            is_kept: whether the subject is copied there, for the cases that follow.
        """
        op, floor = self.graph.ops[at], len(stack) - 1
        if op.name == "MATCH_CLASS":
            floor -= 2
        root = stack[floor]
        state = Progress(op.following[0] if is_kept else at, [*stack])
        failed: set[int] = set()
        self.matched(state, floor, floor, failed)
        end, guard = state.at, None
        assert end is not None
        if is_kept:
            if self.graph.ops[end].name != "POP_TOP":
                guarded = Progress(end, [*state.stack], base=floor, handlers=s.handlers)
                fork = self.reduced(guarded, None)
                if not isinstance(fork, Fork):
                    self.refuse(self.graph.ops[end], "a guard")
                guard, end = fork.test, fork.edges[True].at
                failed.add(fork.edges[False].at)
            if self.graph.ops[end].name != "POP_TOP" or not failed:
                self.refuse(self.graph.ops[end], "after a pattern")
            end = self.graph.ops[end].following[0]
        else:
            guard, end = self.guard_of_last(
                Progress(end, [*state.stack], base=floor, handlers=s.handlers), failed
            )
        if len(failed) > 1:
            self.refuse(op, "a pattern that fails in several ways")
        return _Case([root], guard, end, min(failed, default=None), is_kept)

    def guard_of_last(self, s: Progress, failed: set[int]) -> tuple[ast.expr | None, int]:
        """Return the condition that leads where the pattern fails, and where the body begins."""
        assert s.at is not None
        at = s.at
        try:
            fork = self.reduced(s, None)
        except NotFollowedError:
            return None, at
        if isinstance(fork, Fork) and fork.edges[False].at in failed:
            return fork.test, fork.edges[True].at
        return None, at

    def matched(self, s: Progress, end: int, floor: int, failed: set[int]) -> None:
        """Go along the path on which a pattern matches.

        Arguments:
            s: the state.
            end: how high the stack is when it has matched.
            floor: how high it is when the pattern of the case has, of which this may be a part.
            failed: what is added to: where it goes on where something fails.
        """
        while len(s.stack) > end:
            assert s.at is not None
            op = self.graph.ops[s.at]
            if op.name == "BRANCH":
                is_none = op.value[0] == "none"
                tested = s.stack.pop()
                if isinstance(tested, Matched) and is_none and tested.copy is None:
                    tested.made = lambda: ast.MatchSingleton(None)
                elif not isinstance(tested, _Of) or is_none != (tested.what == "values"):
                    self.refuse(op, "a pattern")
                matches = not is_none or isinstance(tested, Matched)
                s.at = op.following[0 if matches else 1]
                failed.add(self.fallen(op.following[1 if matches else 0], floor))
            elif op.name == "POP_TOP" and isinstance(s.stack[-1], Matched) and s.stack[-1].copy:
                self.alternatives(s, floor, failed)
            else:
                method = getattr(self, f"match_{op.name.lower()}", None)
                top = s.stack[-1] if s.stack else None
                if method is not None and isinstance(top, Matched | _Of | ast.expr):
                    method(op, s)
                    s.at = op.following[0]
                elif isinstance(top, Matched | _Of | ast.expr) and op.name.startswith("LOAD_"):
                    self.step(op, s)
                else:
                    self.refuse(op, "a pattern")

    def fallen(self, at: int, floor: int) -> int:
        """Return where it goes on after the stack is as low as where a pattern begins."""
        while self.graph.depths[at] > floor and self.graph.ops[at].name == "POP_TOP":
            at = self.graph.ops[at].following[0]
        return at

    def alternatives(self, s: Progress, floor: int, failed: set[int]) -> None:
        """Do the patterns after the first one of several, of which one has to match."""
        assert s.at is not None
        slot, end = s.stack.pop(), s.at
        found, slot.copy = [slot.copy], None
        while True:
            others = [at for at in failed if self.graph.depths[at] > floor]
            if not others:
                break
            failed.remove(others[0])
            op = self.graph.ops[others[0]]
            found.append(Matched())
            state = Progress(op.following[0], [*s.stack, slot, found[-1]])
            if op.name == "COPY" and op.value == 1 and len(others) == 1:
                self.matched(state, len(s.stack) + 1, floor, failed)
            if state.at != end:
                self.refuse(op, "a pattern with `|`")
        slot.made = lambda: ast.MatchOr([each.pattern() for each in found])
        s.at = self.graph.ops[end].following[0]

    # -- what instructions say of a pattern ------------------------------------------------------

    def match_copy(self, op: Instruction, s: Progress) -> None:
        top = s.stack[-op.value]
        if op.value == 1 and isinstance(top, Matched) and top.made is None:
            top.copy = Matched(is_copy=True)
            s.stack.append(top.copy)
        elif isinstance(top, _Of):
            s.stack.append(top)
        else:
            s.stack.append(_Of("sequence", top))

    def match_swap(self, op: Instruction, s: Progress) -> None:
        s.stack[-1], s.stack[-op.value] = s.stack[-op.value], s.stack[-1]

    def match_pop_top(self, op: Instruction, s: Progress) -> None:
        s.stack.pop()

    def match_match_sequence(self, op: Instruction, s: Progress) -> None:
        slot = s.stack[-1]
        slot.made = lambda: ast.MatchSequence(slot.patterns())
        slot.parts, slot.star = [Matched()], 0
        s.stack.append(_Of("test", slot))

    def match_match_mapping(self, op: Instruction, s: Progress) -> None:
        slot = s.stack[-1]
        slot.made = lambda: ast.MatchMapping([], [], slot.rest)
        s.stack.append(_Of("test", slot))

    def match_get_len(self, op: Instruction, s: Progress) -> None:
        top = s.stack[-1]
        s.stack.append(_Of("length", top.slot if isinstance(top, _Of) else top))

    def match_binary_op(self, op: Instruction, s: Progress) -> None:
        value: Any = self.pop(s, op)
        s.stack[-1] = self.place(ast.Constant(-value.value), op)

    def match_binary_subscr(self, op: Instruction, s: Progress) -> None:
        place: Any = self.pop(s, op)
        s.stack[-1] = s.stack[-1].slot.at.setdefault(place.value, Matched())

    def match_compare_op(self, op: Instruction, s: Progress) -> None:
        value = self.pop(s, op)
        left = s.stack.pop()
        if isinstance(left, _Of):
            slot = left.slot
            if slot.star is not None:  # of a sequence
                count = value.value  # type: ignore[attr-defined]
                slot.parts = [Matched() for _ in range(count + (op.value == ">="))]
                slot.star = count if op.value == ">=" else None
        elif op.value == "==":
            slot = left
            slot.made = lambda: ast.MatchValue(value)
        else:
            self.refuse(op, "a pattern")
        s.stack.append(_Of("test", slot))

    def match_is_op(self, op: Instruction, s: Progress) -> None:
        value: Any = self.pop(s, op)
        slot = s.stack.pop()
        slot.made = lambda: ast.MatchSingleton(value.value)
        s.stack.append(_Of("test", slot))

    def match_match_keys(self, op: Instruction, s: Progress) -> None:
        keys: Any = s.stack[-1]
        slot = s.stack[-2]
        found = keys.elts
        slot.parts = [Matched() for _ in found]
        slot.made = lambda: ast.MatchMapping(found, slot.patterns(), slot.rest)
        s.stack[-1] = _Of("keys", slot)
        s.stack.append(_Of("values", slot))

    def match_build_tuple(self, op: Instruction, s: Progress) -> None:
        self.step(op, s)

    def match_match_class(self, op: Instruction, s: Progress) -> None:
        names = [name.value for name in s.stack.pop().elts]
        kind = self.pop(s, op)
        slot = s.stack.pop()
        slot.parts = [Matched() for _ in range(op.value + len(names))]

        def made() -> ast.pattern:
            found = slot.patterns()
            first = len(found) - len(names)
            return ast.MatchClass(kind, found[:first], names, found[first:])

        slot.made = made
        s.stack.append(_Of("values", slot))

    def match_unpack_sequence(self, op: Instruction, s: Progress) -> None:
        of = s.stack.pop()
        slot = of.slot if isinstance(of, _Of) else of
        if isinstance(of, _Of) and of.what == "keys":
            s.stack += [_Of("key", slot)] * op.value
        else:
            s.stack += slot.parts[::-1]

    def match_unpack_ex(self, op: Instruction, s: Progress) -> None:
        before, after = op.value if isinstance(op.value, tuple) else (op.value & 255, op.value >> 8)
        slot = s.stack.pop()
        slot.parts = [Matched() for _ in range(before + 1 + after)]
        slot.star = before
        s.stack += slot.parts[::-1]

    def match_build_map(self, op: Instruction, s: Progress) -> None:
        s.stack.append(_Of("rest", Matched()))

    def match_dict_update(self, op: Instruction, s: Progress) -> None:
        slot = s.stack.pop()
        s.stack[-op.value].slot = slot

    def match_delete_subscr(self, op: Instruction, s: Progress) -> None:
        del s.stack[-2:]

    def match_store_fast(self, op: Instruction, s: Progress) -> None:
        value = s.stack.pop()
        if isinstance(value, _Of):
            value.slot.rest = op.value
        elif value.is_copy and value.made is None:
            self.refuse(op, "an assignment")
        else:
            value.name = op.value

    match_store_deref = match_store_global = match_store_name = match_store_fast
