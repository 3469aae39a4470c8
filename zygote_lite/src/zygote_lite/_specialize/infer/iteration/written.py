"""Generators that are written into loops: the body of a loop in the place of each `yield`.

Variables of the generator have names of their own there; what it reads of its module, and the
functions that it defines, are told apart from those of the function around.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.infer.iteration.generators import MOST_DEEP, frame_of, variables_of
from zygote_lite._specialize.infer.iteration.iterators import (
    ENDED,
    RESULT,
    STATE,
    Generator,
)
from zygote_lite._specialize.normalize.blocks import Attempt, Block, falls, has
from zygote_lite._specialize.normalize.exits import IS_LEFT, Walk
from zygote_lite._specialize.normalize.lowered import Lowered, lowered_code
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import Env, Frame
from zygote_lite._specialize.typed.naming import elsewhere
from zygote_lite._specialize.typed.plugins import is_in_python
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.stand_ins import LOST
from zygote_lite._specialize.typed.values import Value


@dataclass(frozen=True, eq=False)
class GlobalOf(ir.Global):
    """A global of another function than the one that is being written."""

    globals: dict[str, Any]

    __match_args__ = ("path", "globals")


@dataclass(kw_only=True)
class ClosureOf(ir.Closure):
    """A function that is defined inside a generator, which is written into another function.

    Attributes:
        names: what the generator calls the variables that the function captures.
        frame: the generator.
    """

    names: list[str]
    frame: Frame


def written_into(
    builder: Builder, s: Walk, target: str, x: Value, body: Block, env: Env, after: set[str]
) -> Env | None:
    """Write the body of a new generator, with that of the loop over it for each `yield`."""
    kind, own = x.sample, variables_of(x)
    lowered = lowered_code(kind.code, kind.globals, may_be_left=bool(s.left), steps=kind.steps)
    if len(builder.running) + len(builder.frames) > MOST_DEEP:
        raise NotSupported.RECURSION(
            f"{kind.code.co_name} iterates over itself, or generators are nested very deep"
        )
    if lowered.finishes and s.left:  # Python may run the `finally` later
        raise NotSupported.STATEMENT(
            "a loop with `break` or `return` iterates over a generator that has a `try`"
        )
    builder.generators += 1
    names = _names_elsewhere(lowered, own, kind, builder.generators) | {IS_LEFT: s.left}
    frame = frame_of(x, lowered, own)
    moved = _Elsewhere(names, frame, target, body, s.left)
    inner = moved.block(lowered.body)
    x.fields = {STATE: LOST}  # while it runs, nobody else may ask it
    env = {**env, **{names[name]: value for name, value in own.items()}}
    used = {*after}
    if s.delegates and isinstance(s.iterable, ir.Name) and s.iterable.id in after:
        used.add(names[lowered.result])
    builder.running.append(x)
    try:
        done = builder.block(inner, env, used)
    finally:
        builder.running.pop()
    if done is None:
        return None
    may_be_left = s.left and (moved.leaves or _may_be_true(done, s.left))
    x.fields = {STATE: LOST if may_be_left else ENDED}
    if names[lowered.result] in done:
        x.fields[RESULT] = done[names[lowered.result]]
    mine = {*names.values()} - {s.left}
    return {name: value for name, value in done.items() if name not in mine}


def _may_be_true(env: Env, name: str) -> bool:
    flag = env.get(name)
    return flag is None or not flag.is_constant or bool(flag.sample)


def _names_elsewhere(lowered: Lowered, own: Env, kind: Generator, number: int) -> dict[str, str]:
    """Return the names that the variables of a generator have in the function around."""
    code = kind.code
    theirs = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    found = {*own, lowered.result}
    for s in ir.every(lowered.body):
        found |= {atom.id for atom in ir.atoms_of(s) if isinstance(atom, ir.Name)}
        found |= {x for x in map(s.__dict__.get, _VARIABLES) if isinstance(x, str)}
        found |= {s.name} if isinstance(s, ir.Delete) else set()
        found |= {*s.captured} if isinstance(s, ir.Closure) else set()
    ours = is_in_python(kind.globals)
    return {
        name: elsewhere(name, number, is_ours=ours or name not in theirs)
        for name in found - {ir.DISCARD, IS_LEFT}
    }


_VARIABLES = ("target", "item", "left")


@dataclass
class _Elsewhere:
    """Statements of a generator, in the function that walks over it.

    Attributes:
        names: what its variables are called there.
        frame: the generator.
        target: the variable of the loop over it.
        turn: the body of that loop.
        left: the variable that tells whether the loop was left; nothing if it never is.
        leaves: whether the loop may be left where that variable is not set.
    """

    names: dict[str, str]
    frame: Frame
    target: str
    turn: Block
    left: str
    leaves: bool = False

    def block(self, body: Block) -> Block:
        """Return a block under other names, with the body of the loop for each `yield`."""
        out: Block = []
        for i, s in enumerate(body):
            if not isinstance(s, ir.Yield):
                out.append(self.statement(s))
                continue
            out.append(ir.Move(s.origin, self.target, self.part(s.value)))
            sent = ir.Move(s.origin, self.name(s.target), ir.Const(None))
            match body[i + 1 :]:
                case [ir.If(_, ir.Name(name), leave, rest)] if name == IS_LEFT and _ends_once(
                    self.turn
                ):
                    self.leaves = True
                    return out + _continued(self.turn, self.block(leave), [sent, *self.block(rest)])
            out += [*(without_break(self.turn) if self.left else self.turn), sent]
        return out

    def statement(self, s: ir.Statement) -> ir.Statement:
        changed = {f.name: self.part(getattr(s, f.name)) for f in fields(s) if f.name != "origin"}
        for name in _VARIABLES:
            if name in changed:
                changed[name] = self.name(changed[name])
        if isinstance(s, ir.Delete):
            changed["name"] = self.name(s.name)
        if isinstance(s, Attempt):
            changed["kind"] = self.name(s.kind)
        if isinstance(s, ir.Closure):
            known = [*map(self.name, s.captured)]
            return ClosureOf(
                s.origin, self.name(s.target), s.definition, known, changed["defaults"],
                names=[*s.captured], frame=self.frame,
            )  # fmt: skip
        return replace(s, **changed)

    def part(self, x: Any) -> Any:
        if isinstance(x, list) and x and isinstance(x[0], ir.Statement):
            return self.block(x)
        if isinstance(x, list | tuple):
            return type(x)(map(self.part, x))
        if isinstance(x, ir.Name):
            return ir.Name(self.name(x.id))
        return GlobalOf(x.path, self.frame.globals) if isinstance(x, ir.Global) else x

    def name(self, name: str) -> str:
        return self.names.get(name, name)


def _ends_once(turn: Block) -> bool:
    """Return whether one path through an iteration at most comes to its end: others leave it.

    All that leave it are branches at its end.
    """
    if not turn or has(turn[:-1], ir.Break):
        return not turn
    last = turn[-1]
    if type(last) is ir.If and has([last], ir.Break):
        blocks = last.body, last.orelse
        return sum(map(falls, blocks)) < 2 and all(map(_ends_once, blocks))
    return isinstance(last, ir.Break) or not has([last], ir.Break)


def _continued(turn: Block, leave: Block, rest: Block) -> Block:
    """Return an iteration with something else in the place of `break`, and after its end."""
    last = turn[-1] if turn else None
    if isinstance(last, ir.Break):
        return [*turn[:-1], *leave]
    if isinstance(last, ir.If) and has([last], ir.Break):
        then, orelse = (_continued(block, leave, rest) for block in (last.body, last.orelse))
        return [*turn[:-1], replace(last, body=then, orelse=orelse)]
    return [*turn, *rest]


def without_break(body: Block) -> Block:
    """Return an iteration of an unrolled loop: a flag tells that it was left."""
    turn: Block = []
    for s in body:
        if isinstance(s, ir.If):
            then, orelse = map(without_break, (s.body, s.orelse))
            turn.append(replace(s, body=then, orelse=orelse))
        elif not isinstance(s, ir.Break):
            turn.append(s)
    return turn
