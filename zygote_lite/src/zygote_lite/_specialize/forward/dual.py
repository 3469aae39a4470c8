"""Dual code: each node of typed code, followed by the nodes that compute its tangent.

The code is run once, in the order of the program, so nothing is kept for later. An array that is
written in place has a tangent of its own, which is written at the same places; so views of the one
are views of the other.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from rulescore import Tangent
from zygote_lite._specialize.forward.held import ContainerRules, is_moving, touches_container
from zygote_lite._specialize.forward.lists import tangents_of_list
from zygote_lite._specialize.forward.rules import is_pullback_of_rule
from zygote_lite._specialize.infer.applied.rule_calls import AppliedRule
from zygote_lite._specialize.infer.islands import island
from zygote_lite._specialize.rules.contributions import Mirror
from zygote_lite._specialize.typed.abstract_eval import Result
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import (
    COMPLEXES,
    FLOATS,
    INTS,
    ArrayOf,
    ListOf,
    Scalar,
    may_be_complex,
)
from zygote_lite._specialize.typed.functions import Recursive, is_hashable
from zygote_lite._specialize.typed.nodes import (
    Append,
    Branch,
    Loop,
    Moves,
    Node,
    Op,
    Protected,
    Record,
    Stop,
    StoreItem,
    assigned_by,
    reads_of,
    replace,
    walk,
)
from zygote_lite._specialize.typed.raising import raised_by, raised_by_store
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.runtime import as_number_like, is_view
from zygote_lite._specialize.typed.shadows import places_equal
from zygote_lite._specialize.typed.structures import mapping, named_tuple, structure, tangent_of
from zygote_lite._specialize.typed.values import Value, constant, list_root, memory_of, shape_root

_OF_A_SHAPE = (np.zeros_like, np.ones_like, np.empty_like)  # of an array, and none of its numbers


class Dual(ContainerRules):
    """Write the dual of a block of typed code."""

    def __init__(self, builder: Builder, nodes: list[Node]) -> None:
        copies = [n for n in walk(nodes) if isinstance(n, Op) and n.snapshot_of is not None]
        super().__init__(builder, {n.target: n.snapshot_of for n in copies if n.snapshot_of})
        replace(nodes, self.originals)  # which nobody reads after a later write
        stores = [n for n in walk(nodes) if isinstance(n, StoreItem) and n.array.is_array]
        self.written = {memory_of(n.array) for n in stores if n.array.active or n.value.active}
        self.carry_written(nodes)
        self.returned: set[Value] = set()
        builder.reverse = builder.plain = True
        builder.shadows = builder.shadows or constant(None)  # which nothing of a dual needs
        # what was computed once may come later in the text
        builder.known, builder.loop = {}, None

    def carry_written(self, nodes: list[Node]) -> None:
        """Note as written what a variable is moved from that is written: it has a tangent, too.

        So tangents share memory where their primals do.
        """
        pairs = [p for n in walk(nodes) if isinstance(n, Moves) for p in n.pairs]
        loops = [n for n in walk(nodes) if isinstance(n, Loop)]
        pairs += [p for n in loops for p in zip(n.outs, n.phis, strict=True)]
        made = {target for target, _ in pairs} | {*self.builder.definitions}
        count = -1
        while count != len(self.written):
            count = len(self.written)
            for target, source in pairs:
                if memory_of(target) in self.written:
                    if memory_of(source) not in made or not (target.active and target.is_array):
                        raise NotSupported.FORWARD(
                            "an array that it writes to may be one of several"
                        )
                    self.written.add(memory_of(source))

    def block(self, nodes: list[Node], write: Callable[[Any], None] | None = None) -> list[Node]:
        """Return the dual of a block, or what `write` writes for each of its nodes."""
        outer, self.builder.out = self.builder.out, []
        known, self.builder.known = self.builder.known, dict(self.builder.known)
        try:
            for node in nodes:
                self.builder.origin, self.builder.context = node.origin, node.context
                (write or self.node)(node)
            return self.builder.out
        finally:
            self.builder.out, self.builder.known = outer, known

    def node(self, node: Node) -> None:
        """Write a node and its dual."""
        match node:
            case Op() if self.is_kept(node):
                pass  # the tangent comes in the place of what a reverse pass would need
            case Op(function=f) if f is places_equal:
                pass  # which the reverse of `max` would need
            case Op(function=f) if f is island and self.moves(node.arguments[1:]):
                self.island(node)
            case Op(function=AppliedRule()) if self.moves(node.arguments):
                raise NotSupported.FORWARD("it calls a function whose rule is handed the engine")
            case Op() if (both := self.of_island(node)) is not None:
                if node.arguments[1].sample == 0:  # and not the pullback
                    node.arguments = [both, node.arguments[1]]
                    self.builder.out.append(node)
                    self.op(node)
            case Op() if self.is_of_heap(node):
                self.heap(node)
            case Op():
                self.builder.out.append(node)
                self.op(node)
            case StoreItem():
                self.builder.out.append(node)
                self.store(node)
            case Moves():
                self.moved(node)
            case Protected():
                self.attempt(node)
            case Branch():
                node.body, node.orelse = self.block(node.body), self.block(node.orelse)
                node.joined += [self.tangents[x] for x in node.joined if x in self.tangents]
                self.builder.out.append(node)
            case Loop():
                self.loop(node)
            case Stop():
                self.builder.out.append(node)
            case Record():
                pass  # nothing is kept for later
            case Append():
                self.builder.out.append(node)
                self.appended(node)
            case _:
                raise NotSupported.FORWARD(
                    f"forward mode does not support a statement of the type {type(node).__name__}"
                )

    def attempt(self, node: Protected) -> None:
        """Write the dual of a `try`: no error of a tangent may reach the handlers of the program.

        The tangents of single operations come after all of them, where none has failed.
        """
        single = all(isinstance(n, Op) and not touches_container(n) for n in node.first)
        if not single:
            own = set(walk(node.first))
            node.first = self.block(node.first)
            made = [n for n in walk(node.first) if n not in own and not self.is_beside(n)]
            _refuse_caught(made, node)
        node.body = self.block(node.body)  # which reads no tangent of what may have failed
        after = self.block(node.first, self.op) if single else []
        node.orelse = after + self.block(node.orelse)
        node.joined += [self.tangents[x] for x in node.joined if x in self.tangents]
        self.builder.out.append(node)

    def op(self, node: Op) -> None:
        y = node.target
        if node.snapshot_of is not None:
            return
        if isinstance(node.function, Recursive):
            node.arguments += self.given_to(node)
            return
        if isinstance(node.reverse_rule, Mirror) and is_pullback_of_rule(self.builder, node):
            return  # which nobody calls
        if self.is_of_recursion(node):
            if y.active:
                self.tangents[y] = self.by_recursion(node)
            return
        if touches_container(node):
            self.of_containers(node)
            return
        if isinstance(node.reverse_rule, Mirror) and not node.active_operands:
            self.still.add(y)
            return  # an effect, such as output
        d = None
        if isinstance(y.fact, ListOf):
            moves = list_root(y).active
            d = tangents_of_list(self.builder, node, self.whole) if moves else None
        elif node.reverse_rule is not None:
            d = self.tangent(node)
        elif y.base is not None and self.of(node.arguments[0]) is not None:  # through its memory
            given = [self.whole(node.arguments[0]), *node.arguments[1:]]
            d = self.builder.operation(node.function, given, node.keywords).target
        elif is_hashable(node.function) and node.function in _OF_A_SHAPE:
            pass
        elif y.active and any(x.active for x in reads_of(node)):  # else it is, as it is written
            raise NotSupported.FORWARD(f"forward mode needs a rule for {node.function}")
        if y in self.written:
            d = self.zero(y) if d is None else self.own(d, 0)
        if d is None:
            self.still.add(y)
            return
        if self.written and self.is_apart(node) and not (d.is_constant or self.is_new(d)):
            d = self.builder.operation(np.ndarray.copy, [d]).target  # it may be written to later
        self.tangents[y] = d
        if y.base is not None and memory_of(y) in self.written:
            whole = self.of(memory_of(y))
            if whole is None:
                raise NotSupported.FORWARD(
                    "it writes to an array through a view that has no tangent"
                )
            is_part = node.function is operator.getitem and node.arguments[0].is_array
            if not is_part:  # which is a view, always
                self.builder.demand(is_view, d, whole)
        if y.name and not d.name.startswith("d" + y.name):
            self.rename(d, y)

    def is_apart(self, node: Op) -> bool:
        """Return whether an operation gives an array that shares no memory with its operands."""
        y = node.target
        is_item = node.function is operator.getitem and isinstance(node.arguments[0].fact, ListOf)
        return y.is_array and y.base is None and not is_item

    def rename(self, d: Value, y: Value) -> None:
        made = self.builder.definitions.get(d)
        if made is not None and d.reverse and not d.is_constant:
            d.name = self.builder.name("d" + y.name)

    def own(self, d: Value, count: int = 1) -> Value:
        """Return a tangent that shares no memory, so that it may be written to or returned.

        Arguments:
            d: the tangent.
            count: how many values it may be the tangent of.
        """
        if self.is_new(d, count) and d not in self.returned:
            self.returned.add(d)
            return d
        return self.builder.operation(np.ndarray.copy, [d]).target

    def is_new(self, d: Value, count: int = 0) -> bool:
        """Return whether a tangent shares memory with those of at most so many values."""
        others = sum(known is d for known in self.tangents.values())
        return d in self.builder.definitions and d.fresh and d.spread is None and others <= count

    def appended(self, node: Append) -> None:
        """Write the tangent of an item to the list of tangents."""
        at = self.of(node.array)
        if at is not None:
            value = self.whole(node.value)
            self.builder.out.append(Append(node.origin, at, value, context=node.context))

    def store(self, node: StoreItem) -> None:
        at = self.of(node.array)
        if at is None:
            if node.value.active and self.of(node.value) is not None:
                raise NotSupported.FORWARD(
                    "it stores a differentiated value in an array that has no tangent"
                )
            return
        value = self.of(node.value)
        if value is None:
            value = constant(0.0)
        self.builder.added_to.add(at)
        written = StoreItem(node.origin, at, node.index, value, node.alike, context=node.context)
        self.builder.out.append(written)

    def moved(self, node: Moves) -> None:
        """Move the tangents with their values."""
        for target, source in list(node.pairs):
            if target.contents is not None:
                node.pairs += self.moved_container(target, source)
                continue
            if source.items is not None or target.items is not None:
                if target.active:
                    raise NotSupported.FORWARD(
                        "a loop or a branch assigns a differentiated tuple, list or dict"
                    )
                continue
            if not target.active:
                continue
            if target not in self.tangents:
                self.tangents[target] = self.variable(target)
            if source.is_constant and may_be_complex(target.fact):
                d: Value | None = constant(0j) if target.is_scalar else None
            elif source.is_constant and not isinstance(source.fact, Scalar | ArrayOf):
                d = constant(0.0 if target.is_scalar else None)  # nobody reads it
            else:
                d = self.of(source)
            if d is None and memory_of(target) in self.written:
                raise NotSupported.FORWARD(
                    "it writes to an array that has no tangent after some branch"
                )
            if d is None or (target.is_array and not (d.is_array or d.is_constant)):
                d = self.zero(target if source.is_constant else source)
            node.pairs.append((self.tangents[target], self.as_number_of(d, self.tangents[target])))
        self.builder.out.append(node)

    def as_number_of(self, d: Value, variable: Value) -> Value:
        """Return a tangent as a number of the classes that a variable holds."""
        if not (isinstance(d.fact, Scalar) and isinstance(variable.fact, Scalar)):
            return d
        if d.is_constant or d.fact.classes <= variable.fact.classes:
            return d
        kind = complex if may_be_complex(d.fact) else float
        result = Result(Scalar(frozenset((kind,))), kind(d.sample))
        return self.builder.write(result, kind, [d], {}).target

    def of_result(self, y: Value) -> Value:
        """Return the tangent of the value of a function, whose arrays share memory with nothing."""
        if is_moving(y):
            raise NotSupported.FORWARD("it returns a list, dict or set that it changes")
        if type(y.sample) is dict and y.items is not None:
            parts = zip(y.sample, y.items[1::2], strict=True)
            return mapping({key: self.of_result(part) for key, part in parts})
        if y.items is not None:
            return structure(type(y.sample), [self.of_result(item) for item in y.items])
        if y.fields is not None and isinstance(y.sample, tuple | Tangent):
            fields = {name: self.of_result(part) for name, part in y.fields.items()}
            if isinstance(y.sample, tuple):
                return named_tuple(type(y.sample), [*fields.values()])
            return tangent_of(y.sample._primal, fields)
        if not (y.is_scalar or y.is_array) or y.is_constant:
            if y.is_scalar and type(y.sample) in FLOATS | COMPLEXES:
                return constant(type(y.sample)(0.0))
            return constant(None)
        if isinstance(y.fact, ArrayOf):
            d = self.of(y)
            return self.zero(y) if d is None else self.own(d)
        kind = type(y.sample)
        kinds = y.fact.classes if isinstance(y.fact, Scalar) else INTS
        if not kinds <= FLOATS and not (kinds <= COMPLEXES and len(kinds) == 1):
            raise NotSupported.FORWARD("it may return an integer: return a float")
        d, fact = self.whole(y), Scalar(frozenset((kind,)))
        if y.fact != fact:
            return self.builder.write(
                Result(y.fact, kind(d.sample)), as_number_like, [d, y], {}
            ).target
        if d.is_constant:
            return constant(kind(d.sample))
        if isinstance(d.fact, Scalar) and d.fact.classes == {kind}:
            return d
        return self.builder.write(Result(fact, kind(d.sample)), kind, [d], {}).target

    def variable(self, x: Value) -> Value:
        """Return a new variable for the tangent of a value."""
        fact: Any = x.fact
        if isinstance(fact, Scalar):
            zero = complex if may_be_complex(fact) else float
            fact = Scalar((fact.classes & (FLOATS | COMPLEXES)) | {zero})  # of an integer, a zero
        elif not isinstance(fact, ArrayOf):
            raise NotSupported.FORWARD("a differentiated variable is not a number or an array")
        d = self.builder.value(fact, x.sample, "d" + x.name)
        d.shaped = shape_root(x)
        return d

    def loop(self, node: Loop) -> None:
        if node.target is not None and node.target.active:
            raise NotSupported.FORWARD(
                "a loop iterates over a differentiated value: iterate over a range of indices"
            )
        outer, self.builder.loop = self.builder.loop, node
        try:
            node.body = self.block(node.body)
        finally:
            self.builder.loop = outer
        for phi, out in list(zip(node.phis, node.outs, strict=True)):
            d = self.tangents.get(phi)
            if d is None:
                continue
            after = Value(d.fact, d.sample, d.name)
            after.scope, after.reverse, after.shaped = self.builder.loop, True, d.shaped
            self.tangents[out] = after
            node.phis.append(d)
            node.outs.append(after)
        self.builder.out.append(node)


def _refuse_caught(tangents: list[Node], attempt: Protected) -> None:
    """Refuse tangents that may raise what the handlers of an attempt catch."""
    caught = tuple([kind for kinds in attempt.caught for kind in kinds])
    for node in tangents:
        kinds = raised_by(node) if isinstance(node, Op) else ()
        kinds = raised_by_store(node) if isinstance(node, StoreItem) else kinds
        if any(issubclass(a, b) or issubclass(b, a) for a in kinds for b in caught):
            raise NotSupported.FORWARD(
                "it catches an exception that computing the tangent may raise, too"
            )


def moves_complex(nodes: list[Node]) -> bool:
    """Return whether a value of some code has a tangent that may be complex."""
    values = [x for n in walk(nodes) for x in (*reads_of(n), *assigned_by(n))]
    return any(x.active and may_be_complex(x.fact) for x in values)
