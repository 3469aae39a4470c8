"""Abstract interpretation: normalized code is run on abstract values, and typed code is written.

Calls of Python functions are inlined, branches whose test is known are resolved, and each active
operation gets its reverse, from its rule.
"""

import builtins
import types
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.intrinsics import INTRINSICS
from zygote_lite._ir.operators import IN_PLACE
from zygote_lite._specialize.infer import calls as _calls
from zygote_lite._specialize.infer import contexts as _contexts
from zygote_lite._specialize.infer import inputs
from zygote_lite._specialize.infer.cells import assign, contents, is_cell, with_cells
from zygote_lite._specialize.infer.closures import closure
from zygote_lite._specialize.infer.forms import (
    Pairs,
    joined_value,
    may_be_unset,
    moves_to,
    note_unset,
    variables_in,
)
from zygote_lite._specialize.infer.inputs import attribute_that_stays, is_settled, lowered_code
from zygote_lite._specialize.infer.joins import join_attributes
from zygote_lite._specialize.infer.loops import is_left, repeat
from zygote_lite._specialize.infer.models import classes as _classes
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models import instances as _instances
from zygote_lite._specialize.infer.models import lists as _lists
from zygote_lite._specialize.infer.models import objects as _objects
from zygote_lite._specialize.infer.models.classes import of_class
from zygote_lite._specialize.infer.normalize import Walk, live
from zygote_lite._specialize.infer.tries import Attempt
from zygote_lite._specialize.infer.walks import iterate
from zygote_lite._specialize.infer.writes import refuse_other_kind, refuse_second_name, store
from zygote_lite._specialize.typed.abstract_eval import classes_of, run
from zygote_lite._specialize.typed.builder import Builder, End, Env, Frame
from zygote_lite._specialize.typed.facts import TRUTHS, ListOf, Scalar
from zygote_lite._specialize.typed.naming import is_temporary, stem_of
from zygote_lite._specialize.typed.nodes import (
    Branch,
    Moves,
    Record,
    Stop,
    add_at_ends,
    holds,
    leaves,
)
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import UNSET, abandon
from zygote_lite._specialize.typed.stand_ins import Local, Method, StandIn, Super
from zygote_lite._specialize.typed.structures import mapping, structure
from zygote_lite._specialize.typed.values import Value, constant

_DEEP = 20  # calls inside calls


class Interpreter(Builder):
    """Write typed code for one specialization, statement by statement."""

    apply = _calls.call
    inactive = _calls.inactive
    item = _calls.item
    bind = inputs.bind
    parameters = inputs.parameters
    read = inputs.read
    read_path = inputs.read_path
    global_value = inputs.global_value

    # -- functions -----------------------------------------------------------------------------

    def function(self, code: Any, globals_: dict[str, Any], env: Env) -> Value:
        """Write the body of a function, and return the value of its result."""
        if any(code == frame.code for frame in self.frames) or len(self.frames) > _DEEP:
            raise NotSupported.RECURSION(f"{code.co_name} calls itself")
        if any(x in self.iterators for x in env.values()):
            raise Unsound.ITERATOR(
                f"{code.co_name} is given an iterator, which can be walked over only once"
            )
        lowered = lowered_code(code, globals_)
        result = lowered.result
        self.inputs.caught |= lowered.caught
        if not all(is_cell(env.get(name)) for name in lowered.nonlocals):
            raise NotSupported.STATEMENT("it assigns variables of an enclosing function")
        given = {id(leaf) for x in env.values() for leaf in leaves(x)}
        self.frames.append(Frame(code, globals_, lowered.times, {*env}, given))
        origin = self.origin
        try:
            env = with_cells(self, lowered.cells, env)
            env = self.block(lowered.body, env, {result}) or {}
        except NotSpecializable as reason:
            reason.origin = reason.origin or self.origin
            reason.raises = None  # what the function has done before is not known here
            raise
        finally:
            self.frames.pop()
            self.origin = origin
        if result not in env:
            raise Unsound.RAISES(f"{code.co_name} always raises")
        return env[result]

    def block(self, body: list[ir.Statement], env: Env, after: set[str]) -> Env | None:
        """Write a block; return the variables at its end, or `None` where that is not reached."""
        if body and isinstance(body[-1], ir.Raise) and not is_left(body):
            body = body[-1:]  # the tape runs it all again, the construction of the error too
        rest = [after]
        for s in reversed(body):
            rest.append(live([s], rest[-1], self.at_break))
        context = self.context
        try:
            return self.statements(body, rest[-2::-1], dict(env))
        finally:
            self.context = context

    def statements(self, body: list[ir.Statement], rest: list[set[str]], env: Env) -> Env | None:
        """Write statements, after each of which some variables may be read."""
        for s, needed in zip(body, rest, strict=True):
            self.origin = s.origin if hasattr(s.origin, "lineno") else self.origin
            target = getattr(s, "target", ir.DISCARD)
            before = env.get(target)
            done = self.statement(s, env, needed)
            if done is None:
                return None
            env = done
            if before is not None and is_cell(before) and env[target] is not before:
                assign(self, before, env[target])
                env[target] = before
            if env.get(target) in self.iterators and not self.is_ours(target):
                raise Unsound.ITERATOR(
                    f"`{target}` is an iterator, which can be walked over only once"
                )
        return env

    @property
    def at_break(self) -> set[str]:
        return {*self.breaks[-1][0]} if self.breaks else set()

    def statement(self, s: ir.Statement, env: Env, after: set[str]) -> Env | None:
        match s:
            case ir.Move(_, target, source):
                env[target] = x = self.atom(source, env)
                if isinstance(x.fact, ListOf) and is_temporary(x.name) and stem_of(target):
                    x.name = self.name(target)
            case ir.Call(_, target, ir.Intrinsic("enter_context"), [manager]):
                env[target] = _contexts.enter(self, self.atom(manager, env))
            case ir.Call(_, target, ir.Intrinsic("exit_context"), [manager, _]):
                _contexts.leave(self, self.atom(manager, env))
                env[target] = constant(None)
            case ir.Call(_, target, function, arguments, keywords):
                xs = [self.atom(x, env) for x in arguments]
                kws = {name: self.atom(x, env) for name, x in keywords}
                stem = stem_of(target) if target != ir.DISCARD else ""
                f = self.atom(function, env)
                by_name = not isinstance(function, ir.Intrinsic)
                of = None if by_name or not xs[0].is_array else IN_PLACE.get(f.sample)
                if of is not None:  # `x += y`: `x = x + y`, where no other name is for the array
                    refuse_second_name(self, xs[0], target, env)
                    f = constant(of.function)
                env[target] = self.call(f, xs, kws, stem)
                if of is not None:
                    refuse_other_kind(xs[0], env[target])
            case ir.Apply(_, target, function, arguments, keywords):
                given, named = self.atom(arguments, env), self.atom(keywords, env)
                if given.items is None or not _dicts.is_dict(named):
                    raise NotSupported.UNKNOWN_LENGTH("a call has `*` or `**` of something unknown")
                kws = _dicts.entries_of_dict(named)
                env[target] = self.call(self.atom(function, env), [*given.items], kws)
            case ir.Build(_, target, kind, items):
                env[target] = made = self.build(kind, [self.atom(x, env) for x in items])
                self.titles[made] = stem_of(target)
            case ir.GetAttribute(_, target, value, name):
                env[target] = self.attribute(self.atom(value, env), name)
            case ir.GetItem(_, target, value, index):
                x, i = self.atom(value, env), self.atom(index, env)
                env[target] = self.item(x, i, stem_of(target))
            case ir.SetItem(_, value, index, source):
                store(self, *[self.atom(x, env) for x in (value, index, source)])
            case ir.SetAttribute(_, value, name, source):
                x = self.atom(value, env)
                _instances.set_attribute(self, x, name, self.atom(source, env))
            case ir.Closure(_, target, _, _, defaults):
                env[target] = closure(self, s, [self.atom(x, env) for x in defaults], env)
            case ir.Delete(_, name):
                self.atom(ir.Name(name), env)
                if name in after or is_cell(env[name]):
                    raise Unsound.UNSET(f"`{name}` may be read after `del`")
                del env[name]
            case Attempt():
                return self.tried(s, env, after)
            case ir.If(_, test, body, orelse):
                return self.branch(s, self.atom(test, env), body, orelse, env, after)
            case Walk(_, target, iterable, body):
                return iterate(self, s, target, self.atom(iterable, env), body, env, after)
            case ir.While(_, _, _, body, _):
                return repeat(self, s, None, body, env, after, lambda turn, _: turn)
            case ir.Break():
                names, ends, objects = self.breaks[-1]
                now = End({**env, **self.places(objects)}, self.tables())
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
                return None
            case ir.Raise():
                self.demand(abandon)
                return None
            case _:
                raise NotSupported.STATEMENT(
                    f"it has a statement of the kind {type(s).__name__.lower()}"
                )
        return env

    def tried(self, s: Attempt, env: Env, after: set[str]) -> Env | None:
        """Write a statement with what follows it, or, where it always raises, what handles that."""
        context, length = self.context, len(self.out)
        try:
            done = self.statements(s.first, [after], dict(env))
        except NotSpecializable as reason:
            if reason.raises is None or len(self.out) != length:
                raise
            return self.block(s.body, {**env, s.kind: constant(reason.raises)}, after)
        assert done is not None
        found = self.block(s.orelse, done, after)
        self.context = context
        return found

    # -- what is read from outside -------------------------------------------------------------

    def atom(self, atom: ir.Atom, env: Env) -> Value:
        match atom:
            case ir.Name(name):
                if name not in env:
                    error = Unsound.UNSET(f"`{name}` may have no value")
                    own = not self.is_ours(name)  # and not one of a function around it
                    raise error.always(UnboundLocalError) if own else error
                x = contents(env[name], name) if is_cell(env[name]) else env[name]
                self.demand_value(x)
                return x
            case ir.Const(value):
                return constant(value)
            case ir.Global(path):
                return self.global_value(self.frames[-1].globals, path)
            case ir.Intrinsic(path):
                return constant(_intrinsic(path))

    def build(self, kind: str, items: list[Value]) -> Value:
        if any(x in self.iterators for x in items):
            raise Unsound.ITERATOR(
                f"it makes a {kind} of iterators, which can be walked over only once"
            )
        if kind == "dict":
            pairs = zip(items[::2], items[1::2], strict=True)
            value = mapping({_dicts.known_key(k): v for k, v in pairs})
            self.settle_home(value)
            return value
        if kind == "set":
            raise NotSupported.CONTAINER("it makes a set")
        if kind == "list" and not items and self.uniform:
            return _lists.new_list(self)
        self.inputs.lists = self.inputs.lists or kind == "list"
        made = structure({"tuple": tuple, "list": list, "slice": slice}[kind], items)
        if kind == "list":
            self.settle_home(made)
        return made

    def append(self, x: Value, item: Value) -> Value:
        """Write `x.append(item)`, for a list whose items are known one by one."""
        if isinstance(x.fact, ListOf):
            _lists.append(self, x, item)
            return constant(None)
        if x in self.walked:
            raise Unsound.CHANGES_WHAT_IT_WALKS("it appends to a list that it walks over")
        if self.uniform and x in self.homes and self.homes[x] is not self.out:
            _lists.from_items(self, x)
            return self.append(x, item)
        if self.homes.get(x) is not self.out:
            raise Unsound.WRITES_ELSEWHERE(
                "it appends to a list that it has not made in the same block"
            )
        assert x.items is not None
        if holds(item, x):
            raise NotSupported.CONTAINER("a list is reached from its own items")
        x.items.append(item)
        x.sample.append(item.sample)
        x.active = x.active or item.active
        return constant(None)

    def attribute(self, x: Value, name: str) -> Value:
        if x.is_array:
            return _calls.array_attribute(self, x, name)
        if x.is_object or isinstance(x.sample, Super):
            return _objects.attribute(self, x, name)
        if name == "real" and isinstance(x.fact, Scalar) and not x.fact.classes & TRUTHS:
            return x
        if x.is_scalar or x.items is not None or isinstance(x.fact, ListOf):
            if not all(hasattr(kind, name) for kind in classes_of(x)):
                raise Unsound.RAISES(f"it reads the attribute {name}, which does not exist").always(
                    AttributeError
                )
            return constant(Method(x, name))
        if x.is_constant and not isinstance(x.sample, StandIn):
            changes = isinstance(x.sample, types.ModuleType | types.FunctionType | type)
            if not changes or is_settled(self, self.frames[-1].globals):
                return constant(run(getattr, [x.sample, name], {}))
            if isinstance(x.sample, type) and type(of_class(x.sample, name)) is classmethod:
                return _classes.class_method(self, x, name)
            found = attribute_that_stays(x.sample, name)
            owner = self.inputs.name_for(x.sample, "o")
            return self.read(found, f"{owner}.{name}", name)
        raise NotSupported.ATTRIBUTE(
            f"it reads the attribute {name} of a {type(x.sample).__name__}"
        )

    # -- calls ---------------------------------------------------------------------------------

    def call(self, f: Value, xs: list[Value], kws: dict[str, Value], stem: str = "") -> Value:
        """Write a call, in the way that its function asks for; return its value."""
        if f.is_object:
            return _calls.call_object(self, f, xs, kws, stem)
        if not f.is_constant:
            raise NotSupported.UNKNOWN_CALLEE("it calls something that is not known")
        return _calls.call(self, f.sample, xs, kws, stem)

    def body_of(self, f: Any, xs: list[Value], kws: dict[str, Value] | None = None) -> Value:
        env = self.bind(f, xs, kws or {})
        if isinstance(f, Local):
            return self.function(f.code, f.globals, env)
        return self.function(f.__code__, f.__globals__, env)

    def inline(self, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value:
        """Write the body of a Python function in the place of its call."""
        if not isinstance(f, Local) and not is_settled(self, f.__globals__):
            self.inputs.guard_function(f)
        return self.body_of(f, xs, kws)

    # -- branches: each path is interpreted separately, then the variables are joined -------------

    def branch(
        self, s: ir.If, test: Value, body: Any, orelse: Any, env: Env, after: set[str]
    ) -> Env | None:
        if test in self.iterators:
            raise Unsound.ITERATOR("it asks for the truth of an iterator")
        if test.is_object:
            test = self.apply(bool, [test])
        if test.is_constant or test.items is not None:
            return self.block(body if test.sample else orelse, env, after)
        if test.is_array:
            raise NotSupported.TRUTH("it asks for the truth of an array")
        before = self.tables()
        then, first = self.nested(lambda: self.block(body, env, after))
        one = self.tables()
        self.go_back_to(before)
        other, second = self.nested(lambda: self.block(orelse, env, after))
        node = Branch(self.origin, test, then, other)
        self.out.append(node)
        if second is None:
            self.go_back_to(one)
        if first is None or second is None:
            return second if first is None else first
        joined = dict(env)
        now = self.tables()  # where paths assign to an object, it is not one and the same on both
        self.unsettled = {x for x in before if one[x] is not now[x]}
        left: Pairs = []
        right: Pairs = []
        for name in sorted(after & (first.keys() | second.keys())):
            a, b = first.get(name), second.get(name)
            if a is b and a is not None:
                joined[name] = a
                continue
            joined[name] = value = joined_value(self, a, b, name)
            unset = [x for x in (a, b) if may_be_unset(self, x)]
            if any(x is not None or not self.is_ours(name) for x in unset):
                note_unset(self, name, value)
            for known, moves in ((a, left), (b, right)):
                moves += self.moves_of(name, value, known)
        join_attributes(self, before, one, left, right)
        self.unsettled = set()
        node.joined = [value for value, _ in (*left, *right)]
        self.note_moved([source for _, source in (*left, *right)])
        add_at_ends(then, self.origin, left)
        add_at_ends(other, self.origin, right)
        return joined

    def no_value(self, name: str, joined: Value) -> Value | None:
        """Return what is assigned on a path that leaves a variable without a value, if anything.

        It may seem to have one: in a function called in a loop, that of an earlier iteration; Numba
        takes zero.
        """
        if self.is_ours(name):  # none of our own is read too early
            return constant(None)
        may_be_stale = self.compiled or (self.loop is not None and len(self.frames) > 1)
        return constant(UNSET) if may_be_stale or (joined.is_array and joined.active) else None

    def moves_of(self, name: str, joined: Value, known: Value | None) -> Pairs:
        """Return what is assigned to a variable on a path, with the value that it has there."""
        if known is not None:
            return moves_to(joined, known)
        given = [(x, self.no_value(name, x)) for x in variables_in(joined)]
        return [(x, nothing) for x, nothing in given if nothing is not None]


def _intrinsic(path: str) -> Any:
    head, *rest = path.split(".")
    value = INTRINSICS.get(head, getattr(builtins, head, None))
    for name in rest:
        value = getattr(value, name)
    return value
