"""Abstract interpretation: normalized code is run on abstract values, and typed code is written.

Calls of Python functions are inlined, branches whose test is known are resolved, and each active
operation gets its reverse, from its rule.
"""

import ast
import builtins
import inspect
import types
from typing import Any

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.intrinsics import INTRINSICS
from zygote_lite._ir.operators import IN_PLACE
from zygote_lite._ir.source import definition_of
from zygote_lite._specialize.infer import calls as _calls
from zygote_lite._specialize.infer import inputs
from zygote_lite._specialize.infer.branches import Paths
from zygote_lite._specialize.infer.inputs import attribute_that_stays, is_settled, lowered_code
from zygote_lite._specialize.infer.loops import is_left, iterate, repeat
from zygote_lite._specialize.infer.models import dicts as _dicts
from zygote_lite._specialize.infer.models import lists as _lists
from zygote_lite._specialize.infer.models import objects as _objects
from zygote_lite._specialize.infer.normalize import Walk, live
from zygote_lite._specialize.rules.inlined import snapshot
from zygote_lite._specialize.typed.abstract_eval import run
from zygote_lite._specialize.typed.builder import Env, key_of_part
from zygote_lite._specialize.typed.nodes import Moves, Op, Record, Stop, StoreItem, leaves
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import abandon
from zygote_lite._specialize.typed.values import (
    TRUTHS,
    ArrayOf,
    ListOf,
    Local,
    Method,
    Other,
    Scalar,
    Value,
    can_carry,
    constant,
    is_temporary,
    mapping,
    shape_root,
    shares_axes,
    stem_of,
    structure,
)

_DEEP = 20  # calls inside calls


class Interpreter(Paths):
    """Write typed code for one specialization, statement by statement."""

    # -- functions -----------------------------------------------------------------------------

    def function(self, code: Any, globals_: dict[str, Any], env: Env) -> Value:
        """Write the body of a function, and return the value of its result."""
        if code in self.depth or len(self.depth) > _DEEP:
            raise NotSupported.RECURSION(f"{code.co_name} calls itself")
        if any(x in self.iterators for x in env.values()):
            raise Unsound.ITERATOR(
                f"{code.co_name} is given an iterator, which can be walked over only once"
            )
        body, result, counts = lowered_code(code, globals_)
        self.depth.append(code)
        self.results.append(result)
        self.assigned.append((counts, {*env}))
        outer, self.globals_of = self.globals_of, globals_
        self.frames.append({id(leaf) for x in env.values() for leaf in leaves(x)})
        origin = self.origin
        try:
            env = self.block(body, env, {result}) or {}
        except NotSpecializable as reason:
            reason.origin = reason.origin or self.origin
            raise
        finally:
            self.depth.pop()
            self.results.pop()
            self.assigned.pop()
            self.frames.pop()
            self.globals_of, self.origin = outer, origin
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
        env = dict(env)
        for s, needed in zip(body, reversed(rest[:-1]), strict=True):
            self.origin = s.origin if hasattr(s.origin, "lineno") else self.origin
            done = self.statement(s, env, needed)
            if done is None:
                return None
            env = done
            target = getattr(s, "target", ir.DISCARD)
            if env.get(target) in self.iterators and not self.is_ours(target):
                raise Unsound.ITERATOR(
                    f"`{target}` is an iterator, which can be walked over only once"
                )
        return env

    @property
    def at_break(self) -> set[str]:
        return {*self.breaks[-1][1]} if self.breaks else set()

    def statement(self, s: ir.Statement, env: Env, after: set[str]) -> Env | None:
        match s:
            case ir.Move(_, target, source):
                env[target] = x = self.atom(source, env)
                if isinstance(x.fact, ListOf) and is_temporary(x.name) and stem_of(target):
                    x.name = self.name(target)
            case ir.Call(_, target, function, arguments, keywords):
                xs = [self.atom(x, env) for x in arguments]
                kws = {name: self.atom(x, env) for name, x in keywords}
                stem = target if target != ir.DISCARD and not is_temporary(target) else ""
                f = self.atom(function, env)
                by_name = not isinstance(function, ir.Intrinsic)
                of = None if by_name or not xs[0].is_array else IN_PLACE.get(f.sample)
                if of is not None:  # `x += y`: `x = x + y`, where no other name is for the array
                    self.refuse_shared(xs[0], target, env)
                    f = constant(of.function)
                env[target] = self.call(f, xs, kws, stem)
                if of is not None:
                    self.refuse_other_kind(xs[0], env[target])
            case ir.Apply(_, target, function, arguments, keywords):
                given, named = self.atom(arguments, env), self.atom(keywords, env)
                if given.items is None or not _dicts.is_dict(named):
                    raise NotSupported.UNKNOWN_LENGTH("a call has `*` or `**` of something unknown")
                kws = _dicts.entries_of_dict(named)
                env[target] = self.call(self.atom(function, env), [*given.items], kws)
            case ir.Build(_, target, kind, items):
                env[target] = self.build(kind, [self.atom(x, env) for x in items])
            case ir.GetAttribute(_, target, value, name):
                env[target] = self.attribute(self.atom(value, env), name)
            case ir.GetItem(_, target, value, index):
                x, i = self.atom(value, env), self.atom(index, env)
                stem = "" if is_temporary(target) else target
                env[target] = self.item(x, i, stem)
            case ir.SetItem(_, value, index, source):
                self.store(self.atom(value, env), self.atom(index, env), self.atom(source, env))
            case ir.Closure(_, target, definition, captured, defaults):
                values = [self.atom(x, env) for x in defaults]
                times, at_entry = self.assigned[-1]
                if any(times[name] + (name in at_entry) > 1 for name in captured):
                    raise Unsound.LATE_BINDING(
                        "a variable that a function defined inside reads is rebound"
                    )
                around = {name: env[name] for name in captured if name in env}
                code = _code_of(self.depth[-1], definition)
                if code is None:
                    raise NotSupported.STATEMENT("it has a class or a generator expression inside")
                local = Local(code, self.globals_of, around, values)
                env[target] = constant(local)
                around.setdefault(target, env[target])
            case ir.If(_, test, body, orelse):
                return self.branch(s, self.atom(test, env), body, orelse, env, after)
            case Walk(_, target, iterable, body):
                return iterate(self, s, target, self.atom(iterable, env), body, env, after)
            case ir.While(_, _, _, body, _):
                return repeat(self, s, None, body, env, after, lambda turn, _: turn)
            case ir.Break():
                _, names = self.breaks[-1]
                names.ends.append(dict(env))
                pairs = [(phi, env[name]) for name, phi in names.items() if name in env]
                self.note_moved([source for _, source in pairs])
                assert self.loop is not None
                self.out.append(Record(self.origin, self.loop))
                self.out.append(Moves(self.origin, [p for p in pairs if p[0] is not p[1]]))
                self.out.append(Stop(self.origin))
                return None
            case ir.Raise():
                nothing = self.value(Other(type(None)), None)
                self.out.append(Op(self.origin, nothing, abandon, [], required=True))
                return None
            case _:
                raise NotSupported.STATEMENT(
                    f"it has a statement of the kind {type(s).__name__.lower()}"
                )
        return env

    # -- what is read from outside -------------------------------------------------------------

    def bind(self, f: Any, xs: list[Value], kws: dict[str, Value]) -> Env:
        return inputs.bind(self, f, xs, kws)

    def read(self, x: Any, expression: str, stem: str, changes: bool = False) -> Value:
        return inputs.read(self, x, expression, stem, changes)

    def read_path(self, found: Any, expression: str, path: list[str], stem: str) -> Value:
        return inputs.read_path(self, found, expression, path, stem)

    def global_value(self, globals_: dict[str, Any], path: str) -> Value:
        return inputs.global_value(self, globals_, path)

    def atom(self, atom: ir.Atom, env: Env) -> Value:
        match atom:
            case ir.Name(name):
                if name not in env:
                    raise Unsound.UNSET(f"`{name}` may have no value")
                self.demand_value(env[name])
                return env[name]
            case ir.Const(value):
                return constant(value)
            case ir.Global(path):
                return self.global_value(self.globals_of, path)
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
            self.homes[value] = self.out
            return value
        if kind == "set":
            raise NotSupported.CONTAINER("it makes a set")
        if kind == "list" and not items and self.uniform:
            return _lists.new_list(self)
        self.inputs.lists = self.inputs.lists or kind == "list"
        made = structure({"tuple": tuple, "list": list, "slice": slice}[kind], items)
        if kind == "list":
            self.homes[made] = self.out
        return made

    def append(self, x: Value, item: Value) -> Value:
        """Write `x.append(item)`, for a list whose items are known one by one."""
        if isinstance(x.fact, ListOf):
            _lists.append(self, x, item)
            return constant(None)
        if x in self.walked:
            raise Unsound.CHANGES_WHAT_IT_WALKS("it appends to a list that it walks over")
        if self.homes.get(x) is not self.out:
            raise Unsound.WRITES_ELSEWHERE(
                "it appends to a list that it has not made in the same block"
            )
        assert x.items is not None
        x.items.append(item)
        x.sample.append(item.sample)
        x.active = x.active or item.active
        return constant(None)

    def attribute(self, x: Value, name: str) -> Value:
        if x.is_array:
            return _calls.array_attribute(self, x, name)
        if x.where is not None:
            return _objects.attribute(self, x, name)
        if name == "real" and isinstance(x.fact, Scalar) and not x.fact.classes & TRUTHS:
            return x
        if x.is_scalar or x.items is not None or isinstance(x.fact, ListOf):
            value = constant(Method(x, name))
            return value
        if x.is_constant and not isinstance(x.sample, Local | Method):
            changes = isinstance(x.sample, types.ModuleType | types.FunctionType | type)
            if not changes or is_settled(self, self.globals_of):
                return constant(run(getattr, [x.sample, name], {}))
            found = attribute_that_stays(x.sample, name)
            owner = self.inputs.name_for(x.sample, "o")
            return self.read(found, f"{owner}.{name}", name)
        raise NotSupported.ATTRIBUTE(
            f"it reads the attribute {name} of a {type(x.sample).__name__}"
        )

    def is_own(self, name: str) -> bool:
        """Return whether a variable is the engine's own, and not the user's."""
        return is_temporary(name) and self.is_ours(name)

    def refuse_other_kind(self, x: Value, result: Value) -> None:
        """Refuse `x += y` where `x + y` may have another dtype or shape than `x`."""
        if isinstance(x.fact, ArrayOf) and isinstance(result.fact, ArrayOf):
            alike = shape_root(x) is shape_root(result) or shares_axes(x.fact, result.fact)
            if alike and x.fact.dtype == result.fact.dtype:
                return
        raise Unsound.IN_PLACE_KIND(
            "it changes an array in place by an array of another dtype or shape"
        )

    def refuse_shared(self, x: Value, target: str, env: Env) -> None:
        """Refuse `x += y` on an array that another variable may hold too."""
        if not x.is_array:
            return
        others = [
            part for name, v in env.items() if name != target and not self.is_own(name)
            for part in _kept_values(v)
        ]  # fmt: skip
        others += [*self.walked, *self.moved]
        if x.base is not None and x.base.made and self.is_own(target):
            return  # `a[i:j] += y`: what is added to is assigned to the same part
        if not x.fresh or id(x) in self.frames[-1] or any(x in (v, v.base) for v in others):
            raise Unsound.WRITES_TO_GIVEN(
                "it changes an array in place that it may not have made itself"
            )

    def store(self, x: Value, index: Value, value: Value) -> None:
        """Write `x[index] = value`, of an array that the function itself has created."""
        if _dicts.is_dict(x):
            _dicts.store_in_dict(self, x, index, value)
            return
        if self.twice:
            raise NotSupported.SECOND_ORDER("it writes in place, and is differentiated twice")
        if not x.made:
            raise Unsound.WRITES_TO_GIVEN("it writes to what it has not made itself")
        if isinstance(x.fact, ListOf):
            _lists.store_in_list(self, x, index, value)
            return
        if value.items is not None or not (value.is_array or value.is_scalar):
            raise NotSupported.STORED(
                "it stores something other than a number or an array in an array"
            )
        if x.active or value.active:
            if not can_carry(x.fact):
                raise Unsound.NO_FLOAT("it stores a value in an array whose entries are not floats")
            if not x.active:
                self.changed.append(x)
            x.active = True
        self.written[x] = len(self.written)
        _calls.try_store(x, index, value)
        index = snapshot(self, index)
        part = self.shapes.get((shape_root(x), key_of_part(index)))
        alike = part is not None and shape_root(part) is shape_root(value)
        self.out.append(StoreItem(self.origin, x, index, value, alike))

    # -- calls ---------------------------------------------------------------------------------

    def call(self, f: Value, xs: list[Value], kws: dict[str, Value], stem: str = "") -> Value:
        """Write a call, in the way that its function asks for; return its value."""
        if f.where is not None:
            own = _objects.function_of(self.inputs, f, "__call__")
            return _calls.call(self, own, [f, *xs], kws, stem)
        if not f.is_constant:
            raise NotSupported.UNKNOWN_CALLEE("it calls something that is not known")
        return _calls.call(self, f.sample, xs, kws, stem)

    def apply(
        self, f: Any, xs: list[Value], kws: dict[str, Value] | None = None, stem: str = ""
    ) -> Value:
        return _calls.call(self, f, xs, kws or {}, stem)

    def inactive(self, f: Any, xs: list[Value], kws: dict[str, Value], stem: str = "") -> Value:
        return _calls.inactive(self, f, xs, kws, stem)

    def item(self, x: Value, index: Value, stem: str = "") -> Value:
        return _calls.item(self, x, index, stem)

    def inline(self, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value:
        """Write the body of a Python function in the place of its call."""
        if isinstance(f, Local):
            env = _bind_local(f, xs, kws)
            return self.function(f.code, f.globals, env)
        if not is_settled(self, f.__globals__):
            self.inputs.guard_function(f)
        env = self.bind(f, xs, kws)
        return self.function(f.__code__, f.__globals__, env)


def _kept_values(x: Value) -> list[Value]:
    """Return the values that a variable keeps, in structures and in functions too."""
    if isinstance(x.sample, Local):
        inner = [*x.sample.around.values(), *x.sample.defaults]
        return [part for v in inner if v is not x for part in _kept_values(v)]
    if isinstance(x.sample, Method):
        return _kept_values(x.sample.owner)
    return leaves(x)


def _intrinsic(path: str) -> Any:
    head, *rest = path.split(".")
    value = INTRINSICS.get(head, getattr(builtins, head, None))
    for name in rest:
        value = getattr(value, name)
    return value


def _code_of(code: types.CodeType, definition: Any) -> types.CodeType | None:
    """Return the code of a function defined inside another."""
    line = min([definition.lineno, *(d.lineno for d in getattr(definition, "decorator_list", []))])
    name = getattr(definition, "name", "<lambda>")
    found = [
        c
        for c in code.co_consts
        if isinstance(c, types.CodeType) and c.co_name == name
        and c.co_firstlineno in (line, definition.lineno)
    ]  # fmt: skip
    if isinstance(definition, ast.ClassDef):
        return None
    if len(found) > 1:  # several lambdas on one line
        found = [c for c in found if _is_at(definition, c)]
    return found[0] if len(found) == 1 else None


def _is_at(definition: Any, code: types.CodeType) -> bool:
    """Return whether the source of a function is a definition, by its place."""
    found = definition_of(code)
    return (found.lineno, found.col_offset) == (definition.lineno, definition.col_offset)


def _bind_local(f: Local, xs: list[Value], kws: dict[str, Value]) -> Env:
    names = f.code.co_varnames[: f.code.co_argcount]
    if (
        f.code.co_kwonlyargcount
        or f.code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        or len(xs) > len(names)
    ):
        raise NotSupported.SIGNATURE(
            "it calls a function defined inside that takes keyword-only arguments, or any number"
        )
    given = dict(zip(names, xs, strict=False))
    if not kws.keys() <= {*names[f.code.co_posonlyargcount :]} - given.keys():
        raise Unsound.RAISES(
            "a function is called with a keyword that is no parameter, or is given twice"
        )
    usual = dict(zip(names[len(names) - len(f.defaults) :], f.defaults, strict=True))
    bound = {**usual, **given, **kws}
    if len(bound) < len(names):
        raise Unsound.RAISES("a function is called with too few arguments")
    return {**f.around, **bound}
