"""From normalized code to typed code: each statement is run on what is known of its operands.

Calls of Python functions are put in the place of the call, branches whose test is known vanish,
and every call that a gradient passes through gets the way back from its rule.
"""

import ast
import builtins
import operator
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from zygote_lite import _ir as ir
from zygote_lite._intrinsics import INTRINSICS
from zygote_lite._optimize import _calls, _lists
from zygote_lite._optimize._loops import Stopping, is_left, iterate, repeat
from zygote_lite._optimize._nodes import (
    Branch,
    Loop,
    Moves,
    Node,
    Op,
    Record,
    Stop,
    Store,
    add_at_ends,
    leaves,
)
from zygote_lite._optimize._normalize import live
from zygote_lite._optimize._pulls import snapshot
from zygote_lite._optimize._runtime import UNSET, abandon, has_value, same_shape
from zygote_lite._optimize._sources import (
    Inputs,
    attribute_that_stays,
    is_settled,
    lowered_code,
)
from zygote_lite._optimize._transfer import (
    Result,
    is_elementwise,
    may_hold,
    may_share,
    shares_memory,
)
from zygote_lite._optimize._values import (
    TRUTHS,
    UNKNOWN,
    ArrayOf,
    Fact,
    ListOf,
    Local,
    Method,
    Other,
    Scalar,
    Unfit,
    Value,
    can_carry,
    constant,
    is_temporary,
    join_facts,
    shape_root,
    shares_axes,
    stem_of,
    structure,
    vague,
)
from zygote_lite._source import definition_of

Env = dict[str, Value]
_MOST = 1000  # operations
_DEEP = 20  # calls inside calls
_SHAPE = 5  # the place of the option `shape` of `np.zeros_like`
_IN_PLACE = {
    f"operator.i{name}"
    for name in ("add", "sub", "mul", "truediv", "pow", "floordiv", "mod", "matmul")
}
_PLAIN = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.ModuleType,
    type,
    np.ufunc,
    types.MethodDescriptorType,
    types.GetSetDescriptorType,
    types.WrapperDescriptorType,
)


class Interpreter:
    """Write typed code for one specialization.

    Attributes:
        inputs: what the code is given, besides the user's arguments, and what is guarded.
        out: the nodes of the block that is being written.
        loop: the loop that it is in.
        written: the arrays that are written in place.
        reverse: whether it is the reverse pass that is being written.
    """

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.out: list[Node] = []
        self.loop: Loop | None = None
        self.written: dict[Value, int] = {}
        self.used: set[str] = set()
        self.depth: list[Any] = []
        self.reverse = False
        self.known: dict[Any, Value] = {}
        self.definitions: dict[Value, Op] = {}
        self.origin: ast.AST = ast.Pass()
        self.breaks: list[tuple[list[Value], Stopping]] = []
        self.poles = False  # whether the reverse pass may meet a pole of a rule
        self.recording = False  # of the reverse pass, to run it backwards in its turn
        self.twice = False  # whether that is to come
        self.compiled = False  # whether the code is for Numba
        self.uncertain: set[Value] = set()  # variables that may have no value
        self.operations = 0
        self.homes: dict[Value, list[Node]] = {}  # of lists, the block that they are made in
        self.shapes: dict[Any, Value] = {}
        self.unified: list[Value] = []
        self.changed: list[Value] = []  # arrays and lists of which a write tells something new
        self.uniform = False  # whether lists are taken as lists of any length
        self.walked: list[Value] = []  # what a loop walks over
        self.moved: set[Value] = set()  # values that another variable takes on some path
        self.iterators: dict[Value, list[Value]] = {}  # they are gone through once: over what
        self.plain = False  # in the body of a rule, through which no gradient passes
        self.frames: list[set[int]] = []
        self.results: list[str] = []
        self.assigned: list[tuple[Counter[str], set[str]]] = []
        self.globals_of: dict[str, Any] = {}

    @property
    def follows(self) -> bool:
        """Whether what depends on a differentiated argument is to be run backwards."""
        return self.recording or not (self.plain or self.reverse)

    # -- names and nodes -----------------------------------------------------------------------

    def name(self, stem: str) -> str:
        """Return a name that is not taken yet, and take it."""
        name, n = stem, 0
        while name in self.used:
            n += 1
            name = f"{stem}_{n}" if stem[-1:].isdigit() else f"{stem}{n}"
        self.used.add(name)
        return name

    def temporary(self) -> str:
        """Return the name of a new value that the user has no name for."""
        n = 1
        while f"t{n}" in self.used:
            n += 1
        return self.name(f"t{n}")

    def value(self, fact: Fact, sample: Any, stem: str = "") -> Value:
        """Return a new value, made in the loop that is being written."""
        name = self.name(stem) if stem else self.temporary()
        value = Value(fact, sample, name)
        value.scope = self.loop
        value.reverse = self.reverse
        return value

    def write(
        self, result: Result, f: Any, xs: list[Value], kws: dict[str, Value], stem: str = "",
    ) -> Op:  # fmt: skip
        """Write an operation, and return it."""
        # what is looked at when the code runs is the dtype and the number of axes, not their length
        fact = result.fact if result.certain else vague(result.fact)
        target = self.value(fact, result.sample, stem)
        op = Op(self.origin, target, f, xs, kws, check=not result.certain)
        op.required = not self.plain and not self.reverse
        operands = [part for y in (*xs, *kws.values()) for part in leaves(y)]
        if result.view is not None:
            target.base = self.storage(xs[result.view])
        elif not target.is_array:
            self.refuse_views_inside(target, operands)
        elif f is operator.getitem and not xs[0].is_array:
            target.fresh = False  # what is in a structure may be known by another name
        else:
            target.fresh = True
            depends = may_share(f, kws) or isinstance(f, types.FunctionType)
            for x in operands:
                if x.is_array and (depends or shares_memory(target.sample, x.sample)):
                    target.base, target.fresh = self.storage(x), False
        self.operations += 1
        if self.operations > _MOST:
            raise Unfit("its code grows too long")
        if target.is_array:
            self.note_shape(target, f, xs, kws)
        self.out.append(op)
        self.definitions[target] = op
        return op

    def refuse_views_inside(self, target: Value, operands: list[Value]) -> None:
        """Refuse a structure that may hold a view of an array that the function writes to."""
        if self.reverse or target.is_scalar:
            return
        written = [x for x in operands if x.is_array and (x.made or (x.base and x.base.made))]
        if any(may_hold(target.sample, x.sample) for x in written):
            raise Unfit("a structure holds a view of an array that may be written to")

    def storage(self, x: Value) -> Value:
        """Return the array whose memory a value may share: for a copy of one, the one copied."""
        x = x.base or x
        made = self.definitions.get(x)
        if made is not None and made.snapshot_of is not None:
            return self.storage(made.snapshot_of)
        return x

    def note_shape(self, target: Value, f: Any, xs: list[Value], kws: dict[str, Value]) -> None:
        """Note which other value surely has the shape of a new one."""
        arrays = [x for x in xs if x.is_array]
        if f in (np.zeros_like, np.ndarray.copy, np.ones_like, np.empty_like, np.copy):
            if "shape" not in kws and len(xs) < _SHAPE:
                target.shaped = shape_root(xs[0])
        elif f is operator.getitem and xs[0].is_array:
            key = (shape_root(xs[0]), _key_of_part(xs[1]))
            if key[1] is not None:
                root = self.shapes.setdefault(key, target)
                target.shaped = None if root is target else shape_root(root)
        elif f in (np.broadcast_to, np.full, np.reshape, np.ndarray.reshape):
            made = self.definitions.get(xs[0 if f is np.full else 1])
            if made is not None and made.function is _calls.attribute_of("shape"):
                target.shaped = shape_root(made.arguments[0])
        elif is_elementwise(f) and arrays:
            roots = {shape_root(x) for x in arrays}
            if len(roots) > 1 and not self.reverse and not self.plain:
                self.unify(arrays)
                roots = {shape_root(x) for x in arrays}
            if len(roots) == 1:
                target.shaped = roots.pop()

    def unify(self, arrays: list[Value]) -> None:
        """Demand that arrays of uncertain shape have the one shape that they have now."""
        first = arrays[0]
        for x in arrays[1:]:
            a, b = shape_root(first), shape_root(x)
            facts = (first.fact, x.fact)
            uncertain = any(isinstance(f, ArrayOf) and UNKNOWN in f.axes for f in facts)
            if a is b or not uncertain or first.sample.shape != x.sample.shape:
                continue
            self.demand_same_shape(first, x)
            b.shaped = a
            self.unified.append(b)

    def demand_same_shape(self, x: Value, y: Value) -> None:
        """Leave the code where two arrays have different shapes."""
        nothing = self.value(Other(type(None)), None)
        self.out.append(Op(self.origin, nothing, same_shape, [x, y], required=True))

    def demand_value(self, x: Value) -> None:
        """Leave the code where a variable that is read has no value: once on each path."""
        key = (has_value, x)
        if self.plain or x not in self.uncertain or key in self.known:
            return
        self.known[key] = nothing = self.value(Other(type(None)), None)
        self.out.append(Op(self.origin, nothing, has_value, [x], required=True))

    # -- functions -----------------------------------------------------------------------------

    def function(self, code: Any, globals_: dict[str, Any], env: Env) -> Value:
        """Write the body of a function, and return the value of its result."""
        if code in self.depth or len(self.depth) > _DEEP:
            raise Unfit(f"{code.co_name} calls itself")
        if any(x in self.iterators for x in env.values()):
            raise Unfit(f"{code.co_name} is given an iterator, which can be gone through but once")
        body, result, counts = lowered_code(code, globals_)
        self.depth.append(code)
        self.results.append(result)
        self.assigned.append((counts, {*env}))
        outer, self.globals_of = self.globals_of, globals_
        self.frames.append({id(leaf) for x in env.values() for leaf in leaves(x)})
        origin = self.origin
        try:
            env = self.block(body, env, {result}) or {}
        finally:
            self.depth.pop()
            self.results.pop()
            self.assigned.pop()
            self.frames.pop()
            self.globals_of, self.origin = outer, origin
        if result not in env:
            raise Unfit(f"{code.co_name} always raises")
        return env[result]

    def block(self, body: list[ir.Statement], env: Env, after: set[str]) -> Env | None:
        """Write a block; return the variables at its end, or `None` where that is not reached."""
        if body and isinstance(body[-1], ir.Raise) and not is_left(body):
            body = body[-1:]  # the generic engine runs it all again: what the error is made of too
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
            target = getattr(s, "target", "_")
            if env.get(target) in self.iterators and not self.is_ours(target):
                raise Unfit(f"`{target}` is an iterator, which can be gone through but once")
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
                stem = target if target != "_" and not is_temporary(target) else ""
                in_place = isinstance(function, ir.Intrinsic) and function.path in _IN_PLACE
                if in_place:
                    self.refuse_shared(xs[0], target, env)
                env[target] = self.call(self.atom(function, env), xs, kws, stem)
                if in_place and xs[0].is_array:
                    self.refuse_other_kind(xs[0], env[target])
            case ir.Apply(_, target, function, arguments, keywords):
                given, named = self.atom(arguments, env), self.atom(keywords, env)
                if given.items is None or not isinstance(named.sample, dict):
                    raise Unfit("a call with `*` of something of unknown length")
                kws = self.entries(named)
                env[target] = self.call(self.atom(function, env), [*given.items], kws)
            case ir.Build(_, target, kind, items):
                env[target] = self.build(kind, [self.atom(x, env) for x in items])
            case ir.GetAttribute(_, target, value, name):
                env[target] = self.attribute(self.atom(value, env), name)
            case ir.GetItem(_, target, value, index):
                x, i = self.atom(value, env), self.atom(index, env)
                stem = "" if is_temporary(target) else target
                env[target] = _calls.item(self, x, i, stem)
            case ir.SetItem(_, value, index, source):
                self.store(self.atom(value, env), self.atom(index, env), self.atom(source, env))
            case ir.Closure(_, target, definition, captured, defaults):
                values = [self.atom(x, env) for x in defaults]
                times, at_entry = self.assigned[-1]
                if any(times[name] + (name in at_entry) > 1 for name in captured):
                    raise Unfit("a variable that a function defined inside reads is rebound")
                around = {name: env[name] for name in captured if name in env}
                code = _code_of(self.depth[-1], definition)
                if code is None:
                    raise Unfit("a class or generator expression inside")
                local = Local(code, self.globals_of, around, values)
                env[target] = constant(local)
                around.setdefault(target, env[target])
            case ir.If(_, test, body, orelse):
                return self.branch(s, self.atom(test, env), body, orelse, env, after)
            case ir.For(_, target, iterable, body, _):
                return iterate(self, s, target, self.atom(iterable, env), body, env, after)
            case ir.While(_, _, _, body, _):
                return repeat(self, s, None, body, env, after, lambda turn: turn)
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
                raise Unfit(f"a statement {type(s).__name__.lower()}")
        return env

    def atom(self, atom: ir.Atom, env: Env) -> Value:
        match atom:
            case ir.Name(name):
                if name not in env:
                    raise Unfit(f"`{name}` may have no value")
                self.demand_value(env[name])
                return env[name]
            case ir.Const(value):
                return constant(value)
            case ir.Global(path):
                return self.inputs.global_value(self, self.globals_of, path)
            case ir.Intrinsic(path):
                return constant(_intrinsic(path))

    def entries(self, mapping: Value) -> dict[str, Value]:
        """Return the entries of a mapping whose keys are known."""
        if mapping.items is None:
            if mapping.is_constant and not mapping.sample:
                return {}
            raise Unfit("a call with `**` of something unknown")
        return {k.sample: v for k, v in zip(mapping.items[::2], mapping.items[1::2], strict=True)}

    def build(self, kind: str, items: list[Value]) -> Value:
        if any(x in self.iterators for x in items):
            raise Unfit(f"a {kind} of iterators, which can be gone through but once")
        if kind == "dict":
            entries: dict[Any, tuple[Value, Value]] = {}
            for k, v in _pairs(items):
                if not k.is_constant:
                    raise Unfit("a dict whose keys are computed")
                entries[k.sample] = (entries.get(k.sample, (k, v))[0], v)
            value = Value(Other(dict), {key: v.sample for key, (_, v) in entries.items()})
            value.items = [part for pair in entries.values() for part in pair]
            value.is_constant = not items
            return value
        if kind == "set":
            raise Unfit("a set")
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
            raise Unfit("it appends to what it walks over")
        if self.homes.get(x) is not self.out:
            raise Unfit("it appends to a list that it has not made in the same block")
        assert x.items is not None
        x.items.append(item)
        x.sample.append(item.sample)
        x.active = x.active or item.active
        return constant(None)

    def attribute(self, x: Value, name: str) -> Value:
        if x.is_array:
            return _calls.array_attribute(self, x, name)
        if name == "real" and isinstance(x.fact, Scalar) and not x.fact.classes & TRUTHS:
            return x
        if x.is_scalar or x.items is not None or isinstance(x.fact, ListOf):
            value = constant(Method(x, name))
            return value
        if x.is_constant and not isinstance(x.sample, Local | Method):
            changes = isinstance(x.sample, types.ModuleType | types.FunctionType | type)
            if not changes or is_settled(self, self.globals_of):
                return constant(getattr(x.sample, name))
            found = attribute_that_stays(x.sample, name)
            owner = self.inputs.name_for(x.sample, "o")
            return self.inputs.read(self, found, f"{owner}.{name}", name)
        raise Unfit(f"the attribute {name} of a {type(x.sample).__name__}")

    def is_own(self, name: str) -> bool:
        """Return whether a variable is none of the user's."""
        return is_temporary(name) and self.is_ours(name)

    def refuse_other_kind(self, x: Value, result: Value) -> None:
        """Refuse `x += y` where `x + y` may have another dtype or shape than `x`."""
        if isinstance(x.fact, ArrayOf) and isinstance(result.fact, ArrayOf):
            alike = shape_root(x) is shape_root(result) or shares_axes(x.fact, result.fact)
            if alike and x.fact.dtype == result.fact.dtype:
                return
        raise Unfit("it changes an array in place, by an array of another kind or shape")

    def refuse_shared(self, x: Value, target: str, env: Env) -> None:
        """Refuse `x += y` on an array that another variable may hold too."""
        if not x.is_array or x.made:
            return
        others = [
            part for name, v in env.items() if name != target and not self.is_own(name)
            for part in _held(v)
        ]  # fmt: skip
        others += [*self.walked, *self.moved]
        if x.base is not None and x.base.made and self.is_own(target):
            return  # `a[i:j] += y`: what is added to is assigned to the same part
        if not x.fresh or id(x) in self.frames[-1] or any(x in (v, v.base) for v in others):
            raise Unfit("it changes an array in place that it may not have made itself")

    def store(self, x: Value, index: Value, value: Value) -> None:
        """Write `x[index] = value`, of an array that the function itself made."""
        if self.twice:
            raise Unfit("it writes in place, and is differentiated twice")
        if not x.made:
            raise Unfit("it writes to what it has not made itself")
        if isinstance(x.fact, ListOf):
            _lists.store(self, x, index, value)
            return
        if value.items is not None or not (value.is_array or value.is_scalar):
            raise Unfit("it stores something that is no number or array in an array")
        if x.active or value.active:
            if not can_carry(x.fact):
                raise Unfit("it stores a value in an array of another kind")
            if not x.active:
                self.changed.append(x)
            x.active = True
        self.written[x] = len(self.written)
        _calls.try_store(x, index, value)
        index = snapshot(self, index)
        part = self.shapes.get((shape_root(x), _key_of_part(index)))
        alike = part is not None and shape_root(part) is shape_root(value)
        self.out.append(Store(self.origin, x, index, value, alike))

    # -- calls ---------------------------------------------------------------------------------

    def call(self, f: Value, xs: list[Value], kws: dict[str, Value], stem: str = "") -> Value:
        """Write a call, in the way that its function asks for; return its value."""
        if not f.is_constant:
            raise Unfit("it calls what it was given")
        return _calls.call(self, f.sample, xs, kws, stem)

    def inline(self, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value:
        """Write the body of a Python function in the place of its call."""
        if isinstance(f, Local):
            env = _bind_local(f, xs, kws)
            return self.function(f.code, f.globals, env)
        if not is_settled(self, f.__globals__):
            self.inputs.guard_function(f)
        env = self.inputs.bind(self, f, xs, kws)
        return self.function(f.__code__, f.__globals__, env)

    def mark(self) -> Any:
        """Return what `back_to` needs to forget what is written from here on."""
        return len(self.out), set(self.used), dict(self.known), dict(self.shapes)

    def back_to(self, mark: Any) -> None:
        """Forget what was written since the mark was made."""
        length, self.used, self.known, self.shapes = mark
        del self.out[length:]

    # -- structure -----------------------------------------------------------------------------

    def nested(self, work: Callable[[], Any]) -> tuple[list[Node], Any]:
        """Write a block of its own, and return it with what `work` returned."""
        outer, self.out = self.out, []
        known, mark = dict(self.known), len(self.unified)
        try:
            return self.out, work()
        finally:
            self.out, self.known = outer, known
            while len(self.unified) > mark:  # known only where the block has been run
                self.unified.pop().shaped = None

    def branch(
        self, s: ir.If, test: Value, body: Any, orelse: Any, env: Env, after: set[str]
    ) -> Env | None:
        if test in self.iterators:
            raise Unfit("the truth of an iterator")
        if test.is_constant or test.items is not None:
            return self.block(body if test.sample else orelse, env, after)
        if test.is_array:
            raise Unfit("the truth of an array")
        first: Env | None
        second: Env | None
        then, first = self.nested(lambda: self.block(body, env, after))
        other, second = self.nested(lambda: self.block(orelse, env, after))
        node = Branch(self.origin, test, then, other)
        self.out.append(node)
        if first is None or second is None:
            return second if first is None else first
        joined = dict(env)
        left, right = [], []
        for name in sorted(after & (first.keys() | second.keys())):
            a, b = first.get(name), second.get(name)
            if a is b and a is not None:
                joined[name] = a
            else:
                joined[name] = value = self.join(a, b, name)
                if {a, b} & self.uncertain or (None in (a, b) and not self.is_ours(name)):
                    self.uncertain.add(value)
                if value is not a and a is not None:
                    left.append((value, a))
                if value is not b and b is not None:
                    right.append((value, b))
                if (a is None or b is None) and self.may_be_stale(name):
                    (left if a is None else right).append((value, constant(UNSET)))
        node.joined = [value for value, _ in (*left, *right)]
        self.note_moved([source for _, source in (*left, *right)])
        add_at_ends(then, self.origin, left)
        add_at_ends(other, self.origin, right)
        return joined

    def note_moved(self, values: list[Value]) -> None:
        """Note that another variable may hold what these variables hold."""
        self.moved.update(leaf for x in values for leaf in leaves(x) if leaf.is_array)

    def may_be_stale(self, name: str) -> bool:
        """Return whether a variable that a path leaves without a value may seem to have one.

        In a function called in a loop that is the value of an earlier turn; Numba takes zero.
        """
        return not self.is_ours(name) and (
            self.compiled or (self.loop is not None and len(self.depth) > 1)
        )

    def is_ours(self, name: str) -> bool:
        """Return whether a variable of the function that is being written is not the user's."""
        return name not in (*self.depth[-1].co_varnames, *self.depth[-1].co_cellvars)

    def join(self, a: Value | None, b: Value | None, name: str) -> Value:
        """Return the value of a variable that is one value on one path, another on the other."""
        if a is None or b is None:
            value = a if a is not None else b
            assert value is not None
            if value.items is not None or not value.name:
                raise Unfit(f"`{name}` is assigned on one path only")
            a = b = value
        if a.items is not None or b.items is not None:
            if a.items is None or b.items is None or len(a.items) != len(b.items):
                raise Unfit(f"`{name}` is one structure on one path and another on the other")
            raise Unfit(f"`{name}` is a structure that depends on the path")
        if isinstance(a.sample, Local | Method) or isinstance(b.sample, Local | Method):
            raise Unfit(f"`{name}` is a function that depends on the path")
        value = self.value(join_facts(a.fact, b.fact), a.sample, stem_of(name))
        if isinstance(value.fact, ListOf):
            raise Unfit(f"`{name}` is a list that depends on the path")
        if isinstance(value.fact, Other) and (a.is_constant or b.is_constant):
            raise Unfit(f"`{name}` depends on the path, and is no number")
        value.active = a.active or b.active
        if a.spread is not None and a.spread is b.spread:
            value.spread = a.spread
        return value


def _pairs(items: list[Value]) -> Any:
    return zip(items[::2], items[1::2], strict=True)


def _key_of_part(index: Value) -> Any:
    """Return what parts of one shape have in common; `None` where their index may be written."""
    if any(x.made or (x.base and x.base.made) for x in leaves(index)):
        return None
    return _calls.key_of(index)


def _held(x: Value) -> list[Value]:
    """Return the values that a variable keeps, in structures and in functions too."""
    if isinstance(x.sample, Local):
        inner = [*x.sample.around.values(), *x.sample.defaults]
        return [part for v in inner if v is not x for part in _held(v)]
    if isinstance(x.sample, Method):
        return _held(x.sample.owner)
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
    if f.code.co_kwonlyargcount or f.code.co_flags & 0x0C or len(xs) > len(names):
        raise Unfit("a call of a function defined inside that takes keywords alone, or any number")
    given = dict(zip(names, xs, strict=False))
    if not kws.keys() <= {*names[f.code.co_posonlyargcount :]} - given.keys():
        raise Unfit("a call with a keyword that is no parameter, or is given already")
    usual = dict(zip(names[len(names) - len(f.defaults) :], f.defaults, strict=True))
    bound = {**usual, **given, **kws}
    if len(bound) < len(names):
        raise Unfit("a call with too few arguments")
    return {**f.around, **bound}
