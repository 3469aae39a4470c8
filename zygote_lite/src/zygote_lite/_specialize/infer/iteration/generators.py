"""Generators: run up to the next `yield` where an element is asked for, or written into a loop.

A loop that walks over a new generator is the body of the generator with the body of the loop in the
place of each `yield`. Other users take elements one by one: then it has to be known, when the code
is new_iterator, which `yield` comes next.
"""

import types
from dataclasses import dataclass
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.infer.cells import assign, is_cell, with_cells
from zygote_lite._specialize.infer.effects.variables import demand_captured
from zygote_lite._specialize.infer.iteration.iterators import (
    ENDED,
    RESULT,
    STATE,
    Generator,
    Items,
    Together,
    Waiting,
    is_over,
    new_iterator,
    next_item,
    next_of_all,
)
from zygote_lite._specialize.infer.nothing import is_constant_none
from zygote_lite._specialize.normalize.blocks import Attempt, Block, has
from zygote_lite._specialize.normalize.exits import Walk, live, live_in_loop
from zygote_lite._specialize.normalize.lowered import ENDS, Lowered, lowered_code
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import Env, Frame
from zygote_lite._specialize.typed.nodes import leaves
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.stand_ins import LOST
from zygote_lite._specialize.typed.values import Value, constant

MOST_DEEP = 20  # generators that walk over each other
MOST_UNROLLED = 64  # iterations of a loop that is unrolled


# -- new ones ------------------------------------------------------------------------------------


def new_generator(
    builder: Builder, code: types.CodeType, globals_: dict[str, Any], env: Env, steps: str = ""
) -> Value:
    """Return the generator that a call of a generator function makes.

    Where `steps` names a method, it is the one of what calls of that give.
    """
    lowered = lowered_code(code, globals_, steps=steps)
    if builder.handlers and lowered.caught:
        raise NotSupported.STATEMENT("a generator has a `try`, and its caller has one, too")
    builder.inputs.caught |= lowered.caught
    if not all(is_cell(env.get(name)) for name in lowered.nonlocals):
        for name in lowered.nonlocals:
            demand_captured(builder, builder.captured.get((code, name)))
        raise NotSupported.STATEMENT("a generator assigns `nonlocal` variables")
    start = constant(Waiting([Rest(lowered.body, 0)], is_new=True))
    env = with_cells(builder, lowered.cells, env)
    return new_iterator(builder, Generator(code, globals_, steps), {**env, STATE: start})


def variables_of(x: Value) -> Env:
    """Return the variables of a generator that is to go on."""
    found = dict(x.fields or {})
    state = found.pop(STATE)
    if state is LOST or LOST in found.values():
        raise NotSupported.DEPENDS_ON_PATH(
            "how far a generator has run is different after two branches"
        )
    return found


def is_new(x: Value) -> bool:
    """Return whether nothing was taken of a generator yet."""
    if not isinstance(x.sample, Generator):
        return False
    state = (x.fields or {})[STATE].sample
    return isinstance(state, Waiting) and state.is_new


def frame_of(x: Value, lowered: Lowered, env: Env) -> Frame:
    given = {id(leaf) for value in env.values() for leaf in leaves(value)}
    return Frame(x.sample.code, x.sample.globals, lowered.times, {*env}, given)


# -- one by one ----------------------------------------------------------------------------------


@dataclass
class Rest:
    """Hold the statements of a block that have not run yet."""

    body: Block
    at: int


@dataclass
class Over:
    """A loop over an iterator, which is held by a variable."""

    s: Walk
    name: str


@dataclass
class Turns:
    """A loop that is left by `break`, and how many iterations it has had."""

    s: ir.While
    count: int


def advance(builder: Builder, it: Value, sent: Value | None = None) -> Value | None:
    """Write what gives the next element of an iterator; return that, or `None` at its end."""
    if is_over(it):
        return None
    if isinstance(it.sample, Items):
        return next_item(it)
    if isinstance(it.sample, Together):
        return next_of_all(builder, it)
    env = variables_of(it)
    waiting = (it.fields or {})[STATE].sample
    if waiting.is_new and sent is not None and not is_constant_none(sent):
        raise Unsound.RAISES("it sends a value to a generator that has not begun").always(TypeError)
    steps = it.sample.steps
    lowered = lowered_code(it.sample.code, it.sample.globals, steps=steps)
    if len(builder.frames) > MOST_DEEP:
        raise NotSupported.RECURSION("generators take from generators, nested very deep")
    it.fields = {STATE: LOST}
    context, origin = builder.context, builder.origin
    builder.frames.append(frame_of(it, lowered, env))
    try:
        run = _Run(builder, lowered, [*waiting.stack], env)
        found = run.to_next(constant(None) if sent is None else sent, ENDS.get(steps))
    except NotSpecializable as reason:
        reason.raises = None  # what it has done before is not known here
        raise
    finally:
        builder.frames.pop()
        builder.origin = origin
    if builder.context is not context:
        raise Unsound.EFFECTS("a generator yields inside a `with`")
    if found is None:
        it.fields = {STATE: ENDED}
        if lowered.result in run.env:
            it.fields[RESULT] = run.env[lowered.result]
    else:
        it.fields = {**run.env, STATE: constant(Waiting(run.stack))}
        if lowered.finishes:
            builder.inputs.unfinished.append(it)
    return found


def refuse_unfinished(builder: Builder) -> None:
    """Refuse generators that are given up where a `finally` waits, which Python may run later."""
    for it in builder.inputs.unfinished:
        if not is_over(it):
            raise NotSupported.STATEMENT("a generator is not run to its end inside a `try`")


class _Run:
    """Write a generator from where it waits up to the next `yield`."""

    def __init__(self, builder: Builder, lowered: Lowered, stack: list[Any], env: Env) -> None:
        self.builder, self.result = builder, lowered.result
        self.stack, self.env = stack, env

    def to_next(self, sent: Value, ends: type[Exception] | None) -> Value | None:
        top = self.stack[-1]
        if isinstance(top, Rest) and top.at:  # behind the `yield` that it waits at
            before = top.body[top.at - 1]
            assert isinstance(before, ir.Yield)
            self.assign(before.target, sent)
        while self.stack:
            length = len(self.builder.out)
            try:
                found = self.step()
            except NotSpecializable as reason:
                if ends is None or reason.raises is not ends or len(self.builder.out) != length:
                    raise
                return None
            if found is not None:
                return found
        return None

    def step(self) -> Value | None:
        top = self.stack[-1]
        if isinstance(top, Over):
            self.turn(top)
        elif isinstance(top, Turns):
            if top.count == MOST_UNROLLED:
                raise NotSupported.TOO_LONG("a loop in a generator has too many iterations")
            self.stack[-1:] = [Turns(top.s, top.count + 1), Rest(top.s.body, 0)]
        elif top.at == len(top.body):
            self.stack.pop()
        else:
            s = top.body[top.at]
            self.stack[-1] = Rest(top.body, top.at + 1)
            if isinstance(s, ir.Yield):
                return self.builder.atom(s.value, self.env)
            self.statement(s)
        return None

    def assign(self, name: str, value: Value) -> None:
        """Give a variable a value, which functions may share."""
        if name == ir.DISCARD:
            return
        if is_cell(self.env.get(name)):
            assign(self.builder, self.env[name], value)
        else:
            self.env = {**self.env, name: value}

    def turn(self, top: Over) -> None:
        """Begin the next iteration of a loop, or leave it."""
        sent = None
        if top.s.delegates:
            sent = self.env.get(getattr(top.s.body[0], "target", ""))
        item = self.builder.advance(self.env[top.name], sent)
        if item is None:
            self.stack.pop()
        else:
            self.assign(top.s.target, item)
            self.stack.append(Rest(top.s.body, 0))

    def statement(self, s: ir.Statement) -> None:
        """Write a statement, or go into it where a `yield` or the end of a loop is inside."""
        builder = self.builder
        if isinstance(s, ir.Break):
            while isinstance(self.stack[-1], Rest):
                self.stack.pop()
            self.stack.pop()
        elif not _is_gone_into(s):
            done = builder.statements([s], [self.after()], dict(self.env))
            if done is None:
                raise Unsound.RAISES("a generator always raises an error")
            self.env = done
        elif isinstance(s, Attempt):
            self.attempt(s)
        elif isinstance(s, ir.If):
            test = builder.atom(s.test, self.env)
            if test.is_object:
                test = builder.apply(bool, [test])
            if not test.is_constant and test.items is None:
                raise NotSupported.DEPENDS_ON_PATH(
                    "whether a generator yields depends on a number: iterate over it with a plain "
                    "`for`"
                )
            self.stack.append(Rest(s.body if test.sample else s.orelse, 0))
        elif isinstance(s, Walk):
            name = f"@walk{len(self.stack)}"
            self.env = {**self.env, name: builder.iterator(builder.atom(s.iterable, self.env))}
            self.stack.append(Over(s, name))
        elif isinstance(s, ir.While):
            self.stack.append(Turns(s, 0))

    def attempt(self, s: Attempt) -> None:
        """Write a statement that may always raise an error; go on with what follows it."""
        length = len(self.builder.out)
        try:
            done = self.builder.statements(s.first, [self.after()], dict(self.env))
        except NotSpecializable as reason:
            if reason.raises is None or len(self.builder.out) != length:
                raise
            self.env = {**self.env, s.kind: constant(reason.raises)}
            self.stack.append(Rest(s.body, 0))
            return
        assert done is not None
        self.env = done
        self.stack.append(Rest(s.orelse, 0))

    def after(self) -> set[str]:
        """Return the variables that may be read after the statement that is being written."""
        now, at_break = {self.result, *(n for n in self.env if n.startswith("@"))}, set[str]()
        for frame in self.stack:
            if isinstance(frame, Rest):
                now = live(frame.body[frame.at :], now, at_break)
            else:
                at_break = now
                now = live_in_loop(frame.s.body, now) | now
        return now


def _is_gone_into(s: ir.Statement) -> bool:
    """Return whether a statement has a `yield` inside, or leaves the loop around it."""
    yields = any(isinstance(inner, ir.Yield) for inner in ir.every([s]))
    return yields or (isinstance(s, ir.If) and has([s], ir.Break))
