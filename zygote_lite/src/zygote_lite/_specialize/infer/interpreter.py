"""Abstract interpretation: normalized code is run on abstract values, and typed code is written.

Calls of Python functions are inlined, branches whose test is known are resolved, and each active
operation gets its reverse, from its rule.
"""

import inspect
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.operators import IN_PLACE
from zygote_lite._specialize.infer import builds, inputs, operations, reads
from zygote_lite._specialize.infer import calls as _calls
from zygote_lite._specialize.infer import contexts as _contexts
from zygote_lite._specialize.infer.branches import interpret_branch, truth_asked
from zygote_lite._specialize.infer.cells import assign, is_cell, new_cell, with_cells
from zygote_lite._specialize.infer.closures import closure
from zygote_lite._specialize.infer.effects.variables import demand_captured
from zygote_lite._specialize.infer.forms import hold_all, moves_to
from zygote_lite._specialize.infer.held.calls import columns
from zygote_lite._specialize.infer.inputs import is_settled
from zygote_lite._specialize.infer.iteration.generators import (
    advance,
    new_generator,
    refuse_unfinished,
)
from zygote_lite._specialize.infer.iteration.own import iterator_of
from zygote_lite._specialize.infer.loops import is_left
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models import made_classes as _made_classes
from zygote_lite._specialize.infer.models import objects as _objects
from zygote_lite._specialize.infer.nothing import asked_for_nothing, not_asked
from zygote_lite._specialize.infer.protected import interpret_attempt, is_run_before, raise_error
from zygote_lite._specialize.infer.recursion import recursive_call
from zygote_lite._specialize.infer.walks import iterate, loop_while
from zygote_lite._specialize.infer.writes import changed, own_result, store
from zygote_lite._specialize.normalize.blocks import Attempt
from zygote_lite._specialize.normalize.class_bodies import Begin, Define
from zygote_lite._specialize.normalize.exits import Walk, live
from zygote_lite._specialize.normalize.lowered import lowered_code
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.drafts import End, Env, Frame
from zygote_lite._specialize.typed.facts import ListOf
from zygote_lite._specialize.typed.naming import is_temporary, stem_of
from zygote_lite._specialize.typed.nodes import Moves, Record, Stop, leaves
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unreached, Unsound
from zygote_lite._specialize.typed.stand_ins import Local
from zygote_lite._specialize.typed.values import Value, constant

_DEEP = 20  # calls inside calls
_MOST_AGAIN = 3  # calls of a function inside itself
_MOST_OF_DATA = 5  # the same, of what is not differentiated


class Interpreter(Builder):
    """Write typed code for one specialization, statement by statement."""

    apply = _calls.call
    inactive = operations.inactive
    item = reads.item
    bind = inputs.bind
    parameters = inputs.parameters
    read = inputs.read
    read_path = inputs.read_path
    global_value = inputs.global_value
    atom = reads.value_of_atom
    attribute = reads.read_attribute
    build = builds.build_structure
    append = builds.append_item
    store = store
    iterator = iterator_of
    advance = advance

    # -- functions -----------------------------------------------------------------------------

    def function(
        self, code: Any, globals_: dict[str, Any], env: Env, wrapper: Any = None
    ) -> Value:  # fmt: skip
        """Write the body of a function, and return the value of its result."""
        if code.co_flags & inspect.CO_GENERATOR:
            return new_generator(self, code, globals_, env)
        again = sum(code == frame.code and wrapper is frame.wrapper for frame in self.frames)
        is_data = not any(leaf.active for x in env.values() for leaf in leaves(x))
        most = _MOST_OF_DATA if is_data else _MOST_AGAIN
        if again > most or len(self.frames) > _DEEP:
            reason = NotSupported.RECURSION(
                f"{code.co_name} calls itself, or calls are nested very deep"
            )
            reason.code = code if again else None
            raise reason
        if any(x in self.iterators for x in env.values()):
            raise Unsound.ITERATOR(f"{code.co_name} calls itself with an iterator: pass a list")
        lowered = lowered_code(code, globals_, self.handlers)
        result = lowered.result
        self.inputs.caught |= lowered.caught
        if not all(is_cell(env.get(name)) for name in lowered.nonlocals):
            for name in lowered.nonlocals:
                demand_captured(self, self.captured.get((code, name)))
            raise NotSupported.STATEMENT("a nested function assigns `nonlocal` variables")
        given = {id(leaf) for x in env.values() for leaf in leaves(x)}
        self.frames.append(Frame(code, globals_, lowered.times, {*env}, given, wrapper))
        origin, before = self.origin, self.leaves
        try:
            env = with_cells(self, lowered.cells, env)
            env = self.block(lowered.body, env, {result}) or {}
            if len(self.frames) == 1 and not self.plain:
                _contexts.settle_settings(self)
                refuse_unfinished(self)
                self.refuse_lent({})
        except NotSpecializable as reason:
            reason.origin = reason.origin or self.origin
            reason.raises = None  # what the function has done before is not known here
            if again and reason.code is None and not self.plain:
                reason.code = code  # with a function of its own it may be otherwise
            raise
        finally:
            self.frames.pop()
            self.origin = origin
        if result not in env:
            is_left = bool(self.frames) and self.leaves > before
            if self.protected or self.rehearsed or is_left:
                raise Unreached
            raise Unsound.RAISES(f"{code.co_name} always raises an error")
        if not self.frames:
            self.demand_value(env[result])
        return env[result]

    def block(self, body: list[ir.Statement], env: Env, after: set[str]) -> Env | None:
        """Write a block; return the variables at its end, or `None` where that is not reached."""
        if body and isinstance(body[-1], ir.Raise) and not (is_left(body) or self.protected):
            body = body[-1:]  # the tape runs it all again, the construction of the error too
        context = self.context
        try:
            return self.statements(body, self.rests(body, after), dict(env))
        finally:
            self.context = context

    def rests(self, body: list[ir.Statement], after: set[str]) -> list[set[str]]:
        """Return for each statement the variables that may be read after it."""
        rest = [after]
        for s in reversed(body):
            rest.append(live([s], rest[-1], self.at_break))
        return rest[-2::-1]

    def statements(self, body: list[ir.Statement], rest: list[set[str]], env: Env) -> Env | None:
        """Write statements, after each of which some variables may be read."""
        for s, needed in zip(body, rest, strict=True):
            self.origin = s.origin if hasattr(s.origin, "lineno") else self.origin
            target = getattr(s, "target", ir.DISCARD)
            before = env.get(target)
            try:
                done = self.statement(s, env, needed)
            except Unreached:
                done = None
            if done is None:
                return None
            env = done
            if before is not None and is_cell(before) and env[target] is not before:
                assign(self, before, env[target])
                env[target] = before
            if env.get(target) in self.iterators and not self.is_ours(target):
                raise Unsound.ITERATOR(
                    f"`{target}` is an iterator that is assigned in one branch or iteration: make "
                    "a list of it first"
                )
        return env

    @property
    def at_break(self) -> set[str]:
        return {*self.breaks[-1][0]} if self.breaks else set()

    def statement(self, s: ir.Statement, env: Env, after: set[str]) -> Env | None:
        self.inputs.steps += 1
        if self.inputs.steps > self.inputs.most_steps:
            raise NotSupported.TOO_LONG("too many of its branches cannot be joined")
        match s:
            case ir.Move(_, target, source):
                env[target] = x = not_asked(self, source, env)
                if isinstance(x.fact, ListOf) and is_temporary(x.name) and stem_of(target):
                    x.name = self.name(stem_of(target))
            case ir.Call(
                _, target, ir.Intrinsic("operator.truth"), [test]
            ):  # in a test of the program
                env[target] = truth_asked(self, self.atom(test, env))
            case ir.Call(_, target, ir.Intrinsic("enter_context"), [manager]):
                env[target] = _contexts.enter(self, self.atom(manager, env))
            case ir.Call(_, target, ir.Intrinsic("exit_context"), [manager, raised]):
                error = self.atom(raised, env)
                env[target] = _contexts.leave(self, self.atom(manager, env), error)
            case ir.Call():
                self.called(s, env)
            case ir.Apply(_, target, function, arguments, keywords):
                given, named = self.atom(arguments, env), [self.atom(x, env) for x in keywords]
                if given.contents is not None and not named:  # `zip(*rows)`
                    env[target] = columns(self, given)
                    return env
                if given.items is None or not all(map(_dicts.is_dict, named)):
                    raise NotSupported.UNKNOWN_LENGTH(
                        "a call has `*` or `**` of something whose length or keys are not fixed"
                    )
                kws = _calls.joined_keywords([_dicts.entries_of_dict(x) for x in named])
                found = self.call(self.atom(function, env), [*given.items], kws)
                env[target] = own_result(self, found)
            case ir.Build(_, target, kind, items):
                env[target] = made = self.build(kind, [self.atom(x, env) for x in items])
                self.titles[made] = stem_of(target)
            case ir.GetAttribute(_, target, value, name):
                env[target] = self.attribute(self.atom(value, env), name)
            case ir.GetItem(_, target, value, index):
                x, i = self.atom(value, env), self.atom(index, env)
                env[target] = own_result(self, self.item(x, i, stem_of(target)))
            case ir.SetItem(_, value, index, source):
                store(self, *[self.atom(x, env) for x in (value, index, source)])
            case ir.SetAttribute(_, value, name, source):
                x = self.atom(value, env)
                _objects.set_attribute(self, x, name, self.atom(source, env))
            case ir.Closure(_, target, _, _, defaults):
                env[target] = closure(self, s, [self.atom(x, env) for x in defaults], env)
            case Begin(_, target):
                env[target] = new_cell(self)
            case Define():
                self.defined(s, env)
            case ir.Delete(_, name):
                self.atom(ir.Name(name), env)
                if name in after or is_cell(env[name]):
                    raise Unsound.UNSET(f"`{name}` may be read after `del`")
                del env[name]
            case Attempt() if self.handlers:
                return interpret_attempt(
                    self, s, env, after, self.at_break,
                    lambda needed: self.statements(s.first, self.rests(s.first, needed), dict(env)),
                )  # fmt: skip
            case Attempt():
                return self.tried(s, env, after)
            case ir.If(_, test, body, orelse):
                return interpret_branch(self, s, self.atom(test, env), body, orelse, env, after)
            case Walk(_, target, iterable, body):
                return iterate(self, s, target, self.atom(iterable, env), body, env, after)
            case ir.While(_, _, _, body, _):
                return loop_while(self, s, body, env, after)
            case ir.Break():
                self.leave_loop(env)
                return None
            case ir.Raise():
                raise_error(self, s, env)
                return None
            case _:
                raise NotSupported.STATEMENT(
                    f"it has a statement of the type {type(s).__name__.lower()}"
                )
        return env

    def called(self, s: ir.Call, env: Env) -> None:
        """Write a call; an operator that changes an array writes to it."""
        asked = asked_for_nothing(self, s, env)
        if asked is not None:
            env[s.target] = asked
            return
        xs = [self.atom(x, env) for x in s.arguments]
        kws = {name: self.atom(x, env) for name, x in s.keywords}
        stem = stem_of(s.target) if s.target != ir.DISCARD else ""
        f = self.atom(s.function, env)
        by_name = not isinstance(s.function, ir.Intrinsic)
        of = None if by_name or not xs[0].is_array else IN_PLACE.get(f.sample)
        f = f if of is None else constant(of.function)
        env[s.target] = own_result(self, self.call(f, xs, kws, stem))
        if of is not None:
            env[s.target] = changed(self, xs[0], env[s.target], s.target, env)

    def leave_loop(self, env: Env) -> None:
        """Write a `break`: what the variables of the loop are by then, and the stop."""
        names, ends, objects = self.breaks[-1]
        self.refuse_lent(self.lent_before[-1])
        now = End({**env, **self.places(objects)}, self.tables())
        own = [x for name, x in now.items() if name in names]
        hold_all(self, [*own, *self.places_changed(objects).values()])
        ends.append(now)
        pairs = [
            pair for name, phi in names.items() if name in now
            for pair in moves_to(phi, now[name])
        ]  # fmt: skip
        self.note_moved([source for _, source in pairs])
        assert self.loop is not None
        self.out.append(Record(self.origin, self.loop))
        self.out.append(Moves(self.origin, pairs))
        self.out.append(Stop(self.origin))

    def tried(self, s: Attempt, env: Env, after: set[str]) -> Env | None:
        """Write a statement with what follows it, or, where it always raises, what handles that."""
        context, length = self.context, len(self.out)
        try:
            done = self.statements(s.first, [after], dict(env))
        except NotSpecializable as reason:
            if reason.raises is None or (len(self.out) != length and not is_run_before(s, reason)):
                raise
            self.context = context
            return self.block(s.body, {**env, s.kind: constant(reason.raises)}, after)
        found = None if done is None else self.block(s.orelse, done, after)
        self.context = context
        return found

    def defined(self, s: Define, env: Env) -> None:
        """Write a `class` statement, whose body is written."""
        left = {name: self.atom(x, env) for name, x in s.entries if x.id in env}
        kind = _made_classes.define(self, s, [self.atom(x, env) for x in s.bases], left)
        env[s.target] = kind
        assign(self, env[s.cell.id], kind)

    # -- calls ---------------------------------------------------------------------------------

    def call(self, f: Value, xs: list[Value], kws: dict[str, Value], stem: str = "") -> Value:
        """Write a call, in the way that its function asks for; return its value."""
        if f.is_object:
            return _calls.call_object(self, f, xs, kws, stem)
        if not f.is_constant:
            raise NotSupported.UNKNOWN_CALLEE("which function it calls is known only as it runs")
        return _calls.call(self, f.sample, xs, kws, stem)

    def body_of(self, f: Any, xs: list[Value], kws: dict[str, Value] | None = None) -> Value:
        env = self.bind(f, xs, kws or {})
        if isinstance(f, Local):
            return self.function(f.code, f.globals, env)
        wrapper = f if f.__closure__ and hasattr(f, "__wrapped__") else None
        return self.function(f.__code__, f.__globals__, env, wrapper)

    def inline(self, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value:
        """Write the body of a Python function in the place of its call."""
        if not isinstance(f, Local) and not is_settled(self, f.__globals__):
            self.inputs.guard_function(f)
        if self.inputs.recursive and not self.plain:
            code = f.code if isinstance(f, Local) else f.__code__
            if code in self.inputs.recursive:
                return recursive_call(self, f, code, self.bind(f, xs, kws))
        return self.body_of(f, xs, kws)
