"""The control flow of a code object, in which what does the same is one.

The compiler copies code: the test of `while`, what ends a function. Instructions of one place in
the text from which the same is done are taken together, so that the copies are one again. This
decides what is guessed, not what is right.
"""

import functools
import sys
from collections.abc import Callable, Iterable
from functools import cached_property
from types import CodeType
from typing import Any

from zygote_lite._ir.decompile.instructions import Instruction, instructions_of

EXIT = -1
_HAS_PAIRS = sys.version_info >= (3, 13)


class Graph:
    """The instructions of a code object, and how they follow each other.

    Arguments:
        code: the code object.
        one_end: whether it is one `return` of a constant, or after a `finally`, that has copies at
            several places of the text.

    Attributes:
        code: the code object.
        ops: its instructions, of which each stands for all that do the same.
        depths: how high the stack is before each of them, where they are reached.
        entry: the first instruction.
    """

    def __init__(self, code: CodeType, *, one_end: bool = False) -> None:
        self.code = code
        self.ops = instructions_of(code)
        self.depths = _depths(self.ops)
        one = _representatives(self.ops, self.depths, one_end)
        for op in self.ops:
            op.following = [one[i] for i in op.following]
            if op.handler is not None:
                op.handler = type(op.handler)(
                    one[op.handler.index], op.handler.depth, op.handler.notes_place
                )
        self.entry = one[0]
        self.last: dict[int, int] = {}  # of all that do the same, the last
        for i, first in enumerate(one):
            self.last[first] = i

    def successors(self, at: int) -> list[int]:
        """Return what may follow an instruction, its handler too."""
        op = self.ops[at]
        return [*op.following, *([] if op.handler is None else [op.handler.index])]

    def handlers_around(self, at: int) -> set[int]:
        """Return where an exception leads to that an instruction raises, and one raised there."""
        found: set[int] = set()
        handler = self.ops[at].handler
        while handler is not None and handler.index not in found:
            found.add(handler.index)
            handler = self.ops[handler.index].handler
        return found

    @cached_property
    def order(self) -> dict[int, int]:
        """Return a place for each instruction, such that what is left to do comes later."""
        last_first = _postorder(self.successors, self.entry)
        return {at: i for i, at in enumerate(reversed(last_first))}

    @cached_property
    def before(self) -> dict[int, set[int]]:
        """Return by instructions those that lead to them, by exceptions too."""
        found: dict[int, set[int]] = {at: set() for at in self.order}
        for at in self.order:
            for n in self.successors(at):
                found[n].add(at)
        return found

    @cached_property
    def loops(self) -> dict[int, set[int]]:
        """Return by the instructions that loops begin with what is done again and again."""
        dominators = _dominators(
            list(self.order), {at: list(self.before[at]) for at in self.order}, self.entry
        )
        found: dict[int, set[int]] = {}
        place = {at: i for i, at in enumerate(self.order)}  # what dominates another is before it
        edges = [(at, head) for at in self.order for head in self.successors(at)]
        for at, head in edges:
            if place[head] > place[at] or not _is_above(head, at, dominators):
                continue
            body = found.setdefault(head, {head})
            rest = [at]
            while rest:
                x = rest.pop()
                if x not in body:
                    body.add(x)
                    rest += self.before[x]
        return found

    @cached_property
    def joins(self) -> dict[int, int]:
        """Return by instructions the first one that all their paths come to, if nothing raises."""
        nodes = list(self.order)
        reverse: dict[int, list[int]] = {EXIT: []}
        for at in nodes:
            reverse[at] = self.ops[at].following or [EXIT]
        for head in self.loops:
            if self.ops[head].name != "FOR_ITER":  # which has an exit of its own
                reverse[head] = [*reverse[head], EXIT]
        forward: dict[int, list[int]] = {n: [] for n in (*nodes, EXIT)}
        for at, following in reverse.items():
            for n in following:
                forward[n].append(at)
        order = _postorder(forward.__getitem__, EXIT)[::-1]
        return _dominators(order, reverse, EXIT)

    def reach(self, start: int, stops: Iterable[int]) -> set[int]:
        """Return what may be done from an instruction on, up to the `stops`, which belong to it."""
        seen, rest, ends = {start}, [start], {*stops}
        while rest:
            at = rest.pop()
            if at in ends:
                continue
            for n in self.successors(at):
                if n not in seen:
                    seen.add(n)
                    rest.append(n)
        return seen


def _depths(ops: list[Instruction]) -> dict[int, int]:
    depths = {0: 0}
    rest = [0]
    while rest:
        at = rest.pop()
        op = ops[at]
        for n, effect in zip(op.following, op.effect, strict=True):
            if n not in depths:
                depths[n] = depths[at] + effect
                rest.append(n)
        h = op.handler
        if h is not None and h.index not in depths:
            depths[h.index] = h.depth + h.notes_place + 1
            rest.append(h.index)
    return depths


def _representatives(ops: list[Instruction], depths: dict[int, int], one_end: bool) -> list[int]:
    """Return for each instruction the first one from which the same is done."""
    keys: list[Any] = []
    for i, op in enumerate(ops):
        ends = op.name == "RETURN_VALUE" and i and _loads_none(ops[i - 1])
        ends = ends or _loads_none(op) or (one_end and _ends_at_any_place(ops, i))
        place: Any = None if ends else op.position
        if _HAS_PAIRS and op.name in ("LOAD_FAST", "STORE_FAST"):  # of which one knows its place
            restores = op.name == "STORE_FAST" and i and ops[i - 1].name == "SWAP"
            # What a comprehension restores is told apart by the comprehension.
            place = ops[i - 1].position if restores else op.position[0]
        keys.append((op.name, constant_key(op.value), place, depths.get(i)))
    classes = _numbered(keys)
    while True:
        keys = [
            (c, *(classes[n] for n in op.following), op.handler and (
                classes[op.handler.index], op.handler.depth, op.handler.notes_place))
            for c, op in zip(classes, ops, strict=True)
        ]  # fmt: skip
        finer = _numbered(keys)
        if len({*finer}) == len({*classes}):
            break
        classes = finer
    first: dict[int, int] = {}
    for i, c in enumerate(classes):
        if i in depths:
            first.setdefault(c, i)
    return [first.get(c, i) for i, c in enumerate(classes)]


def _loads_none(op: Instruction) -> bool:
    """Return whether an instruction may begin a `return` that the compiler adds."""
    return op.name == "LOAD_CONST" and op.value is None


def _ends_at_any_place(ops: list[Instruction], i: int) -> bool:
    """Return whether an instruction returns a constant, or what was known before a `finally`."""
    if ops[i].name == "RETURN_VALUE":
        return i > 0 and ops[i - 1].name.startswith(("LOAD_CONST", "POP_", "STORE_", "DELETE_"))
    return ops[i].name == "LOAD_CONST" and ops[i + 1].name == "RETURN_VALUE"


def _numbered(keys: list[Any]) -> list[int]:
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def constant_key(value: Any) -> Any:
    """Return a key that constants share only if they are the same to a program."""
    if isinstance(value, tuple | frozenset):
        parts = map(constant_key, value)
        return type(value), (tuple(parts) if isinstance(value, tuple) else frozenset(parts))
    if isinstance(value, CodeType):
        return id(value)
    if isinstance(value, float | complex):
        return type(value), repr(value)
    return type(value), value


def _postorder(following: Callable[[int], Iterable[int]], start: int) -> list[int]:
    seen, done = {start}, []
    stack = [(start, iter(following(start)))]
    while stack:
        at, rest = stack[-1]
        n = next((n for n in rest if n not in seen), None)
        if n is None:
            done.append(at)
            stack.pop()
        else:
            seen.add(n)
            stack.append((n, iter(following(n))))
    return done


def _dominators(order: list[int], before: dict[int, list[int]], start: int) -> dict[int, int]:
    """Return by nodes their immediate dominators; `order` is a reverse postorder."""
    place = {n: i for i, n in enumerate(order)}
    found = {start: start}

    def meet(a: int, b: int) -> int:
        while a != b:
            while place[a] > place[b]:
                a = found[a]
            while place[b] > place[a]:
                b = found[b]
        return a

    changed = True
    while changed:
        changed = False
        for n in order[1:]:
            new = functools.reduce(meet, [p for p in before[n] if p in found])
            if found.get(n) != new:
                found[n] = new
                changed = True
    return found


def _is_above(a: int, b: int, dominators: dict[int, int]) -> bool:
    """Return whether `a` dominates `b`."""
    while b != a:
        up = dominators[b]
        if up == b:
            return False
        b = up
    return True
