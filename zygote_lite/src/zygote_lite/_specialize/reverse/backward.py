"""The reverse pass of typed code, derived from its structure, backwards."""

import operator
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from zygote_lite._specialize.reverse.accumulate import Cotangents
from zygote_lite._specialize.reverse.powers import count_reads, note_powers
from zygote_lite._specialize.reverse.stores import OfWrites
from zygote_lite._specialize.rules.contributions import (
    Contribution,
    Each,
    Mirror,
    Scatter,
    as_precise,
)
from zygote_lite._specialize.typed.abstract_eval import Result, result_of
from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.nodes import (
    Append,
    Backwards,
    Branch,
    Loop,
    Moves,
    Node,
    Op,
    Protected,
    Stop,
    StoreItem,
    inner_blocks,
    is_made_in,
    leaves,
    surely_runs,
    walk,
)
from zygote_lite._specialize.typed.reasons import NotSupported
from zygote_lite._specialize.typed.store_forwarding import sums_in_place
from zygote_lite._specialize.typed.values import Value, constant, memory_of


@dataclass(eq=False)
class Backward(OfWrites):
    """Write the reverse pass: of a block, the reverse of each of its nodes, the last one first."""

    silent: set[Branch] = field(default_factory=set)
    reads: Counter[Value] = field(default_factory=Counter)
    settled: set[Value] = field(default_factory=set)  # no longer partial, if the last block is run

    def __post_init__(self) -> None:
        builder = self.builder
        builder.reverse, builder.recording = not self.again, self.again
        builder.plain = True
        builder.out = []
        builder.loop = None
        # the program's own, which rules do not change, and which are not made again after it
        builder.objects, builder.homes = [], {}
        if builder.held and builder.shadows is None:
            made = builder.write(Result(Other(dict), {}), dict, [], {}, "shadows")
            builder.shadows = made.target

    def run(self, forward: list[Node], result: Value, seed: Value, always: bool = False) -> None:
        """Write the whole reverse pass, from the cotangent of the result of the forward pass.

        Without such a cotangent only where it is `always` written.
        """
        self.given.update(leaves(seed))
        if result.active:
            self.distribute(result, seed)
        if result.active or always:
            self.block(forward)

    def block(self, nodes: list[Node]) -> None:
        """Write the reverse of a block."""
        if not self.again:
            self.reads = self.reads or count_reads(nodes)
            note_powers(nodes, self.reads)
        self.sums.update(sums_in_place(nodes))
        for node in reversed(nodes):
            self.builder.origin = node.origin
            match node:
                case Op():
                    self.op(node)
                case StoreItem() | Append() | Branch() | Loop() if self.again:
                    raise NotSupported.SECOND_ORDER(
                        "it takes a second derivative of a branch, a loop or a write"
                    )
                case StoreItem():
                    self.store(node)
                case Append():
                    self.append(node)
                case Moves():
                    self.moves(node)
                case Branch():
                    self.branch(node)
                case Loop():
                    self.loop(node)

    # -- single operations ---------------------------------------------------------------------

    def op(self, node: Op) -> None:
        dy = self.cotangents.pop(node.target, None)
        if node.reverse_rule is None or (dy is None and not isinstance(node.reverse_rule, Mirror)):
            return
        contributions = node.reverse_rule.back(self.builder, as_precise(self.builder, dy, node))
        if node in self.stays:  # what is added to has its cotangent already
            place = node.active_operands.index(self.stays.pop(node))
            contributions = [None if i == place else d for i, d in enumerate(contributions)]
        given = [
            d.value if isinstance(d, Scatter | Each) else d for d in contributions if d is not None
        ]
        if dy in self.partial:
            self.partial.update(leaf for d in given for leaf in leaves(d))
        if sum(d is dy for d in given) != 1 or any(d.is_array and not d.fresh for d in given):
            self.owned.discard(dy)  # what still reads it must not see it change
        for x, d in zip(node.active_operands, contributions, strict=False):
            self.distribute(x, d)

    def distribute(self, x: Value, d: Contribution) -> None:
        """Add the cotangent of a structure to those of its parts."""
        if x.items is None or d is None or isinstance(d, Scatter | Each):
            self.add(x, d)
            return
        if self.again:
            raise NotSupported.SECOND_ORDER(
                "it takes a second derivative through a tuple, list or dict"
            )
        if type(x.sample) not in (tuple, list) or (d.is_constant and d.items is None):
            raise NotSupported.STRUCTURE_COTANGENT(
                "the gradient of a list or dict is not given item by item"
            )
        for i, item in enumerate(x.items):
            if d.items is not None:
                if len(d.items) != len(x.items):
                    raise NotSupported.STRUCTURE_COTANGENT(
                        "the gradient of a tuple or list has another number of items"
                    )
                self.distribute(item, None if d.items[i].sample is None else d.items[i])
                continue
            part = result_of(operator.getitem, [d, constant(i)], {})
            if item.active and part.sample is not None:
                part.fact, part.certain = item.fact, True
                taken = self.builder.write(part, operator.getitem, [d, constant(i)], {}).target
                taken.fresh = False
                self.distribute(item, taken)

    def moves(self, node: Moves) -> None:
        taken = [(source, self.cotangents.pop(target, None)) for target, source in node.pairs]
        for source, d in taken:
            if d is not None and source.items is not None:
                raise NotSupported.STRUCTURE_COTANGENT(
                    "a tuple, list or dict with a gradient goes from one iteration to the next"
                )
            if d is not None and d.is_array and np.shape(d.sample) != np.shape(source.sample):
                d.sample = source.sample  # it has that of what comes from another path
            self.add(source, d)

    # -- structure -----------------------------------------------------------------------------

    def branch(self, node: Branch) -> None:
        orelse = [*node.first, *node.orelse] if isinstance(node, Protected) else node.orelse
        if node in self.silent:  # the iteration that ends the loop has no reverse
            self.block(node.orelse if _ends_with_stop(node.body) else node.body)
            return
        before = dict(self.cotangents)
        then, first = self.nested(node.body, dict(before))
        other, second = self.nested(orelse, dict(before))
        for target in node.joined:
            first.pop(target, None)
            second.pop(target, None)
        self.cotangents = {}
        left: list[tuple[Value, Value]] = []
        right: list[tuple[Value, Value]] = []
        for x in {**first, **second}:
            a, b = first.get(x), second.get(x)
            if a is b and a is not None:
                self.cotangents[x] = a
                continue
            self.cotangents[x] = joined = self.named(x, a or b)
            if any(d is None or d in self.partial for d in (a, b)):
                self.partial.add(joined)
            left.append((joined, self.joined_in(then, a, x)))
            right.append((joined, self.joined_in(other, b, x)))
            if all(d is None or d in self.owned for d in (a, b)):
                self.owned.add(joined)
            self.given.add(joined)
        then.append(Moves(self.origin, left))
        other.append(Moves(self.origin, right))
        if any(_does_something(block) for block in (then, other)):
            self.write(Branch(node.origin, node.test, then, other))

    def nested(self, nodes: list[Node], cotangents: Cotangents) -> tuple[list[Node], Cotangents]:
        """Write the reverse of a block of its own; return it, with the cotangents at its end."""
        outer, self.cotangents = self.cotangents, cotangents
        partial = set(self.partial)

        def work() -> Cotangents:
            self.block(nodes)
            return self.cotangents

        block, found = self.builder.nested(work)
        self.cotangents, self.settled = outer, partial - self.partial
        self.partial |= partial  # the block may not be run
        return block, found

    def loop(self, node: Loop) -> None:
        first = next((inner for inner in node.body if not _only_computes(inner)), None)
        if type(first) is Branch:
            stopping = [b for b in (first.body, first.orelse) if _ends_with_stop(b)]
            if len(stopping) == 1 and _is_silent(stopping[0]):
                self.silent.add(first)
        after = self.cotangents
        carried = {
            phi for phi, out in zip(node.phis, node.outs, strict=True) if after.get(out) is not None
        }
        written = [inner for inner in walk(node.body) if isinstance(inner, StoreItem | Append)]
        stored = {memory_of(inner.array) for inner in written}
        outer = {x for x in stored if after.get(x) is not None}
        outer |= {n.array for n in written if isinstance(n, Append) and n.array.active}
        outer -= {x for x in outer if is_made_in(x, node)}
        while True:
            state = self.state()
            accumulators = {x: self.named(x, None) for x in outer}
            variables = {x: self.named(x, None) for x in carried}
            _, found = self.turn(node, accumulators, variables)
            grown = {p for p in node.phis if found.get(p) is not None} | carried
            more = {x for x in found if x not in node.phis and not is_made_in(x, node)} | outer
            self.restore(state)
            if grown == carried and more == outer:
                break
            carried, outer = grown, more
        self.write_loop(node, after, carried, outer)

    def write_loop(
        self, node: Loop, after: Cotangents, carried: set[Value], outer: set[Value]
    ) -> None:
        start: list[tuple[Value, Value]] = []
        accumulators: dict[Value, Value] = {}
        for x in sorted(outer, key=lambda x: x.name):
            d = after.get(x)
            is_own = d is not None and d in self.owned and d.is_scalar == x.is_scalar
            if d is not None and is_own and not d.is_constant:
                accumulators[x] = d
            elif x.is_scalar:
                accumulators[x] = self.named(x, d)
                start.append((accumulators[x], d or constant(0.0)))
            else:
                accumulators[x] = self.zero(x) if d is None else self.copy(d, x)
            if d is None or d in self.partial:
                self.partial.add(accumulators[x])
        variables: dict[Value, Value] = {}
        for phi, out in zip(node.phis, node.outs, strict=True):
            d = after.pop(out, None)
            if phi in carried:
                variables[phi] = self.named(phi, d)
                start.append((variables[phi], self.joined(d, out)))
                if d is None or d in self.partial:
                    self.partial.add(variables[phi])
        self.write(Moves(self.origin, start))
        body, found = self.turn(node, accumulators, variables)
        if self.partial & {*variables.values()} or any(
            found.get(phi) is None or found[phi] in self.partial for phi in variables
        ):
            self.partial.update(variables.values())
        elif surely_runs(node):
            self.partial -= self.settled
        self.builder.out.append(Backwards(node.origin, node, body))
        self.cotangents = {**after, **accumulators, **variables}
        self.given |= {*accumulators.values(), *variables.values()}
        self.owned |= {*accumulators.values()}
        self.owned -= {*variables.values()}

    def turn(
        self, node: Loop, accumulators: Cotangents, variables: Cotangents
    ) -> tuple[list[Node], Cotangents]:
        """Write the reverse of one iteration; return it, with the cotangents at its end.

        Arguments:
            node: the loop.
            accumulators: the cotangents of what is outside, which the iterations add to.
            variables: those of the carried variables, which each iteration hands to the next.
        """
        self.owned |= {*accumulators.values()}
        self.given |= {*accumulators.values(), *variables.values()}
        for d in accumulators.values():
            self.filled.pop(d, None)
        outer, self.outer = self.outer, {*accumulators}
        body, found = self.nested(node.body, {**accumulators, **variables})
        self.outer = outer
        pairs = []
        for phi, variable in variables.items():
            d = self.joined_in(body, found.get(phi), phi)
            if d is not variable:
                pairs.append((variable, d))
        for x, d in accumulators.items():
            if found.get(x) is not d:
                raise NotSupported.LOOP_COTANGENT(
                    "the gradient of an array is assigned, not added to, inside a loop"
                )
        body.append(Moves(self.origin, pairs))
        return body, found


def _ends_with_stop(block: list[Node]) -> bool:
    return bool(block) and isinstance(block[-1], Stop)


def _only_computes(node: Node) -> bool:
    """Return whether a node computes a value, and changes nothing."""
    return isinstance(node, Op) and not isinstance(node.reverse_rule, Mirror)


def _is_silent(block: list[Node]) -> bool:
    """Return whether no gradient comes into a block that leaves its loop."""
    for node in block:
        if isinstance(node, StoreItem | Append) and memory_of(node.array).active:
            return False
        if isinstance(node, Op) and isinstance(node.reverse_rule, Mirror):
            return False
        if isinstance(node, Moves) and any(target.active for target, _ in node.pairs):
            return False
        if isinstance(node, Loop) or not all(map(_is_silent, inner_blocks(node))):
            return False
    return True


def _does_something(block: list[Node]) -> bool:
    return any(not isinstance(node, Moves) or node.pairs for node in block)
