"""Typed code as lowered code again, so that it can be interpreted on other values.

A loop saves its residuals in lists, one for each, and the reverse pass walks them backwards.
"""

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from rulescore import stop_gradient
from rulescore.faults import an
from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.normalize.blocks import Block
from zygote_lite._specialize.normalize.exits import Walk
from zygote_lite._specialize.text.context_groups import by_context
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contexts import Context
from zygote_lite._specialize.typed.facts import ListOf
from zygote_lite._specialize.typed.functions import Attribute, Recursive
from zygote_lite._specialize.typed.nodes import (
    AddInto,
    Append,
    Backwards,
    Branch,
    Loop,
    Moves,
    Node,
    Op,
    Protected,
    Record,
    Stop,
    StoreItem,
    walk,
)
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.runtime import UNSET, abandon, as_it_is, has_value
from zygote_lite._specialize.typed.stand_ins import StandIn
from zygote_lite._specialize.typed.values import Value

_NEW_ARRAYS = (np.zeros, np.zeros_like, np.ndarray.copy, np.copy)


class Lowering:
    """Write the passes of inner code as lowered code.

    Attributes:
        tapes: for each loop with a reverse, the variables that it saves, each with its list.
        ends: for each, the variables for where its iterations begin and end in these lists.
        renamed: the names that the residuals of loops have in the reverse pass.
    """

    def __init__(self, builder: Builder, forward: list[Node], backward: list[Node]) -> None:
        nodes = [*walk(forward), *walk(backward)]
        self.builder, self.origin = builder, builder.origin
        self.out: Block = []
        self.flags: list[str] = []
        self.within = False  # a context
        self.tapes: dict[Loop, dict[str, str]] = {}
        self.ends: dict[Loop, tuple[str, str]] = {}
        self.renamed: dict[Value, str] = {}
        self.added = {n.target for n in nodes if isinstance(n, AddInto) and n.index is not None}
        self.added |= {n.array for n in nodes if isinstance(n, StoreItem)}
        self.made = {n.target for n in nodes if isinstance(n, Op) and n.function in _NEW_ARRAYS}
        loops = [n for n in nodes if isinstance(n, Loop) and n.tape is not None]
        tapes = {loop.tape for loop in loops}
        for loop in loops:
            self.begin_tape(loop, [x for x in loop.record if x not in tapes])

    def begin_tape(self, loop: Loop, saved: list[Value]) -> None:
        """Give names to the lists of a loop; what a loop inside adds to them is saved, too."""
        name = self.builder.name
        self.tapes[loop] = {x.name: name(f"{x.name}_tape") for x in saved} or {"": name("turns")}
        self.renamed |= {x: name(x.name) for x in saved}
        self.ends[loop] = name("start"), name("end")
        if loop.outer in self.tapes:
            self.tapes[loop.outer] |= {end: name(f"{end}_tape") for end in self.ends[loop]}

    @property
    def lists(self) -> list[str]:
        """The lists of all loops."""
        return [name for saved in self.tapes.values() for name in saved.values()]

    # -- operands ------------------------------------------------------------------------------

    def atom(self, x: Value) -> ir.Atom:
        """Return an operand; a structure is built before."""
        if x.items is not None:
            kind = type(x.sample).__name__
            if kind not in ("tuple", "list", "slice"):
                raise NotSupported.SECOND_ORDER(
                    f"the reverse pass of a nested gradient uses {an(kind)}"
                )
            target = self.builder.temporary()
            self.write(ir.Build(self.origin, target, kind, [self.atom(part) for part in x.items]))
            return ir.Name(target)
        if x.is_constant:
            if isinstance(x.sample, StandIn):
                raise NotSupported.SECOND_ORDER(
                    "the reverse pass of a nested gradient uses a function as a value"
                )
            return ir.Const(x.sample)
        if not x.name:
            raise NotSupported.SECOND_ORDER(
                "the reverse pass of a nested gradient uses an object as a value"
            )
        return ir.Name(self.renamed[x] if self.builder.reverse and x in self.renamed else x.name)

    def write(self, s: ir.Statement) -> None:
        self.out.append(s)

    def call(self, target: str, f: Any, *xs: ir.Atom) -> ir.Name:
        """Write a call, and return its value."""
        target = target or self.builder.temporary()
        self.write(ir.Call(self.origin, target, ir.Const(f), [*xs]))
        return ir.Name(target)

    # -- nodes ---------------------------------------------------------------------------------

    def block(self, nodes: list[Node], *, reverse: bool) -> Block:
        """Return a block of one of the passes."""
        outer, self.out, self.builder.reverse = self.out, [], reverse
        origin, nodes = self.origin, _with_else(nodes)
        for context, group in [((), nodes)] if self.within else by_context(nodes):
            managers = [self.entered(manager) for manager in context]
            self.within = self.within or bool(managers)
            for node in group:
                self.origin = node.origin
                self.node(node)
            for manager in reversed(managers):
                self.left(manager)
            self.within = self.within and not managers
        self.origin = origin
        found, self.out = self.out, outer
        return found

    def entered(self, context: Context) -> ir.Name:
        """Write what enters a context, and return its manager."""
        manager, value = self.builder.temporary(), self.builder.temporary()
        options: list[tuple[str, ir.Atom]] = [(n, ir.Const(x)) for n, x in context.options.items()]
        self.write(ir.Call(self.origin, manager, ir.Const(context.manager), [], options))
        enter = ir.Intrinsic("enter_context")
        self.write(ir.Call(self.origin, value, enter, [ir.Name(manager)]))
        return ir.Name(manager)

    def left(self, manager: ir.Name) -> None:
        target, leave = self.builder.temporary(), ir.Intrinsic("exit_context")
        self.write(ir.Call(self.origin, target, leave, [manager, ir.Const(None)]))

    def inner(self, nodes: list[Node]) -> Block:
        return self.block(nodes, reverse=self.builder.reverse)

    def node(self, node: Node) -> None:
        match node:
            case Op():
                self.op(node)
            case StoreItem(_, array, index, value):
                if array.reverse:
                    self.own(array)
                self.write(ir.SetItem(self.origin, *map(self.atom, (array, index, value))))
            case Append(_, array, value):
                self.append(self.atom(array), self.atom(value))
            case AddInto():
                self.add(node)
            case Moves(_, pairs):
                self.moves(pairs)
            case Protected():
                raise NotSupported.SECOND_ORDER("the function of a nested gradient has a `try`")
            case Branch(_, test, body, orelse, negated):
                blocks = [self.inner(body), self.inner(orelse)]
                self.write(ir.If(self.origin, self.atom(test), *blocks[:: -1 if negated else 1]))
            case Loop():
                self.loop(node)
            case Backwards(_, loop, body):
                self.backwards(loop, body)
            case Record(_, loop):
                for name, tape in self.tapes[loop].items():
                    self.append(ir.Name(tape), ir.Name(name) if name else ir.Const(0))
            case Stop():
                self.write(ir.Move(self.origin, self.flags[-1], ir.Const(True)))
                self.write(ir.Break(self.origin))

    def op(self, node: Op) -> None:
        f, xs, target = node.function, node.arguments, node.target.name
        if f is abandon:
            self.write(ir.Raise(self.origin, None, None))
        elif f is as_it_is:
            raise NotSupported.SECOND_ORDER(
                "the function of a nested gradient may return an integer: return a float"
            )
        elif isinstance(f, Recursive) and f.result is not None and f.result.active:
            raise NotSupported.SECOND_ORDER(
                "it takes a second derivative of a function that calls itself"
            )
        elif node.target in self.builder.severed:
            self.call(target, stop_gradient, self.atom(xs[0]))
        elif f is has_value:
            self.write(ir.Move(self.origin, self.builder.temporary(), self.atom(xs[0])))
        elif isinstance(f, Attribute):
            self.write(ir.GetAttribute(self.origin, target, self.atom(xs[0]), f.name))
        elif f is operator.getitem:
            self.write(ir.GetItem(self.origin, target, *map(self.atom, xs)))
        else:
            given = [self.atom(x) for x in xs]
            options = [(name, self.atom(x)) for name, x in node.keywords.items()]
            self.write(ir.Call(self.origin, target, ir.Const(f), given, options))

    def append(self, array: ir.Atom, value: ir.Atom) -> None:
        method = self.builder.temporary()
        self.write(ir.GetAttribute(self.origin, method, array, "append"))
        self.write(ir.Call(self.origin, ir.DISCARD, ir.Name(method), [value]))

    def own(self, array: Value) -> None:
        """Write a copy of a cotangent that is written to, where it was not made for that."""
        if array not in self.made and array.is_array and array.base is None:
            self.call(array.name, np.ndarray.copy, ir.Name(array.name))

    def add(self, node: AddInto) -> None:
        """Write `target += value`; an array is written to only where a part of it is."""
        target, value = self.atom(node.target), self.atom(node.value)
        assert isinstance(target, ir.Name)
        if isinstance(node.target.fact, ListOf) or node.repeats:
            raise NotSupported.SECOND_ORDER(
                "it takes a second derivative through a list, or through array entries read more "
                "than once"
            )
        f = operator.sub if node.sign == "-" else operator.add
        is_part = node.target in self.added or node.target.base is not None
        if node.index is None and not is_part:
            self.call(target.id, f, target, value)
            return
        self.own(node.target)
        index = ir.Const(...) if node.index is None else self.atom(node.index)
        if not node.first:
            part = ir.Name(self.builder.temporary())
            self.write(ir.GetItem(self.origin, part.id, target, index))
            value = self.call("", f, part, value)
        self.write(ir.SetItem(self.origin, target, index, value))

    def moves(self, pairs: list[tuple[Value, Value]]) -> None:
        """Write moves that are made all at once; what has no value yet is left without one."""
        given = [(t, s) for t, s in pairs if not _is_nothing(s)]
        named = [(self.atom(t), self.atom(s)) for t, s in given]
        targets = {t.id for t, _ in named if isinstance(t, ir.Name)}
        several = len(named) > 1 and any(s.id in targets for _, s in named
                                         if isinstance(s, ir.Name))  # fmt: skip
        for i, (t, s) in enumerate(named if several else ()):
            kept = self.builder.temporary()
            self.write(ir.Move(self.origin, kept, s))
            named[i] = t, ir.Name(kept)
        for t, s in named:
            assert isinstance(t, ir.Name)
            if t != s:
                self.write(ir.Move(self.origin, t.id, s))

    # -- loops ---------------------------------------------------------------------------------

    def loop(self, node: Loop) -> None:
        origin = self.origin
        saved = self.tapes.get(node)
        tape = next(iter(saved.values())) if saved else ""
        inside = [x for loop in self.ends if loop.outer is node for x in self.ends[loop]]
        if tape and node.outer is not None:
            self.call(self.ends[node][0], len, ir.Name(tape))
        self.flags.append(self.builder.name("left"))
        body = [*[ir.Move(origin, name, ir.Const(0)) for name in inside], *self.inner(node.body)]
        left = self.flags.pop()
        self.write(ir.Move(origin, left, ir.Const(False)))
        if node.iterable is None or node.target is None:
            self.write(ir.While(origin, [], ir.Const(True), body, []))
        else:
            self.walk(node.target.name, self.atom(node.iterable), body, left)
        if tape:
            self.call(self.ends[node][1], len, ir.Name(tape))

    def walk(self, target: str, iterable: ir.Atom, body: Block, left: str) -> None:
        has_break = any(isinstance(s, ir.Break) for s in ir.every(body))
        item = self.builder.name("item")
        left = left if has_break else ""
        self.write(Walk(self.origin, target, iterable, body, [], item, left))

    def backwards(self, loop: Loop, body: list[Node]) -> None:
        """Walk the lists of a loop backwards."""
        one = ir.Const(1)
        start, end = map(ir.Name, self.ends[loop])
        last = self.call("", operator.sub, end, one)
        stop: ir.Atom = ir.Const(-1)
        if loop.outer is not None:
            stop = self.call("", operator.sub, start, one)
        turns = self.call("", range, last, stop, ir.Const(-1))
        k, names = self.builder.name("k"), {x.name: self.renamed.get(x) for x in loop.record}
        read: Block = [
            ir.GetItem(self.origin, names.get(name) or name, ir.Name(tape), ir.Name(k))
            for name, tape in self.tapes[loop].items() if name
        ]  # fmt: skip
        self.walk(k, turns, [*read, *self.inner(body)], "")


def _with_else(nodes: list[Node]) -> list[Node]:
    """Return a block in which what follows a branch that leaves the loop is its `else`."""
    for i, node in enumerate(nodes):
        if isinstance(node, Branch) and node.body and isinstance(node.body[-1], Stop):
            return [*nodes[:i], replace(node, orelse=[*node.orelse, *nodes[i + 1 :]])]
    return nodes


def _is_nothing(x: Value) -> bool:
    """Return whether a value stands for a variable that has none."""
    return x.is_constant and (x.sample is None or x.sample is UNSET)
