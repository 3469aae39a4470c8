"""Writing typed code: new values and their names, operations, and what must hold for them."""

import ast
import copy
import operator
import types
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

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
from zygote_lite._specialize.typed.contexts import NOWHERE
from zygote_lite._specialize.typed.facts import UNKNOWN, ArrayOf, Fact, Other, without_lengths
from zygote_lite._specialize.typed.functions import attribute_of, is_hashable
from zygote_lite._specialize.typed.inputs import Inputs
from zygote_lite._specialize.typed.nodes import Loop, Node, Op, leaves
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import has_value, same_shape
from zygote_lite._specialize.typed.shape_rules import SHAPE_AT
from zygote_lite._specialize.typed.store_forwarding import value_key
from zygote_lite._specialize.typed.values import Value, shape_root

_MOST_OPERATIONS = 1000  # operations
_SHAPE = 5  # the place of the option `shape` of `np.zeros_like`


_OF_ATTEMPTS = ("written", "uncertain", "moved", "iterators", "operations", "homes", "origin")

Env = dict[str, Value]
Tables = dict[Value, dict[str, Value]]
Made = TypeVar("Made")


class End(Env):
    """The variables at an end of an iteration, and the attributes of objects there."""

    def __init__(self, variables: Env, tables: Tables) -> None:
        super().__init__(variables)
        self.tables = tables


@dataclass(eq=False)
class Frame:
    """A function whose body is being written.

    Attributes:
        code: its code.
        globals: its globals.
        times: how often it assigns each variable.
        variables: those that have a value at its start.
        given: the identities of the values that these hold.
    """

    code: types.CodeType
    globals: dict[str, Any]
    times: Counter[str]
    variables: set[str]
    given: set[int]


class Builder(ABC):
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
        self.frames: list[Frame] = []  # the functions whose bodies are being written
        self.reverse = False
        self.known: dict[Any, Value] = {}
        self.definitions: dict[Value, Op] = {}
        self.origin: ast.AST = ast.Pass()
        self.breaks: list[tuple[Env, list[Env], Tables]] = []  # of loops: carried, ends, objects
        self.poles = False  # whether the reverse pass may meet a pole of a rule
        self.recording = False  # of the reverse pass, to differentiate it again
        self.twice = False  # whether that is to come
        self.strong = False  # whether a zero cotangent stays a zero where it meets an infinity
        self.compiled = False  # whether the code is for Numba
        self.distinct = False  # whether arrays that are equal are still made one by one
        self.has_islands = False  # whether the tape may answer calls inside
        self.uncertain: set[Value] = set()  # variables that may have no value
        self.operations = 0
        self.homes: dict[Value, list[Node]] = {}  # of lists, the block that they are made in
        self.titles: dict[Value, str] = {}  # of lists, the variables that they are assigned to
        self.shapes: dict[Any, Value] = {}
        self.unified: list[Value] = []
        self.changed: list[Value] = []  # arrays and lists of which a write tells something new
        self.uniform = False  # whether lists are taken as lists of any length
        self.grown: list[dict[Value, int]] = []  # for each loop, lists before what it appends
        self.walked: list[Value] = []  # what a loop walks over
        self.moved: set[Value] = set()  # values that another variable takes on some path
        self.iterators: dict[Value, list[Value]] = {}  # they are gone through once: over what
        self.objects: list[Value] = []  # those that the function makes
        self.making: list[Value] = []  # those whose `__init__` is being written
        self.assigned: set[Value] = set()  # those that are assigned to after that
        self.unsettled: set[Value] = set()  # those that the paths assign to which are joined now
        self.numbers: dict[Value, int] = {}  # of these, for names of their attributes
        self.whole: set[Value] = set()  # cotangents of lists of arrays, one for each array
        self.context = NOWHERE  # what `with` has set
        self.plain = False  # in the body of a rule, through which no gradient passes

    @property
    def follows(self) -> bool:
        """Whether what depends on a differentiated argument is to be run backwards."""
        return self.recording or not (self.plain or self.reverse)

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
        """Write the body of a function that stays as it is, and return the value of its result."""

    @abstractmethod
    def inline(self, f: Any, xs: list[Value], kws: dict[str, Value]) -> Value:
        """Write the body of a Python function in the place of its call."""

    @abstractmethod
    def block(self, body: list[ir.Statement], env: Env, after: set[str]) -> Env | None:
        """Write a block; return the variables at its end, or `None` where that is not reached."""

    @abstractmethod
    def build(self, kind: str, items: list[Value]) -> Value:
        """Return a new tuple, list, dict or slice."""

    @abstractmethod
    def append(self, x: Value, item: Value) -> Value:
        """Write `x.append(item)`."""

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
    def parameters(self, f: Any, xs: list[Value], kws: dict[str, Value], without: set[str]) -> Env:
        """Return the parameters of a function, but for those of some names that are not given."""

    # -- blocks --------------------------------------------------------------------------------

    def nested(self, work: Callable[[], Made]) -> tuple[list[Node], Made]:
        """Write a block of its own, and return it with what `work` returned."""
        outer, self.out = self.out, []
        known, mark = dict(self.known), len(self.unified)
        try:
            return self.out, work()
        finally:
            self.out, self.known = outer, known
            while len(self.unified) > mark:  # known only where the block has been run
                self.unified.pop().shaped = None

    def tables(self) -> Tables:
        """Return the attributes that the objects made inside have now."""
        return {x: x.fields for x in self.objects if x.fields is not None}

    def go_back_to(self, tables: Tables) -> None:
        """Give objects the attributes back that they had."""
        for x, fields in tables.items():
            x.fields = fields

    def places(self, objects: Iterable[Value]) -> Env:
        """Return the attributes of objects as variables, each under a name of its own."""
        found: Env = {}
        for x in objects:
            number = self.numbers.setdefault(x, len(self.numbers))
            found |= {f"{number}.{name}": value for name, value in (x.fields or {}).items()}
        return found

    def put_in_places(self, objects: Iterable[Value], places: Env) -> None:
        """Give objects the attributes that variables of theirs stand for."""
        of = {str(self.numbers[x]): x for x in objects}
        for x in of.values():
            x.fields = {}
        for place, value in places.items():
            number, _, name = place.partition(".")
            if name and number in of:
                x = of[number]
                x.fields = {**(x.fields or {}), name: value}

    def mark(self) -> Any:
        """Return what `back_to` needs to forget what is written from here on."""
        return len(self.out), set(self.used), dict(self.known), dict(self.shapes)

    def back_to(self, mark: Any) -> None:
        """Forget what was written since the mark was made."""
        length, self.used, self.known, self.shapes = mark
        del self.out[length:]

    def attempt(self) -> Any:
        """Return what `give_up` needs to forget an attempt to write the body of a function."""
        kept = {name: copy.copy(getattr(self, name)) for name in _OF_ATTEMPTS}
        lengths = len(self.unified), len(self.changed), len(self.walked)
        return self.mark(), lengths, kept, self.inputs.attempt()

    def give_up(self, attempt: Any) -> None:
        """Forget what was written since an attempt began: nothing that was there has changed."""
        mark, (unified, changed, walked), kept, inputs = attempt
        self.back_to(mark)
        self.inputs.give_up(inputs)
        while len(self.unified) > unified:
            self.unified.pop().shaped = None
        del self.changed[changed:], self.walked[walked:]
        for name, value in kept.items():
            setattr(self, name, copy.copy(value))

    def settle_home(self, x: Value) -> None:
        """Note that a list or a dict is made here: it may be changed in this block."""
        self.homes[x], x.scope = self.out, self.loop

    def note_moved(self, values: list[Value]) -> None:
        """Note that another variable may hold what these variables hold."""
        self.moved.update(leaf for x in values for leaf in leaves(x) if leaf.is_array)

    def is_ours(self, name: str) -> bool:
        """Return whether a variable of the function being written is the engine's own."""
        code = self.frames[-1].code
        return name not in (*code.co_varnames, *code.co_cellvars)

    # -- names and nodes -----------------------------------------------------------------------

    def name(self, stem: str) -> str:
        """Return a name that is not taken yet, and take it."""
        name, n = stem, 0
        while name in self.used or name in self.inputs.names:
            n += 1
            name = f"{stem}_{n}" if stem[-1:].isdigit() else f"{stem}{n}"
        self.used.add(name)
        return name

    def temporary(self) -> str:
        """Return the name of a new value that the user has no name for."""
        n = 1
        while f"t{n}" in self.used or f"t{n}" in self.inputs.names:
            n += 1
        return self.name(f"t{n}")

    def value(self, fact: Fact, sample: Any, stem: str = "") -> Value:
        """Return a new value, in the scope of the loop that is being written."""
        name = self.name(stem) if stem else self.temporary()
        value = Value(fact, sample, name)
        value.scope = self.loop
        value.reverse = self.reverse
        return value

    def write(
        self, result: Result, f: Any, xs: list[Value], kws: dict[str, Value], stem: str = "",
    ) -> Op:  # fmt: skip
        """Write an operation, and return it."""
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
        if self.operations > _MOST_OPERATIONS:
            raise NotSupported.TOO_LONG("its code grows too long")
        self.note_shape(target, f, xs, kws)
        self.out.append(op)
        self.definitions[target] = op
        return op

    def operation(
        self, f: Any, xs: list[Value], kws: dict[str, Value] | None = None, stem: str = "",
        fact: Fact | None = None, certain: bool | None = None,
    ) -> Op:  # fmt: skip
        """Write `f(*xs, **kws)` as it is; the rules may know more of its result than its types."""
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
            raise Unsound.SHARED_WRITE("a structure holds a view of an array that it may write to")

    def storage(self, x: Value) -> Value:
        """Return the array whose memory a value may share: for a copy of one, the one copied."""
        x = x.base or x
        made = self.definitions.get(x)
        if made is not None and made.snapshot_of is not None:
            return self.storage(made.snapshot_of)
        return x

    def is_own(self, x: Value) -> bool:
        """Return whether a value is no array, or one that the code has made itself."""
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
        """Demand that arrays of uncertain shape have the one shape that they have now."""
        first = arrays[0]
        for x in arrays[1:]:
            a, b = shape_root(first), shape_root(x)
            facts = (first.fact, x.fact)
            uncertain = any(isinstance(f, ArrayOf) and UNKNOWN in f.axes for f in facts)
            if a is b or not uncertain or first.sample.shape != x.sample.shape:
                continue
            self.demand(same_shape, first, x)
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
        return None if None in parts else (f, self.context, *kws, *parts)

    def demand(self, condition: Any, *xs: Value) -> Value:
        """Write a call that leaves the code unless something holds; return its value, `None`."""
        nothing = self.value(Other(type(None)), None)
        self.out.append(Op(self.origin, nothing, condition, [*xs], required=True))
        return nothing

    def demand_value(self, x: Value) -> None:
        """Leave the code where a variable that is read has no value: once on each path."""
        if self.plain or not self.uncertain:
            return
        leaf = next((leaf for leaf in leaves(x) if leaf in self.uncertain), None)
        if leaf is not None and (has_value, leaf) not in self.known:
            self.known[has_value, leaf] = self.demand(has_value, leaf)


def key_of_part(index: Value) -> Any:
    """Return what parts of one shape have in common; `None` where their index may be written."""
    return None if any(x.may_be_written for x in leaves(index)) else value_key(index)
