"""Signs: a negative is not computed where the sums that it flows into can take its sign.

Of `t = -x; t = t * y; z = z + t` there remains `t = x * y; z = z - t`.
"""

import operator
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import ArrayOf, Scalar
from zygote_lite._specialize.typed.nodes import (
    AddInto,
    Node,
    Op,
    StoreItem,
    inner_blocks,
    leaves,
    reads_of,
    walk,
)
from zygote_lite._specialize.typed.values import Value, memory_of, shape_root

_LINEAR = (np.sum, np.ndarray.sum)


def take_signs(
    builder: Builder, block: list[Node], results: list[Value], stay: Collection[Node] = ()
) -> None:
    """Leave out the negatives in a block, and in those inside, where sums allow it.

    Arguments:
        results: what is read after the block.
        stay: nodes that are not left out.
    """
    reads = _reads_in(block, results)
    for inner in (block, *[b for node in walk(block) for b in inner_blocks(node)]):
        for op in [node for node in reversed(inner) if isinstance(node, Op)]:
            if op.function is operator.neg and not op.check and op not in stay:
                flow = _Flow(builder, op, inner)
                if flow.ends_in_sums(reads):
                    flow.edit(reads)
                    if flow.is_remade:
                        reads = _reads_in(block, results)


def _reads_in(block: list[Node], results: list[Value]) -> Counter[Value]:
    """Return how often each value is read."""
    reads = Counter(x for node in walk(block) for x in reads_of(node))
    reads.update(leaf for x in results for leaf in leaves(x))
    return reads


class _Flow:
    """Where a negative flows to, and what to edit there so that it need not be computed.

    Attributes:
        opposite: for each value that is to be left out, the value that is there with the other
            sign; it may be the same variable.
        edits: what to do once it is known that all of them end in sums.
        readers: the nodes that are edited.
        is_remade: whether the edits put other nodes into the block.
    """

    def __init__(self, builder: Builder, op: Op, block: list[Node]) -> None:
        self.builder, self.op, self.block = builder, op, block
        self.opposite = {op.target: op.arguments[0]}
        self.edits: list[Callable[[], None]] = [self.leave_out]
        self.readers: list[Node] = []
        self.is_remade = False

    def ends_in_sums(self, reads: Counter[Value]) -> bool:
        """Return whether all that reads one of the values can take its sign."""
        x = self.op.arguments[0]
        if not _is_numeric(x) or x.may_be_written:
            return False
        read: Counter[Value] = Counter()
        is_written = False
        for node in self.block[self.block.index(self.op) + 1 :]:
            found = [y for n in walk([node]) for y in reads_of(n) if y in self.opposite]
            read.update(found)
            if found and is_written and any(self.opposite[y] is x for y in found):
                return False
            if found and not self.takes(node):
                return False
            self.readers += [node] * bool(found)
            if found and all(read[y] == reads[y] for y in self.opposite):
                return True
            is_written = is_written or any(_writes_to(x, n) for n in walk([node]))
        return False

    def edit(self, reads: Counter[Value]) -> None:
        """Edit the block, and count again what is read there."""
        edited = [self.op, *self.readers]
        reads.subtract(x for node in edited for x in reads_of(node))
        for edit in self.edits:
            edit()
        reads.update(x for node in self.readers for x in reads_of(node))

    def takes(self, node: Node) -> bool:
        """Return whether a node takes the sign of what it reads, or hands it on."""
        if isinstance(node, AddInto):
            place = node.index is not None or node.each
            if place and (node.target in self.opposite or node.repeats or node.first or node.each):
                return False
            if not _is_numeric(node.target):  # lists are added to without a sign
                return False
            return self.added(node)
        if not isinstance(node, Op) or node.check or not _is_numeric(node.target):
            return False
        signs = [x in self.opposite for x in node.arguments]
        given = [self.opposite.get(x, x) for x in node.arguments]
        f, negated = node.function, False
        if f in _LINEAR and signs[0] and (node.target.fresh or node.target.is_scalar):
            negated = True
        elif node.keywords or len(signs) != 2:
            return False
        elif f in (operator.mul, operator.truediv):
            negated = signs[0] != signs[1]
        elif f is operator.add:
            negated = all(signs)
            f = f if negated else operator.sub
            given = given[::-1] if signs == [True, False] else given
        elif f is operator.sub:
            negated = signs == [True, False]
            f = f if all(signs) else operator.add
            given = given[::-1] if all(signs) else given
        else:
            return False
        if negated:
            self.opposite[node.target] = node.target

        def edit() -> None:
            node.function, node.arguments = f, given

        self.edits.append(edit)
        return True

    def added(self, node: AddInto) -> bool:
        """Return whether a sum in place takes the sign of what is added, or of what it goes to."""
        target, minus, negated = node.target, node.sign == "-", node.value in self.opposite
        value, stored = self.opposite.get(node.value, node.value), self.opposite.get(target)
        sign = "-" if minus == negated else "+"
        if stored is None:  # only what is added is negated
            self.edits.append(lambda: _add(node, value, "+" if minus else "-"))
        elif _is_of_one_kind(target, value) and not (minus or negated):
            del self.opposite[target]
            before = stored
            if stored is target:
                before = replace(target, name=self.builder.name("t1"))
                self.edits.append(lambda: self.rename(target, before, node))
            self.edits.append(lambda: self.become(node, operator.sub, [value, before]))
        elif stored is target:
            self.edits.append(lambda: _add(node, value, sign))
        elif _is_of_one_kind(target, value):
            f = operator.add if sign == "+" else operator.sub
            self.opposite[target] = target
            self.edits.append(lambda: self.become(node, f, [stored, value]))
        else:
            return False
        return True

    def leave_out(self) -> None:
        """Leave out the negative."""
        self.block.remove(self.op)
        for node in self.block:  # what it is the negative of is as suspect as itself
            if isinstance(node, Op) and node.target is self.op.arguments[0]:
                node.suspect = node.suspect or self.op.suspect

    def rename(self, x: Value, new: Value, end: Node) -> None:
        """Give a value another name before a node."""
        for node in self.block[: self.block.index(end)]:
            if isinstance(node, Op):
                node.target = new if node.target is x else node.target
                node.arguments = [new if y is x else y for y in node.arguments]
            elif isinstance(node, AddInto):
                node.target = new if node.target is x else node.target
                node.value = new if node.value is x else node.value

    def become(self, node: AddInto, function: object, pair: list[Value]) -> None:
        """Compute a sum anew that was computed in place."""
        self.is_remade = True
        at = self.block.index(node)
        self.block[at] = Op(node.origin, node.target, function, pair, context=node.context)


def _add(node: AddInto, value: Value, sign: str) -> None:
    node.value, node.sign = value, sign


def _writes_to(x: Value, node: Node) -> bool:
    written = node.target if isinstance(node, AddInto) else None
    written = node.array if isinstance(node, StoreItem) else written
    return written is not None and memory_of(written) is memory_of(x)


def _is_numeric(x: Value) -> bool:
    return x.is_array or (isinstance(x.fact, Scalar) and x.fact.classes <= {float, np.float64})


def _is_of_one_kind(a: Value, b: Value) -> bool:
    """Return whether two arrays have one shape and one dtype."""
    if not (isinstance(a.fact, ArrayOf) and isinstance(b.fact, ArrayOf)):
        return False
    return a.fact.dtype == b.fact.dtype and shape_root(a) is shape_root(b)
