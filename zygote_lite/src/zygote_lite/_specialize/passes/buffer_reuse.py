"""Buffer reuse: a large array that is not read again gives its memory to the next result."""

import operator
from collections import Counter

import numpy as np

from zygote_lite._ir.operators import BINARY
from zygote_lite._specialize.typed.facts import ArrayOf
from zygote_lite._specialize.typed.nodes import (
    AddInto,
    Branch,
    Loop,
    Node,
    Op,
    StoreItem,
    assigned_by,
    inner_blocks,
    leaves,
    reads_of,
    walk,
)
from zygote_lite._specialize.typed.runtime import has_length, has_value, is_view, same_shape
from zygote_lite._specialize.typed.values import Value, shape_root

LARGE = 1_000  # entries: below, memory costs nothing, and the code is easier to read
HUGE = 1_000  # entries: from here on, to ask the system for memory is what costs
WRITES_OVER = {BINARY[name].function: BINARY[name] for name in ("add", "sub", "mul", "truediv")}
SWAPPED = (operator.add, operator.mul)
SUMS = (np.sum, np.ndarray.sum)


def reuse_memory(forward: list[Node], reverse: list[Node], results: list[Value]) -> list[Node]:
    """Let operations write over arrays that nobody reads any more.

    Returns what is left for the end, after both passes: where it takes fewer arrays, what only the
    value needs, which then finds those of the reverse pass.
    """
    whole = [*forward, *reverse]
    _reuse(whole, results)
    later = _for_the_value(forward, reverse)
    if not later:
        return []
    first = [node for node in forward if node not in later]
    count, found = _arrays_made(whole), _places_written(whole)
    _reuse([*first, *reverse, *later], results)
    if _arrays_made(whole) < count:
        forward[:] = first
        return later
    for op, place in found.items():
        op.into, op.onto = place
    return []


def _for_the_value(forward: list[Node], reverse: list[Node]) -> list[Node]:
    """Return the last operations of the forward pass of which the reverse pass needs nothing."""
    # a loop backwards gives variables of the forward pass the values of its iterations again
    if any(isinstance(node, StoreItem | Loop) for node in walk([*forward, *reverse])):
        return []
    needed = {x for node in walk(reverse) for x in reads_of(node)} | _of_one_name([*walk(forward)])
    later: list[Node] = []
    for node in reversed(forward):
        if isinstance(node, Op) and node.target not in needed and _may_be_later(node):
            later.insert(0, node)
        else:
            needed |= {x for inner in walk([node]) for x in reads_of(inner)}
    return later if any(isinstance(n, Op) and is_huge(n.target) for n in later) else []


def _may_be_later(op: Op) -> bool:
    if op.context or any(x.may_be_written or x.base for x in op.arguments):
        return False
    return _is_elementwise(op) or (op.function in SUMS and not (op.keywords or op.check))


def _places_written(nodes: list[Node]) -> dict[Op, tuple[Value | None, bool]]:
    return {node: (node.into, node.onto) for node in walk(nodes) if isinstance(node, Op)}


def _arrays_made(nodes: list[Node]) -> int:
    """Return how many large arrays are made that are not written over others."""
    ops = [node for node in walk(nodes) if isinstance(node, Op)]
    return sum(is_huge(op.target) and op.into is None for op in ops)


def _reuse(block: list[Node], results: list[Value]) -> None:
    """Let operations write over an operand that is read for the last time, in the same block."""
    nodes = [*walk(block)]
    moved = _of_one_name(nodes)
    kept = {leaf for x in results for leaf in leaves(x)} | moved
    reads: Counter[Value] = Counter()
    for node in nodes:
        reads.update(reads_of(node))
        kept |= _kept_by(node)
    for inner in (block, *[b for node in nodes for b in inner_blocks(node)]):
        _reuse_in(inner, reads, kept, moved)


def _of_one_name(nodes: list[Node]) -> set[Value]:
    """Return the values that share a name: they were moved from one to the other."""
    named: dict[str, set[Value]] = {}
    for node in nodes:
        for x in [*assigned_by(node), *(node.joined if isinstance(node, Branch) else ())]:
            named.setdefault(x.name, set()).add(x)
    return {x for values in named.values() if len(values) > 1 for x in values}


def _reuse_in(
    block: list[Node], reads: Counter[Value], kept: set[Value], moved: set[Value]
) -> None:
    """Do so in one block, with the values that nothing outside of it reads."""
    last: dict[Value, int] = {}
    inside: Counter[Value] = Counter()
    made: dict[Value, Op] = {}
    for i, node in enumerate(block):
        if isinstance(node, Op) and not node.check:
            made[node.target] = node
        for inner in walk([node]):
            inside.update(reads_of(inner))
            last.update(dict.fromkeys(reads_of(inner), i))
    mine = {x for x in made if x not in kept and reads[x] == inside[x]}
    free: list[Value] = []
    for i, node in enumerate(block):
        read = [x for x in reads_of(node) if last[x] == i and x in mine]
        if isinstance(node, Op):
            node.into, node.onto = None, False
        if isinstance(node, Op) and _is_elementwise(node) and node.target not in moved:
            operands = [x for x in node.arguments if x in read and _is_alike(x, node.target)]
            others = [x for x in free if _is_alike(x, node.target) and is_huge(x)]
            if operands:
                node.into = operands[0]
                read = [x for x in read if x is not node.into]
            elif others:
                node.into, node.onto = others[-1], True
                free.remove(node.into)
        free += [x for x in dict.fromkeys(read) if is_huge(x)]


def _kept_by(node: Node) -> set[Value]:
    """Return the values that a node may give another name, in a view or in what it returns."""
    if isinstance(node, Op) and node.function in (has_length, has_value, is_view, same_shape):
        return set()
    if isinstance(node, Op):
        held = not (node.target.is_scalar or (node.target.is_array and node.target.fresh))
        base = {node.target.base} if node.target.base is not None else set()
        return base | ({*reads_of(node)} if held else set())
    return set() if isinstance(node, StoreItem | AddInto) else {*reads_of(node)}


def is_huge(x: Value) -> bool:
    """Return whether the memory of an array is worth keeping."""
    return isinstance(x.fact, ArrayOf) and x.fresh and not x.made and x.sample.size >= HUGE


def _is_alike(x: Value, target: Value) -> bool:
    return (
        isinstance(x.fact, ArrayOf)
        and isinstance(target.fact, ArrayOf)
        and x.fact.dtype == target.fact.dtype
        and x.fresh
        and target.fresh
        and not x.made
        and x.sample.size >= LARGE
        and shape_root(x) is shape_root(target)
    )


def _is_elementwise(op: Op) -> bool:
    f = op.function
    if op.keywords or op.check:
        return False
    if isinstance(f, np.ufunc):
        return f.signature is None and f.nout == 1
    return f in WRITES_OVER or f is operator.neg
