"""The reverse of writes to arrays and lists: what was stored takes its cotangent from there."""

import operator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zygote_lite._specialize.reverse.accumulate import Accumulator
from zygote_lite._specialize.rules.contributions import projected
from zygote_lite._specialize.typed.facts import (
    COMPLEXES,
    FLOATS,
    Fact,
    ListOf,
    Scalar,
    may_be_complex,
    number_in,
)
from zygote_lite._specialize.typed.nodes import (
    Append,
    Node,
    Op,
    StoreItem,
)
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.runtime import projected_if_set, stayed, zeros_or
from zygote_lite._specialize.typed.store_forwarding import Sum
from zygote_lite._specialize.typed.values import (
    Value,
    constant,
    list_root,
    memory_of,
    path_of,
    shape_root,
)


@dataclass(eq=False)
class OfWrites(Accumulator):
    """Write the reverse of writes to items.

    Attributes:
        sums: the stores that add to what they write over, each with its sum.
        stays: sums that are stored so: what is added to has its cotangent already.
        outer: the arrays and lists to whose cotangents the iterations of a loop add.
    """

    sums: dict[Node, Sum] = field(default_factory=dict)
    stays: dict[Op, Value] = field(default_factory=dict)
    outer: set[Value] = field(default_factory=set)

    @property
    def out(self) -> list[Node]:
        return self.builder.out

    def append(self, node: Append) -> None:
        """Take the last item from the cotangent of a list."""
        if not node.array.active:
            return
        buffer = self.buffer(node.array)
        fact, sample = node.value.fact, node.value.sample
        if node.value.is_scalar:
            fact, sample = _number_of(node.array)
        d = self.computed(fact, sample, list.pop, buffer)
        self.builder.definitions[d].required = True
        unset = node.value in self.builder.uncertain or node.value in self.builder.absent
        if node.value.is_array and unset:
            d = self.computed(fact, sample, projected_if_set, d, node.value)
            d.shaped = shape_root(node.value)
        elif node.value.is_array and buffer not in self.builder.of_each_array:
            d = self.computed(fact, sample, zeros_or, d, node.value)
        if isinstance(node.value.fact, ListOf):
            self.cotangents[node.value] = d
            self.owned.add(d)
        elif node.value.active:
            self.add(node.value, projected(self.builder, d, node.value))

    def store(self, node: StoreItem) -> None:
        if node.array.is_array:
            self.store_in_array(node)
            return
        root, path = path_of(node.array, node.index)
        if self.cotangents.get(root) is None:
            return
        at = self.buffer(root)
        for index in path[:-1]:
            row = self.computed(ListOf(None), at.sample[0], operator.getitem, at, index)
            row.row_of = at, index
            at = row
        d = self.taken(node, at, path[-1]) if node.value.active else None
        if d is None or not self.keeps_cotangent(node):
            self.write(StoreItem(self.origin, at, path[-1], constant(0.0)))
        if d is not None:
            self.add(node.value, d)

    def store_in_array(self, node: StoreItem) -> None:
        root = memory_of(node.array)
        if self.cotangents.get(root) is None:
            return
        if node.alike and self.is_whole_store(node):
            whole = self.cotangents.pop(root)
            if node.value.active:
                self.add(node.value, whole)
            return
        at = self.part(node.array)
        self.filled.pop(at, None)
        d = self.taken(node, at, node.index) if node.value.active else None
        if d is not None and self.cotangents.get(root) in self.partial:
            self.partial.add(d)
        if d is None or not self.keeps_cotangent(node):
            self.write(StoreItem(self.origin, at, node.index, constant(0.0)))
        if d is not None:
            self.add(node.value, d)

    def is_whole_store(self, node: StoreItem) -> bool:
        """Return whether a store writes all of an array whose cotangent may be replaced."""
        is_everything = node.index.is_constant and node.index.sample is ...
        return is_everything and node.array.base is None and node.array not in self.outer

    def taken(self, node: StoreItem, at: Value, index: Value) -> Value | None:
        """Take the cotangent of what is stored from that of the array or list."""
        if isinstance(at.fact, ListOf):
            d = self.computed(*_number_of(node.array), operator.getitem, at, index)
        else:
            d = self.builder.item(at, index)
            if d.is_array:
                d = self.call(np.ndarray.copy, d)
                if self.may_repeat(index):
                    d = self.of_last(d, at, index)
                if node.alike:
                    return d
        return projected(self.builder, d, node.value)

    def of_last(self, d: Value, at: Value, index: Value) -> Value:
        """Return the cotangent of what was stored, where an index may name an entry twice."""
        if self.builder.compiled:
            raise Unsound.REPEATED_INDEX(
                "it assigns entries of an array that an index may name twice"
            )
        return self.computed(d.fact, d.sample, stayed, d, at, index)

    def keeps_cotangent(self, node: StoreItem) -> bool:
        """Return whether a store adds to what it writes over, whose cotangent is then the same."""
        if node not in self.sums or self.sums[node][0].target in self.cotangents:
            return False
        total, x = self.sums[node]
        self.stays[total] = x
        return True


def _number_of(x: Value) -> tuple[Fact, Any]:
    """Return what is known of the cotangent of a number in a list, with a sample."""
    if may_be_complex(number_in(list_root(x).fact)):
        return Scalar(FLOATS | COMPLEXES), 1.0 + 1.0j
    return Scalar(FLOATS), 1.0
