"""Memory with several names: views of arrays that are written, and variables that hold such arrays.

The forward pass works on the memory itself, as the program does. For the reverse pass each memory
has one cotangent, and so one array stands for it at any time. A view that is written, or read after
a write, has no cotangent of its own: what it contributes goes to that part of the array's. An array
that another variable takes on some path is read under no other name from there on.
"""

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from zygote_lite._specialize.infer.iteration.generators import MOST_UNROLLED
from zygote_lite._specialize.infer.writes import UNROLLED, demand_own
from zygote_lite._specialize.rules.contributions import Mirror
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.functions import attribute_of, is_hashable
from zygote_lite._specialize.typed.nodes import (
    Append,
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
    reads_of,
)
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.runtime import is_view
from zygote_lite._specialize.typed.shape_rules import is_basic
from zygote_lite._specialize.typed.values import Value, memory_of

_SURE_VIEWS = {
    np.transpose, np.ndarray.transpose, np.swapaxes, np.ndarray.swapaxes, np.moveaxis,
    np.expand_dims, np.squeeze, np.ndarray.squeeze, attribute_of("T"), attribute_of("mT"),
    attribute_of("real"), attribute_of("imag"),  # of complex arrays
}  # fmt: skip
_OFTEN_VIEWS = {np.reshape, np.ndarray.reshape, np.ravel, np.ndarray.ravel}


@dataclass(eq=False)
class Memory:
    """Record which arrays of the code may share memory.

    Attributes:
        classes: for arrays that variables take from each other, one that stands for all.
        parts: the views without cotangents of their own, each with the operation that gives it.
    """

    classes: dict[Value, Value] = field(default_factory=dict)
    parts: dict[Value, Op] = field(default_factory=dict)

    def of(self, x: Value) -> Value:
        """Return the array that stands for all which may share memory with one."""
        x = memory_of(x)
        while x in self.classes:
            x = self.classes[x]
        return x

    def join(self, a: Value, b: Value) -> None:
        a, b = self.of(a), self.of(b)
        if a is not b:
            self.classes[a] = b


def settled_memory(builder: Builder, forward: list[Node], result: Value | None = None) -> Memory:
    """Return what is known of the memory that the code writes to; the result is read at the end.

    Raises `NotSpecializable` where it cannot be followed.
    """
    around = dict(with_loops(forward, ()))
    place = {node: i for i, node in enumerate(around)}
    memory = Memory()
    moves = [node for node in place if isinstance(node, Moves)]
    for node in place:
        if isinstance(node, Moves):
            for target, source in node.pairs:
                if target.is_array and source.is_array:
                    memory.join(target, source)
        if isinstance(node, Loop):
            for phi, out in zip(node.phis, node.outs, strict=True):
                memory.join(phi, out)
    stores = [n for n in place if isinstance(n, StoreItem) and n.array.is_array]
    written = {memory.of(s.array) for s in stores}
    if not written:
        return memory
    active = {memory.of(s.array) for s in stores if s.array.active}
    active |= {memory.of(x) for node in moves for x, _ in node.pairs if x.is_array and x.active}
    for node in place:
        if isinstance(node, Append) and node.value.is_array and memory.of(node.value) in written:
            raise Unsound.SHARED_WRITE(
                "an array that it writes to is also in a list: append a copy"
            )
        keeps = isinstance(node, Op) and isinstance(node.reverse_rule, Mirror)
        if keeps and any(x.is_array and memory.of(x) in written for x in reads_of(node)):
            raise Unsound.SHARED_WRITE(
                "an array that it writes to is also in a list, dict or object: store a copy"
            )
    following = _Following(forward)
    returned = [] if result is None else [x for x in leaves(result) if x.is_array]
    for node in moves:
        _settle_moves(builder, memory, written, active, node, around[node], following, returned)
    _settle_views(builder, memory, stores, around, place, returned)
    _demand_views(builder, memory, following)
    return memory


def _settle_moves(
    builder: Builder, memory: Memory, written: set[Value], active: set[Value], node: Moves,
    around: tuple[Loop, ...], following: "_Following", returned: list[Value],
) -> None:  # fmt: skip
    """Demand that arrays that are written are known by one name, at any time.

    Of the memory in `written`, that in `active` has active values at some time.
    """
    taken: set[Value] = set()
    for target, source in node.pairs:
        if not (target.is_array and source.is_array and memory.of(source) in written):
            continue
        demand_own(builder, target)
        demand_own(builder, source)
        lasts = bool(around) and not is_made_in(source, around[-1])
        if source.base is not None or source in taken or lasts:
            _refuse_two_names(builder, target)
        taken.add(source)
    for n in following.of(node) if taken else ():
        if any(memory_of(x) in taken for x in _arrays_named_by(n, memory, active)):
            _refuse_two_names(builder, node.pairs[0][0])
    if any(memory_of(x) in taken for x in returned):
        _refuse_two_names(builder, node.pairs[0][0])


def _refuse_two_names(builder: Builder, x: Value) -> None:
    """Refuse an array that has two names on some path: in a short loop it may have one in each."""
    loop = x.scope
    if loop is not None and loop.iterable is not None and loop.iterable.is_constant:
        unrolled = (UNROLLED, loop.origin)
        if len(loop.iterable.sample) <= MOST_UNROLLED and unrolled not in builder.own:
            builder.wanted.add(unrolled)
    raise Unsound.SHARED_WRITE("an array that it writes to has two names: write to a copy")


def _arrays_named_by(node: Node, memory: Memory, active: set[Value]) -> list[Value]:
    """Return the arrays whose cotangents the reverse of a node reads, or gives another name.

    What is computed of an inactive name of active memory is active too, though it is not known.
    """
    y = node.target if isinstance(node, Op) else None
    arrays = [x for x in reads_of(node) if x.is_array]
    if y is None or y.active or y.base is not None or not (y.is_array or y.is_scalar):
        return [] if y is not None and y.sample is None else arrays
    if np.asarray(y.sample).dtype.kind not in "fc":
        return []
    return [x for x in arrays if memory.of(x) in active]


class _Following:
    """The nodes that may run after a node, in the same iterations of the loops around it."""

    def __init__(self, forward: list[Node]) -> None:
        self.places: dict[Node, tuple[list[Node], int, Node | None]] = {}
        self._add(forward, None)

    def _add(self, block: list[Node], owner: Node | None) -> None:
        for i, node in enumerate(block):
            self.places[node] = block, i, owner
            for inner in inner_blocks(node):
                self._add(inner, node)

    def of(self, node: Node) -> Iterator[Node]:
        """Yield the nodes, those inside of others too."""
        at: Node | None = node
        stopped = False
        while at is not None:
            block, i, at = self.places[at]
            rest = [] if stopped else block[i + 1 :]
            if isinstance(at, Protected) and block is at.first:
                rest += [*at.body, *at.orelse]
            stopped = stopped or any(isinstance(n, Stop) for n in rest)
            for n in rest:
                yield from _within(n)
            stopped = stopped and not isinstance(at, Loop)


def _within(node: Node) -> Iterator[Node]:
    yield node
    for block in inner_blocks(node):
        for inner in block:
            yield from _within(inner)


def _settle_views(
    builder: Builder, memory: Memory, stores: list[StoreItem],
    around: dict[Node, tuple[Loop, ...]], place: dict[Node, int], returned: list[Value],
) -> None:  # fmt: skip
    """Find the views that have no cotangents of their own."""
    made = {n.target: n for n in place if isinstance(n, Op)}
    for s in stores:
        if s.array.base is not None:
            _note_part(builder, memory, s.array, made)
    reads = [(x, place[node], around[node]) for node in place for x in reads_of(node)]
    for x, at, loops in (*reads, *((x, len(place), ()) for x in returned)):
        first = made.get(x)
        if x.base is None or first is None or x in memory.parts or _is_of_copy(x, made):
            continue
        root = memory.of(x)
        for s in stores:
            if memory.of(s.array) is root and (
                place[first] < place[s] < at
                or any(l in loops and l not in around[first] for l in around[s])  # noqa: E741
            ):
                _note_part(builder, memory, x, made)
                break


def _note_part(builder: Builder, memory: Memory, x: Value, made: dict[Value, Op]) -> None:
    """Note that a view has no cotangent of its own, nor those that it is a view of.

    Raises `NotSpecializable` where it may be a copy, or shows entries more than once.
    """
    while x.base is not None and x not in memory.parts:
        op = made.get(x)
        if op is None or builder.compiled or not (_is_view(op) or is_often_view(op)):
            raise Unsound.SHARED_WRITE(
                "it reads what may be a view of an array that it has written to"
            )
        memory.parts[x] = op
        x = op.arguments[0]


def _is_view(op: Op) -> bool:
    """Return whether the result of an operation is a view of its first operand, in every run."""
    f = op.function
    if f is operator.getitem:
        return is_basic(op.arguments[1])
    return is_hashable(f) and f in _SURE_VIEWS and not op.keywords


def is_often_view(op: Op) -> bool:
    """Return whether the result is a view of the first operand, or a copy of it."""
    return is_hashable(op.function) and op.function in _OFTEN_VIEWS and not op.keywords


def _is_of_copy(x: Value, made: dict[Value, Op]) -> bool:
    """Return whether a view is one of a copy that is kept, so that no later write is seen in it."""
    while x.base is not None and x in made and made[x].arguments:
        x = made[x].arguments[0]
    return x in made and made[x].snapshot_of is not None


def _demand_views(builder: Builder, memory: Memory, following: "_Following") -> None:
    """Have the code left where what is taken for a view is a copy."""
    for op in filter(is_often_view, memory.parts.values()):
        block = following.places[op][0]
        nothing = builder.value(Other(type(None)), None)
        test = Op(op.origin, nothing, is_view, [op.target, op.arguments[0]], required=True)
        block.insert(block.index(op) + 1, test)


def with_loops(
    nodes: list[Node], around: tuple[Loop, ...]
) -> Iterator[tuple[Node, tuple[Loop, ...]]]:
    """Yield all nodes of a block, each with the loops around it."""
    for node in nodes:
        yield node, around
        for block in inner_blocks(node):
            yield from with_loops(block, (*around, node) if isinstance(node, Loop) else around)
