"""Instructions of the interpreter, without what differs between the versions of Python.

Jumps, caches and hints are taken out, what does two things becomes two instructions, and all
conditional jumps become one `BRANCH` with a successor for each answer.
"""

import dis
from dataclasses import dataclass, field
from itertools import pairwise
from types import CodeType
from typing import Any

Position = tuple[int | None, int | None, int | None, int | None]

_NOTHING = {
    "NOP", "RESUME", "CACHE", "PRECALL", "EXTENDED_ARG", "COPY_FREE_VARS", "TO_BOOL",
    "RETURN_GENERATOR",
}  # fmt: skip
_JUMPS = {"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"}
_PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
_RENAMED = {"LOAD_FAST_CHECK": "LOAD_FAST"}
_ENDS = {"RETURN_VALUE", "RAISE_VARARGS", "RERAISE"}


class NotFollowedError(Exception):
    """Tell what of a code object is not followed, by the line in the user's text."""


@dataclass(frozen=True)
class HandledAt:
    """Where an exception leads to, how much of the stack stays, and whether it notes its place."""

    index: int
    depth: int
    notes_place: bool


@dataclass
class Instruction:
    """One thing that the interpreter does.

    Attributes:
        name: of the instruction, as `dis` has it, but for those that are made alike here.
        value: its operand, as `dis` has it.
        offset: in the code object.
        position: in the source text.
        effect: how much higher the stack is afterwards, for each successor.
        following: the indices of its successors; of a branch those for true and for false.
        handler: where exceptions lead to.
    """

    name: str
    value: Any
    offset: int
    position: Position
    effect: tuple[int, ...] = (0,)
    following: list[int] = field(default_factory=list)
    handler: HandledAt | None = None

    def __str__(self) -> str:
        line = self.position[0]
        return "code without a line" if line is None else f"line {line}"


def instructions_of(code: CodeType) -> list[Instruction]:
    """Return the instructions of a code object; the first is the one that it begins with."""
    out: list[Instruction] = []
    starts: dict[int, int] = {}  # by offsets
    jumps: dict[int, int] = {}  # by indices of jumps, the offsets they lead to
    found = list(dis.get_instructions(code))
    for i, x in enumerate(found):
        starts[x.offset] = len(out)
        if x.opname in _NOTHING or _is_beginning(found, i, out):
            continue
        if x.opname in _JUMPS:
            jumps[len(out)] = x.argval
            out.append(_instruction(x, "JUMP", None))
            continue
        if x.opname == "KW_NAMES":
            x = x._replace(argval=code.co_consts[x.arg or 0])
        out += _simple(x)
    starts[len(code.co_code)] = len(out)
    _connect(out, starts, jumps, found)
    _protect(out, starts, code)
    return out


def _is_beginning(found: list[dis.Instruction], i: int, out: list[Instruction]) -> bool:
    """Return whether an instruction makes the cells of a function, or starts a generator."""
    if found[i].opname == "POP_TOP":
        return i > 0 and found[i - 1].opname == "RETURN_GENERATOR"
    return found[i].opname == "MAKE_CELL" and not out


def _instruction(x: dis.Instruction, name: str, value: Any, *effect: int) -> Instruction:
    p = x.positions
    position = (
        (None,) * 4 if p is None else (p.lineno, p.end_lineno, p.col_offset, p.end_col_offset)
    )
    return Instruction(name, value, x.offset, position, effect)


def _simple(x: dis.Instruction) -> list[Instruction]:
    """Return the form of an instruction of `dis` that does not jump."""
    name, value = _RENAMED.get(x.opname, x.opname), x.argval
    if name in _PAIRS:
        return [one for n, v in zip(_PAIRS[name], value, strict=True) for one in _one(x, n, v)]
    if name == "LOAD_GLOBAL" and "NULL + " in x.argrepr:
        return [_instruction(x, "PUSH_NULL", None, 1), _instruction(x, name, value, 1)]
    if name == "LOAD_GLOBAL" and " + NULL" in x.argrepr:
        return [_instruction(x, name, value, 1), _instruction(x, "PUSH_NULL", None, 1)]
    if name == "RETURN_CONST":
        return [_instruction(x, "LOAD_CONST", value, 1), _instruction(x, "RETURN_VALUE", None)]
    if "JUMP_" in name or name in ("FOR_ITER", "SEND"):
        return [_branch(x)]
    if name == "LOAD_METHOD" or (name == "LOAD_ATTR" and "NULL|self" in x.argrepr):
        return [_instruction(x, "LOAD_METHOD", value, 1)]
    if name == "COMPARE_OP":
        value = value.removeprefix("bool(").removesuffix(")")
    elif name in ("BINARY_OP", "CALL_INTRINSIC_1", "CALL_INTRINSIC_2"):
        value = x.argrepr
    elif name == "LOAD_SUPER_ATTR":
        value = (value, (x.arg or 0) & 3)
    elif name in ("FORMAT_VALUE", "CONVERT_VALUE", "MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE"):
        value = x.arg
    return _one(x, name, value)


def _one(x: dis.Instruction, name: str, value: Any) -> list[Instruction]:
    if x.opname in _PAIRS:
        effect = 1 if name.startswith("LOAD") else -1
    elif name == "CALL":
        effect = -1 - value
    else:
        effect = dis.stack_effect(x.opcode, x.arg, jump=False)
    return [_instruction(x, name, value, *(() if name in _ENDS else (effect,)))]


def _branch(x: dis.Instruction) -> Instruction:
    """Return a jump to one of two targets; `value` says what it tests, and what it keeps."""
    effects = [dis.stack_effect(x.opcode, x.arg, jump=jump) for jump in (False, True)]
    name = x.opname
    if name in ("FOR_ITER", "SEND"):
        return _instruction(x, name, None, *effects)
    test = "none" if "NONE" in name else "truth"
    jumps_if = "TRUE" in name or name.endswith("IF_NONE")
    kept = jumps_if if name.endswith("_OR_POP") else None
    return _instruction(x, "BRANCH", (test, kept), *(effects[::-1] if jumps_if else effects))


def _connect(
    out: list[Instruction], starts: dict[int, int], jumps: dict[int, int],
    found: list[dis.Instruction],
) -> None:  # fmt: skip
    """Give each instruction its successors, which are no jumps."""
    targets = {x.offset: x.argval for x in found}

    def settled(index: int) -> int:
        seen = set()
        while index in jumps:
            if index in seen:
                raise NotFollowedError(f"a loop that does nothing for ever in {out[index]}")
            seen.add(index)
            index = starts[jumps[index]]
        return index

    for i, op in enumerate(out):
        if not op.effect or op.name == "JUMP":
            continue
        op.following = [settled(i + 1)]
        if len(op.effect) == 2:
            op.following.append(settled(starts[targets[op.offset]]))
            if op.name == "BRANCH" and _jumps_if_true(found, op.offset):
                op.following.reverse()


def _jumps_if_true(found: list[dis.Instruction], offset: int) -> bool:
    name = next(x.opname for x in found if x.offset == offset)
    return "TRUE" in name or name.endswith("IF_NONE")


def _protect(out: list[Instruction], starts: dict[int, int], code: CodeType) -> None:
    """Give each instruction its handler."""
    entries: Any = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
    for entry in entries:
        for op in out[starts[entry.start] : starts[entry.end]]:
            op.handler = HandledAt(starts[entry.target], entry.depth, entry.lasti)
    for before, op in pairwise(out):
        if op.name == "BRANCH" and op.handler is None:  # it cannot raise, after what it tests
            op.handler = before.handler
