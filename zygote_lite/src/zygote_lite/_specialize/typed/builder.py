"""Writing operations: their results, their shapes, and what must hold for them."""

import operator
import types
from abc import ABC, abstractmethod
from typing import Any, NoReturn

import numpy as np

from zygote_lite._ir import nodes as ir
from zygote_lite._ir.traits import is_elementwise, traits_of
from zygote_lite._specialize.typed.abstract_eval import (
    Result,
    may_hold,
    may_share,
    result_of,
    shares_memory,
)
from zygote_lite._specialize.typed.drafts import Draft, Env
from zygote_lite._specialize.typed.facts import (
    UNKNOWN,
    ArrayOf,
    Fact,
    Other,
    shares_axes,
    without_lengths,
)
from zygote_lite._specialize.typed.functions import attribute_of, is_hashable
from zygote_lite._specialize.typed.nodes import Op, leaves
from zygote_lite._specialize.typed.plugins import is_of_program
from zygote_lite._specialize.typed.reasons import NotSupported, Unreached, Unsound
from zygote_lite._specialize.typed.runtime import abandon, as_it_is, has_value, is_given, same_shape
from zygote_lite._specialize.typed.shape_rules import SHAPE_AT
from zygote_lite._specialize.typed.store_forwarding import value_key
from zygote_lite._specialize.typed.values import Value, shape_root

_MOST_OPERATIONS = 5000  # operations
_SHAPE = 5  # the place of the option `shape` of `np.zeros_like`


class Builder(Draft, ABC):
    """Write typed code for one specialization."""

    # -- what the interpreter does -------------------------------------------------------------

    @abstractmethod
    def apply(
        self, f: Any, xs: list[Value], kws: dict[str, Value] | None = None, stem: str = ""
    ) -> Value:
        """Write a call of a known function, and return its value."""

    @abstractmethod
    def call(self, f: Value, xs: list[Value], kws: dict[str, Value], stem: str = "") -> Value:
        """Write a call, in the way that its function asks for; return its value."""

    @abstractmethod
    def inactive(self, f: Any, xs: list[Value], kws: dict[str, Value], stem: str = "") -> Value:
        """Write a call that no gradient passes through; return its value."""

    @abstractmethod
    def body_of(self, f: Any, xs: list[Value], kws: dict[str, Value] | None = None) -> Value:
        """Write the body of a function unchanged, and return the value of its result."""

    @abstractmethod
    def inline(self, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value:
        """Write the body of a Python function in the place of its call."""

    @abstractmethod
    def block(self, body: list[ir.Statement], env: Env, after: set[str]) -> Env | None:
        """Write a block; return the variables at its end, or `None` where that is not reached."""

    @abstractmethod
    def atom(self, atom: ir.Atom, env: Env) -> Value:
        """Return the value of a variable, constant, global or intrinsic."""

    @abstractmethod
    def statements(self, body: list[ir.Statement], rest: list[set[str]], env: Env) -> Env | None:
        """Write statements, after each of which some variables may be read."""

    @abstractmethod
    def iterator(self, x: Value, hinted: bool = False) -> Value:
        """Return `iter(x)`."""

    @abstractmethod
    def advance(self, it: Value, sent: Value | None = None) -> Value | None:
        """Write what gives the next element of an iterator; return that, or `None` at its end."""

    @abstractmethod
    def build(self, kind: str, items: list[Value]) -> Value:
        """Return a new tuple, list, dict or slice."""

    @abstractmethod
    def append(self, x: Value, item: Value) -> Value:
        """Write `x.append(item)`."""

    @abstractmethod
    def store(self, x: Value, index: Value, value: Value) -> None:
        """Write `x[index] = value`."""

    @abstractmethod
    def item(self, x: Value, index: Value, stem: str = "") -> Value:
        """Write `x[index]`, and return it."""

    @abstractmethod
    def attribute(self, x: Value, name: str) -> Value:
        """Write `x.name`, and return it."""

    @abstractmethod
    def read(self, x: Any, expression: str, stem: str, changes: bool = False) -> Value:
        """Return a value from outside: as a constant that is guarded, or read at each entry."""

    @abstractmethod
    def read_path(self, found: Any, expression: str, path: list[str], stem: str) -> Value:
        """Return what a path of attributes leads to, from an object that an expression reads."""

    @abstractmethod
    def global_value(self, globals_: dict[str, Any], path: str) -> Value:
        """Return the value of a global, or of a path into a module."""

    @abstractmethod
    def bind(self, f: Any, xs: list[Value], kws: dict[str, Value]) -> Env:
        """Return the variables at the start of a function: its parameters, and those around it."""

    @abstractmethod
    def parameters(self, f: Any, xs: list[Value], kws: dict[str, Value], without: set[str]) -> Env:
        """Return the parameters of a function, but for those of some names that are not given."""

    # -- operations ----------------------------------------------------------------------------

    def write(
        self, result: Result, f: Any, xs: list[Value], kws: dict[str, Value], stem: str = "",
    ) -> Op:  # fmt: skip
        """Write an operation, and return it."""
        if any(self.settings.values()) or self.lent:
            self.refuse_readers(f, xs)
        # the code tests the dtype and the number of axes when it runs, not their length
        fact = result.fact if result.certain else without_lengths(result.fact)
        target = self.value(fact, result.sample, stem)
        target.lengths = result.lengths
        op = Op(self.origin, target, f, xs, kws, check=not result.certain, context=self.context)
        op.required = not self.plain and not self.reverse
        operands = [part for y in (*xs, *kws.values()) for part in leaves(y)]
        if result.view is not None:
            target.base = self.storage(xs[result.view])
        elif not target.is_array:
            if f is not as_it_is:  # what containers hold is looked at in the end, by `memory`
                self.refuse_views_inside(target, operands)
        elif f is np.broadcast_to or (f is operator.getitem and not xs[0].is_array):
            target.fresh = False  # it is read-only, or in a structure, under another name
        else:
            target.fresh = True
            depends = may_share(f, kws) or isinstance(f, types.FunctionType)
            for x in operands:
                if x.is_array and (depends or shares_memory(target.sample, x.sample)):
                    target.base, target.fresh = self.storage(x), False
        self.operations += 1
        if self.operations > _MOST_OPERATIONS:
            raise NotSupported.TOO_LONG("its transformed code grows too long")
        self.note_shape(target, f, xs, kws)
        self.out.append(op)
        self.note_state(op)
        self.definitions[target] = op
        return op

    def refuse_readers(self, f: Any, xs: list[Value]) -> None:
        """Refuse a call of the program's own code: it would not see what is changed at the end."""
        if any(map(is_of_program, [f, *(x.sample for x in xs if x.is_constant)])):
            raise Unsound.EFFECTS("it changes a global or an object that a rule of yours may read")

    def refuse_all_readers(self) -> None:
        """Refuse calls of the program's own code, and rules of its own, in all that is written.

        A call is no such reader if its source was looked at for that.
        """
        if self.inputs.asks_caches:
            self.refuse_caches()
        for op in self.definitions.values():
            if op not in self.searched:
                self.refuse_readers(op.function, op.arguments)

    def refuse_caches(self) -> None:
        """Refuse that a function under a cache is asked, which may read what the code changes."""
        raise Unsound.EFFECTS("it changes something that a function under `lru_cache` may read")

    def note_state(self, op: Op) -> None:
        """Note the state of objects where an operation may raise an error that is caught."""
        if self.protected and not self.reverse:
            self.states[op] = self.tables(), {x: tuple(x.items or ()) for x in self.homes}

    def operation(
        self, f: Any, xs: list[Value], kws: dict[str, Value] | None = None, stem: str = "",
        fact: Fact | None = None, certain: bool | None = None,
    ) -> Op:  # fmt: skip
        """Write the call `f(*xs, **kws)`; rules may know more of its result than its types."""
        result = result_of(f, xs, kws or {})
        if fact is not None:
            result.fact, result.certain = fact, True
        if certain is not None:
            result.certain = certain
        return self.write(result, f, xs, kws or {}, stem)

    def refuse_views_inside(self, target: Value, operands: list[Value]) -> None:
        """Refuse a structure that may hold a view of an array that the function writes to."""
        if self.reverse or target.is_scalar:
            return
        written = [x for x in operands if x.is_array and x.may_be_written]
        if any(may_hold(target.sample, x.sample) for x in written):
            raise Unsound.SHARED_WRITE(
                "a tuple, list or dict holds a view of an array that it may write to: store a copy"
            )

    def storage(self, x: Value) -> Value:
        """Return the array whose memory a value may share: for a copy of one, the one copied."""
        x = x.base or x
        made = self.definitions.get(x)
        if made is not None and made.snapshot_of is not None:
            return self.storage(made.snapshot_of)
        return x

    def is_own(self, x: Value) -> bool:
        """Return whether a value is not an array, or an array that the code has made itself."""
        root = self.storage(x)
        return not x.is_array or (root in self.definitions and root.fresh)

    def note_shape(self, target: Value, f: Any, xs: list[Value], kws: dict[str, Value]) -> None:
        """Note which other value surely has the shape of a new one, or has it as its value."""
        arrays = [x for x in xs if x.is_array]
        at = SHAPE_AT.get(f) if is_hashable(f) else None
        if f is attribute_of("shape"):
            target.shaped = shape_root(xs[0])
        elif not target.is_array:
            return
        elif f in (np.broadcast_to, np.full) and len(xs) > 1:
            target.spread = xs[f is np.full]
        if traits_of(f).copies_shape:
            if "shape" not in kws and len(xs) < _SHAPE:
                target.shaped = shape_root(xs[0])
        elif f is operator.getitem and xs[0].is_array:
            key = (shape_root(xs[0]), key_of_part(xs[1]))
            if key[1] is not None:
                root = self.shapes.setdefault(key, target)
                target.shaped = None if root is target else shape_root(root)
        elif at is not None and len(xs) > at and type(xs[at].sample) is tuple:
            target.shaped = xs[at].shaped
        elif is_elementwise(f) and arrays:
            roots = {shape_root(x) for x in arrays}
            if len(roots) > 1 and not self.reverse and not self.plain:
                self.unify(arrays)
                roots = {shape_root(x) for x in arrays}
            if len(roots) == 1:
                target.shaped = roots.pop()

    def unify(self, arrays: list[Value]) -> None:
        """Note that operands of an operation have one shape; demand it where that is uncertain."""
        first = arrays[0]
        for x in arrays[1:]:
            a, b = shape_root(first), shape_root(x)
            facts = (first.fact, x.fact)
            uncertain = any(isinstance(f, ArrayOf) and UNKNOWN in f.axes for f in facts)
            if a is b or first.sample.shape != x.sample.shape:
                continue
            if uncertain:
                self.demand(same_shape, first, x)
            elif not shares_axes(*facts):  # which the operation itself demands
                continue
            b.shaped = a
            self.unified.append(b)

    def reusable(self, f: Any, xs: list[Value], kws: dict[str, Value]) -> Any:
        """Return the key of a result that may be computed once; `None` where it may change."""
        if self.strong:  # (d + e) * inf is not d * inf + e * inf, which the tape computes
            return None
        operands = [*xs, *kws.values()]
        if any(x.reverse or x.may_be_written for y in operands for x in leaves(y)):
            return None
        if self.distinct and not self.reverse and any(x.is_array for x in operands):
            return None
        if not is_hashable(f) or traits_of(f).creates or (kws and self.reverse):
            return None
        parts = [value_key(x) for x in operands]
        key = None if None in parts else (f, self.context, *kws, *parts)
        known = self.known.get(key)
        shared = known is not None and known.is_array and self.distinct and not self.reverse
        return None if shared else key

    def demand(self, condition: Any, *xs: Value) -> Value:
        """Write a call that leaves the code unless something holds; return its value, `None`."""
        nothing = self.value(Other(type(None)), None)
        op = Op(self.origin, nothing, condition, [*xs], required=True)
        self.out.append(op)
        self.note_state(op)
        return nothing

    def leave(self) -> NoReturn:
        """Write that the code is left here: the tape raises the error of the program."""
        self.demand(abandon)
        self.leaves += 1
        raise Unreached

    def demand_value(self, x: Value) -> None:
        """Leave the code where a variable that is read has no value: once on each path."""
        if self.plain or not (self.uncertain or self.nullable):
            return
        if x in self.nullable and (is_given, x) not in self.known:
            self.known[is_given, x] = self.demand(is_given, x)
            self.inputs.asks = True
        unset = next((leaf for leaf in leaves(x) if leaf in self.uncertain), None)
        if unset is not None and (has_value, unset) not in self.known:
            self.known[has_value, unset] = self.demand(has_value, unset)


def key_of_part(index: Value) -> Any:
    """Return what parts of one shape have in common; `None` where their index may be written."""
    return None if any(x.may_be_written for x in leaves(index)) else value_key(index)
