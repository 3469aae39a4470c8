"""Containers that the code changes, forward: each has a container of tangents beside it.

What is done to the one is done to the other: tangents are stored where values are, at the same
indices and keys. So a container with two names has one container of tangents with two names. An
item that does not move has a zero there; what is not a float or an array of floats has `None`.
"""

import copy
import operator
from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

from zygote_lite._specialize.forward.beside import (
    HEAPS,
    heap_with_tangents,
    mean_at,
    still_like,
    tangents_given,
)
from zygote_lite._specialize.forward.rules import OperationRules
from zygote_lite._specialize.rules.contributions import Mirror
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.contents import contents_in, has_active, root_of
from zygote_lite._specialize.typed.facts import FLOATS, ArrayOf, Other, Scalar
from zygote_lite._specialize.typed.functions import is_hashable
from zygote_lite._specialize.typed.nodes import Node, Op, reads_of
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.runtime import as_it_is
from zygote_lite._specialize.typed.shadows import HeldObject, arrange, places_equal
from zygote_lite._specialize.typed.structures import mapping, structure
from zygote_lite._specialize.typed.values import Value, constant, shape_root

_STORED: dict[Any, int] = {
    list.append: 1, deque.append: 1, deque.appendleft: 1, list.insert: 2, deque.insert: 2,
    operator.setitem: 2,
}  # fmt: skip
"""Which argument is stored, of what changes a container."""
_CHANGE = {
    list.extend, deque.extend, list.clear, deque.clear, dict.clear, list.reverse, deque.reverse,
    operator.delitem, arrange, OrderedDict.move_to_end,
}  # fmt: skip
_GIVES = {operator.getitem, list.pop, deque.pop, deque.popleft, dict.pop}
_MAKES = {
    list, tuple, dict, deque, OrderedDict, defaultdict, copy.copy, operator.add, operator.mul,
    operator.getitem,
}  # fmt: skip
_ONE_FLOAT = Scalar(frozenset((float, np.float64)))


def is_moving(x: Value) -> bool:
    """Return whether a value is a container in which something may move, at any depth."""
    return x.contents is not None and has_active(x.contents)


def touches_container(node: Op) -> bool:
    """Return whether an operation reads or makes a container that the code may change."""
    return any(x.contents is not None for x in (node.target, *reads_of(node)))


class ContainerRules(OperationRules):
    """Write what is done to containers of tangents."""

    def of_containers(self, node: Op) -> None:
        """Write the dual of an operation that touches containers."""
        y, f = node.target, node.function
        moves = any(map(is_moving, (y, *reads_of(node))))
        if self.builder.shadows in node.arguments:
            raise NotSupported.FORWARD("it takes a gradient of code that changes lists or dicts")
        if not (moves or y.active):
            return
        is_question = node.reverse_rule is None and not (y.active or is_moving(y))
        if is_question:
            return
        d = self.of_known_function(node) if is_hashable(f) else None
        if d is None:
            raise NotSupported.FORWARD(
                f"it calls {getattr(f, '__name__', f)} with a list, dict or set that changes"
            )
        if y.active or is_moving(y):
            self.tangents[y] = d

    def of_known_function(self, node: Op) -> Value | None:
        """Write the dual, and return what it gives; return `None` for other functions."""
        y, f, xs = node.target, node.function, node.arguments
        if f is as_it_is:
            return self.shown(node)
        if f is HeldObject:
            entries = {k.sample: self.stored(x) for k, x in _pairs_of(xs[0])}
            return self.parallel(node, [mapping(entries)])
        if f in _STORED and not isinstance(xs[1].sample, slice):
            at = _STORED[f]
            given = [self.container(xs[0]), *xs[1:at], self.stored(xs[at])]
            return self.parallel(node, given)
        if f in (*_CHANGE, operator.setitem) and isinstance(node.reverse_rule, Mirror):
            return self.parallel(node, [*map(self.along, xs)])
        if f in _MAKES and is_moving(y) and (f is not operator.getitem or _is_part(node)):
            given = [*map(self.along, xs)]
            if f is defaultdict and xs and xs[0].sample is int:
                given = [constant(float)]
            return self.parallel(node, given)
        if f in _GIVES:
            d = self.parallel(node, [*map(self.along, xs)])
            return d if y.active or is_moving(y) else constant(None)
        if f in (max, min) and len(xs) == 1:
            places = self.call_beside(Result(Other(list), []), places_equal, xs[0], y)
            return self.call_beside(Result(_ONE_FLOAT, 1.0), mean_at, self.container(xs[0]), places)
        if f is sum:
            return self.total(node)
        if f is np.array:
            self.refuse_wholes(xs[0])
            d = self.call_beside(Result(y.fact, y.sample), f, self.container(xs[0]))
            return self.like(d, y)
        return None

    def is_of_heap(self, node: Op) -> bool:
        """Return whether an operation is one of `heapq`, of a heap in which something moves."""
        is_known = is_hashable(node.function) and node.function in HEAPS
        return is_known and is_moving(node.arguments[0])

    def heap(self, node: Op) -> None:
        """Write an operation of `heapq` that brings the tangents into the order of the items."""
        y, (x, *item) = node.target, node.arguments
        given = [constant(node.function), x, self.container(x)]
        given += [part for v in item for part in (v, self.stored(v))]
        both = self.call_beside(
            Result(Other(tuple), (y.sample, y.sample)), heap_with_tangents, *given
        )
        if y.sample is not None:
            node.function, node.arguments = operator.getitem, [both, constant(0)]
            self.builder.out.append(node)
            result = Result(self.fact_beside(y), y.sample)
            self.tangents[y] = self.call_beside(
                result, operator.getitem, both, constant(1), stem=f"d{y.name}"
            )

    def shown(self, node: Op) -> Value:
        """Write the container of tangents of a display, or of a container that is given."""
        y, whole = node.target, self.builder.displayed.get(node)
        if whole is None:  # a list of numbers, or of lists of those
            return self.parallel(node, [self.whole(node.arguments[0])], tangents_given)
        if type(whole.sample) is dict:
            found = mapping({key.sample: self.stored(x) for key, x in _pairs_of(whole)})
        else:
            found = structure(type(whole.sample), [*map(self.stored, whole.items or [])])
        if found.is_constant:  # each time a container of its own
            found.is_constant = type(y.sample) is tuple
        return self.parallel(node, [found])

    def stored(self, x: Value) -> Value:
        """Return what a container of tangents has for a value that is stored."""
        if x.contents is not None:
            return self.container(x) if is_moving(x) else constant(None)
        if not (x.is_scalar or (isinstance(x.fact, ArrayOf) and x.fact.dtype.kind in "fc")):
            return constant(None)
        return self.whole(x)

    def container(self, x: Value) -> Value:
        """Return the container of tangents of a container; of one where nothing moves, zeros."""
        if not is_moving(x):
            return self.call_beside(Result(Other(type(x.sample)), x.sample), still_like, x)
        found = self.tangents.get(x)
        if found is None:
            raise NotSupported.FORWARD("a list or dict that changes has no tangent")
        return found

    def along(self, x: Value) -> Value:
        """Return an argument of what is done to a container as it is for that of the tangents."""
        return x if x.contents is None else self.container(x)

    def parallel(self, node: Op, given: list[Value], f: Any = None) -> Value:
        """Write an operation on the tangents, and return what it gives."""
        y = node.target
        result = Result(self.fact_beside(y), y.sample)
        stem = f"d{y.name}" if y.active or is_moving(y) else ""
        d = self.call_beside(result, f or node.function, *given, stem=stem, options=node.keywords)
        if y.is_array:
            d.shaped = shape_root(y)
        return d

    def call_beside(
        self, result: Result, f: Any, *xs: Value, stem: str = "",
        options: dict[str, Value] | None = None,
    ) -> Value:  # fmt: skip
        """Write a call that is made in its place, whoever reads what it gives."""
        op = self.builder.write(result, f, [*xs], options or {}, stem)
        op.required, op.target.fresh = True, f is np.array
        self.beside.add(op)
        return op.target

    def fact_beside(self, y: Value) -> Any:
        """Return what holds for the tangent of an item, or for a container of tangents."""
        if isinstance(y.fact, Scalar):
            return Scalar((y.fact.classes & FLOATS) | _ONE_FLOAT.classes)
        return y.fact

    def total(self, node: Op) -> Value:
        """Write the sum of the tangents of numbers or arrays."""
        y, d = node.target, self.container(node.arguments[0])
        if y.is_array:
            return self.like(self.call_beside(Result(y.fact, y.sample), sum, d), y)
        return self.call_beside(Result(self.fact_beside(y), 1.0), sum, d, constant(0.0))

    def refuse_wholes(self, x: Value) -> None:
        """Refuse to make an array of containers some of which have no tangents."""
        waiting = [contents_in(x)]
        while waiting:
            for slot in waiting.pop().slots.values():
                if slot.contents is not None:
                    if not has_active(slot.contents):
                        raise NotSupported.FORWARD(
                            "it makes an array of lists, of which only some are differentiated"
                        )
                    waiting.append(root_of(slot.contents))

    def given_to(self, node: Op) -> list[Value]:
        """Return the tangents that a function of the text is given, after its arguments."""
        params = [x for x in node.function.leaves if not x.is_constant]
        given = zip(params, node.arguments, strict=True)
        return [
            self.whole(x) if param.active else self.container(x)
            for param, x in given
            if param.active or is_moving(x)
        ]

    def moved_container(self, target: Value, source: Value) -> list[tuple[Value, Value]]:
        """Return the moves that give a container of tangents another name, beside its own."""
        if not is_moving(target):
            return []
        if target not in self.tangents:
            self.tangents[target] = self.builder.value(
                target.fact, target.sample, f"d{target.name}"
            )
        d = constant(None) if source.contents is None else self.container(source)
        return [(self.tangents[target], d)]

    def is_beside(self, node: Node) -> bool:
        """Return whether an operation on tangents fails only where that on the values does."""
        return node in self.beside


def _is_part(node: Op) -> bool:
    """Return whether an operation takes several items of a list."""
    return isinstance(node.arguments[1].sample, slice)


def _pairs_of(x: Value) -> list[tuple[Value, Value]]:
    items = x.items or []
    return [*zip(items[::2], items[1::2], strict=True)]
