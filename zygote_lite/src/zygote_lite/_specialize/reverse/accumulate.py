"""Accumulation: the cotangents at one point of the reverse pass, and how to add to them."""

import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zygote_lite._specialize.infer.memory import Memory, is_often_view
from zygote_lite._specialize.rules.contributions import Contribution, Each, Scatter, projected
from zygote_lite._specialize.typed.abstract_eval import Result, result_of
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import (
    FLOATS,
    MANY,
    ArrayOf,
    Fact,
    ListOf,
    Scalar,
    may_be_complex,
    number_in,
    shares_axes,
)
from zygote_lite._specialize.typed.nodes import AddInto, Node, StoreItem
from zygote_lite._specialize.typed.reasons import NotSupported, Unsound
from zygote_lite._specialize.typed.runtime import duplicate, is_view, zeros, zeros_if_set
from zygote_lite._specialize.typed.structures import structure
from zygote_lite._specialize.typed.values import Value, constant, list_root, path_of, shape_root

Cotangents = dict[Value, Value]


@dataclass(eq=False)
class Accumulator:
    """Add contributions to cotangents: the first is assigned, later ones go into what is owned.

    Attributes:
        again: whether the pass will itself be differentiated: then it writes nothing in place.
        cotangents: of each value, at the point that the pass has come to.
        owned: the cotangents that nothing else shares, so that they may be added to in place.
        given: the cotangents that some value has or had.
        filled: of buffers of zeros, the places that something was assigned to, and nothing else.
        memory: which views have no cotangents of their own.
        partial: the cotangents that are zeros on some path, where the tape has none.
    """

    # The invariant: a buffer in `owned` is the cotangent of exactly one value, and no contribution
    # that is still to be used is a view of it; so `+=` on it changes nothing else. A new cotangent
    # is owned if it is `fresh` (its operation allocated it) and not in `given` (`dy` of `x + y`
    # goes to both operands: it is given to `x`, and so is not new for `y`). Ownership goes with the
    # cotangent if a reverse rule hands it to one operand, and is lost if it goes to several, or if
    # another contribution may be a view of it (`Backward.op`). What is not owned is added out of
    # place, or copied first (`buffer`).

    builder: Builder
    again: bool = False
    cotangents: Cotangents = field(default_factory=dict)
    owned: set[Value] = field(default_factory=set)
    given: set[Value] = field(default_factory=set)
    filled: dict[Value, list[tuple[int, ...]]] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    partial: set[Value] = field(default_factory=set)

    def add(self, x: Value, d: Contribution) -> None:
        """Add to the cotangent of a value; the first one is an assignment."""
        if isinstance(x.fact, ListOf):
            self.add_to_list(x, d)
            return
        if d is None or not x.active or x.is_constant:
            return
        if x.items is not None:
            raise NotSupported.STRUCTURE_COTANGENT(
                "the gradient of a tuple, list, dict or object is needed as a whole"
            )
        if isinstance(d, Scatter | Each):
            assert isinstance(d, Scatter)
            d = Scatter(d.index, self.of_its_kind(x, d.value))
            self.scatter(x, d)
            return
        d = self.of_its_kind(x, d)
        if x in self.memory.parts:
            self.add_to_part(x, d)
            return
        known, is_partial = self.cotangents.get(x), d in self.partial
        if known is not None:
            if not is_partial:
                self.partial.discard(known)
            made = self.builder.definitions.get(d)
            negated = made is not None and made.function is operator.neg and d not in self.given
            term = made.arguments[0] if made is not None and negated else d
            if known in self.owned and (known.is_array == d.is_array or x.has_no_axes):
                self.filled.pop(known, None)
                self.write(AddInto(self.origin, known, term, sign="-" if negated else "+"))
                return
            d = self.call(operator.sub if negated else operator.add, known, term)
            if is_partial and known in self.partial:
                self.partial.add(d)
        self.cotangents[x] = d
        if self.is_new(d):  # and not a sum that the program has computed itself
            self.owned.add(d)
            if x.name:
                d.name = self.builder.name("d" + x.name)
        self.given.add(d)

    def of_its_kind(self, x: Value, d: Value) -> Value:
        """Return a contribution to the cotangent of a value: that of a real one is real."""
        if not (may_be_complex(x.fact) or may_be_complex(d.fact)):
            return d
        builder = self.builder
        if self.again or builder.inner or builder.twice:
            raise NotSupported.SECOND_ORDER("it takes a second derivative of complex numbers")
        whole = x.is_array and d.is_array and may_be_complex(x.fact) != may_be_complex(d.fact)
        return projected(builder, d, x) if whole or not may_be_complex(x.fact) else d

    def add_to_part(self, x: Value, d: Value) -> None:
        """Add the cotangent of a view to that part of the cotangent of its array."""
        op = self.memory.parts[x]
        index = None
        if op.function is operator.getitem:
            x, index = op.arguments
        at = self.part(x)
        self.filled.pop(at, None)
        self.write(AddInto(self.origin, at, d, index))

    def part(self, x: Value) -> Value:
        """Return the cotangent of an array, or that part of it which belongs to a view."""
        op = self.memory.parts.get(x)
        if op is None:
            return self.buffer(x)
        whole = self.part(op.arguments[0])
        self.filled.pop(whole, None)
        taken = self.builder.operation(op.function, [whole, *op.arguments[1:]]).target
        if is_often_view(op):
            self.builder.demand(is_view, taken, whole)
        return taken

    def is_new(self, d: Value) -> bool:
        """Return whether a cotangent was computed just now, and for one value only."""
        if self.again or not d.reverse or d in self.given or d.spread is not None or d.is_constant:
            return False
        if d not in self.builder.definitions or d in self.builder.known.values():
            return False
        return d.is_scalar or d.fresh

    def add_to_list(self, x: Value, d: Contribution) -> None:
        """Add to the cotangent of a list, or of an item, of each item, or of a row."""
        root = list_root(x)
        if d is None or not root.active:
            return
        if isinstance(d, Value) and root is x and self.is_only_cotangent(x, d):
            self.cotangents[x] = d
            self.owned.add(d)
            self.given.add(d)
            return
        buffer = self.buffer(root)
        at = (x, d.index) if isinstance(d, Scatter) else x.row_of
        path = [] if at is None else path_of(*at)[1]
        value = d if isinstance(d, Value) else d.value
        index = structure(tuple, path) if path else None
        if may_be_complex(value.fact) and not may_be_complex(number_in(root.fact)):
            raise NotSupported.LIST_OPERATION("it sums real numbers of a list to a complex number")
        if not (value.is_constant and value.is_scalar and value.sample == 0):
            self.write(AddInto(self.origin, buffer, value, index, each=isinstance(d, Each)))

    def is_only_cotangent(self, x: Value, d: Value) -> bool:
        """Return whether a list is the first cotangent of another, and of that one only."""
        return x not in self.cotangents and (d in self.owned or self.is_new(d))

    def scatter(self, x: Value, d: Scatter) -> None:
        first = x not in self.memory.parts and self.cotangents.get(x) is None
        buffer = self.part(x)
        repeats = self.may_repeat(d.index)
        spread = d.value.spread
        value = spread if spread is not None and spread.is_scalar else d.value
        assigned = self.is_assigned(buffer, d.index) or (first and not repeats)
        self.write(AddInto(self.origin, buffer, value, d.index, repeats=repeats, first=assigned))
        if d.value not in self.partial:
            self.partial.discard(buffer)

    def is_assigned(self, buffer: Value, index: Value) -> bool:
        """Return whether a place of a buffer still holds zero, so that it may be assigned to."""
        place = _known_place(index)
        filled = self.filled.get(buffer) if place is not None else self.filled.pop(buffer, None)
        if place is None or filled is None:
            return False
        is_new = all(any(a != b for a, b in zip(place, x, strict=False)) for x in filled)
        filled.append(place)
        return is_new

    def may_repeat(self, index: Value) -> bool:
        """Return whether an index may name an entry more than once."""
        if index.items is not None and type(index.sample) is tuple:
            if any(map(self.counts, index.items)) and all(map(_is_row, index.items)):
                return False  # each row, or each column, is named once
            sequences = any(isinstance(part.sample, list | tuple) for part in index.items)
            return sequences or any(self.may_repeat(part) for part in index.items)
        if isinstance(index.fact, ArrayOf):
            return index.fact.dtype.kind != "b"
        return isinstance(index.sample, list | tuple | np.ndarray)

    def counts(self, x: Value) -> bool:
        """Return whether an index is `np.arange(n)`, and `n` is not one."""
        made = self.builder.definitions.get(x)
        if made is not None and made.snapshot_of is not None:
            made = self.builder.definitions.get(made.snapshot_of)
        if made is None or made.function is not np.arange or len(made.arguments) != 1:
            return False
        if made.target in self.builder.written:
            return False
        return made.target.fact == ArrayOf(np.dtype(np.intp), (MANY,))

    def buffer(self, x: Value) -> Value:
        """Return the cotangent of an array as an array that may be written to."""
        known = self.cotangents.get(x)
        if known is None:
            known = self.zero(x)
            self.filled[known] = []
            self.partial.add(known)
        elif known not in self.owned or known.is_scalar != x.is_scalar:
            is_partial, known = known in self.partial, self.copy(known, x)
            self.partial.update([known] if is_partial else [])
        self.cotangents[x] = known
        self.owned.add(known)
        self.given.add(known)
        return known

    def zero(self, x: Value) -> Value:
        """Return a zero cotangent."""
        if x.is_scalar:
            return constant(0.0)
        fact = x.fact
        if isinstance(fact, ListOf):
            return self.computed(fact, zeros(x.sample), zeros, x, name="d" + x.name)
        if x in self.builder.uncertain or x in self.builder.absent:
            return self.computed(fact, np.zeros_like(x.sample), zeros_if_set, x)
        if isinstance(fact, ArrayOf) and fact.dtype == np.float64:
            shape = self.builder.attribute(x, "shape")
            made = self.computed(fact, np.zeros(shape.sample), np.zeros, shape)
            made.shaped = shape_root(x)
            return made
        if isinstance(fact, ArrayOf) and fact.dtype.kind not in "fc":
            raise Unsound.NO_FLOAT(
                "it needs the gradient of an array of integers: make it an array of floats"
            )
        return self.call(np.zeros_like, x)

    def joined(self, d: Value | None, x: Value) -> Value:
        """Return a cotangent for a variable that stands for those of several paths.

        Where there is none, it is zero; for an array without axes it is an array. Where it is a
        whole number, as that of `x` in `x * 3` may be, it is that float.
        """
        if d is None:
            return self.zero(x)
        if may_be_complex(d.fact):
            return self.copy(d, x) if x.has_no_axes and d.is_scalar else d
        if isinstance(d.fact, Scalar) and not d.fact.classes <= FLOATS:
            number = float(d.sample)
            if d.is_constant:
                return constant(number)
            return self.computed(Scalar(frozenset((float,))), number, float, d)
        return self.copy(d, x) if x.has_no_axes and d.is_scalar else d

    def joined_in(self, block: list[Node], d: Value | None, x: Value) -> Value:
        """Return the same, computed at the end of a block of its own."""
        made, found = self.builder.nested(lambda: self.joined(d, x))
        block += made
        return found

    def copy(self, d: Value, x: Value) -> Value:
        if isinstance(x.fact, ListOf):
            f = list if isinstance(x.fact.item, ArrayOf) else duplicate
            return self.computed(x.fact, zeros(x.sample), f, d)
        if x.has_no_axes and d.is_scalar and not d.is_constant:
            return self.computed(x.fact, np.array(d.sample, x.sample.dtype), np.array, d)
        if d.spread is not None or not shares_axes(d.fact, x.fact):
            total = self.zero(x)
            self.write(AddInto(self.origin, total, d))
            return total
        return self.call(np.ndarray.copy, d)

    def named(self, x: Value, like: Value | None) -> Value:
        """Return a new variable for the cotangent of a value."""
        fact, sample = x.fact, x.sample
        if like is not None and isinstance(like.fact, ArrayOf) == isinstance(fact, ArrayOf):
            sample = like.sample
        if isinstance(fact, Scalar):
            fact = Scalar(fact.classes | {float})
        value = self.builder.value(fact, sample, "d" + x.name)
        value.shaped = shape_root(x)
        return value

    def state(self) -> Any:
        """Return what `restore` needs to forget what is written from here on."""
        definitions = dict(self.builder.definitions)
        known = dict(self.cotangents), set(self.owned), set(self.given)
        return known, definitions, self.builder.mark()

    def restore(self, state: Any) -> None:
        """Forget what was written since the state was taken; once for each state."""
        (self.cotangents, self.owned, self.given), self.builder.definitions, mark = state
        self.builder.back_to(mark)

    @property
    def origin(self) -> Any:
        return self.builder.origin

    def write(self, node: Node) -> None:
        if isinstance(node, AddInto):
            self.builder.added_to.add(node.target)
        elif isinstance(node, StoreItem):
            self.builder.added_to.add(node.array)
        self.builder.out.append(node)

    def computed(self, fact: Fact, sample: Any, f: Any, *xs: Value, name: str = "") -> Value:
        """Write a call, and return its result, of which this much is known."""
        return self.builder.write(Result(fact, sample), f, [*xs], {}, name).target

    def call(self, f: Any, *xs: Value) -> Value:
        if f in (np.zeros_like, np.ndarray.copy):
            return self.builder.write(result_of(f, [*xs], {}), f, [*xs], {}).target
        return self.builder.apply(f, [*xs])


def _known_place(index: Value) -> tuple[int, ...] | None:
    """Return the place that an index names, where it is known, counted from the start."""
    parts = [index] if index.items is None else index.items
    known = all(x.is_constant and type(x.sample) is int and x.sample >= 0 for x in parts)
    return tuple([x.sample for x in parts]) if known else None


def _is_row(x: Value) -> bool:
    """Return whether a part of an index is a number, or an array of one axis."""
    if isinstance(x.fact, ArrayOf):
        return len(x.fact.axes) == 1 and x.fact.dtype.kind in "iu"
    return isinstance(x.fact, Scalar)
