"""Writes in place: which copies of arrays they make necessary."""

from collections import Counter

import numpy as np

from zygote_lite._specialize.infer.memory import Memory, with_loops
from zygote_lite._specialize.typed.nodes import (
    Node,
    Op,
    StoreItem,
    inner_blocks,
    leaves,
    reads_of,
    replace,
    walk,
)
from zygote_lite._specialize.typed.values import Value


def settle_writes(nodes: list[Node], backward: list[Node], memory: Memory) -> None:
    """Read the array itself where no write makes a copy of it necessary."""
    # Operations are written in the order of the program, but a copy made for the reverse pass is
    # read after the whole forward pass. So it is tested against every write that can come after
    # it: a later one in the text, or any one in a loop around both, which comes again in the next
    # iteration.
    around = dict(with_loops(nodes, ()))
    place = {node: i for i, node in enumerate(around)}
    stores = [node for node in place if isinstance(node, StoreItem)]
    replaced: dict[Value, Value] = {}
    for node in place:
        if isinstance(node, Op) and node.snapshot_of is not None:
            root = memory.of(node.snapshot_of)
            loops = {*around[node]}
            if not any(
                memory.of(s.array) is root and (place[s] > place[node] or loops & {*around[s]})
                for s in stores
            ):
                replaced[node.target] = node.snapshot_of
    replace([*nodes, *backward], replaced)


def leave_out_copies(forward: list[Node], backward: list[Node], results: list[Value]) -> None:
    """Write to the result of an operation itself, where nobody reads that but its copy."""
    reads = Counter(x for node in [*walk(forward), *walk(backward)] for x in reads_of(node))
    reads.update(leaf for x in results for leaf in leaves(x))
    for block in [forward, *(b for node in walk(forward) for b in inner_blocks(node))]:
        made = {node.target: node for node in block if isinstance(node, Op)}
        for node in [node for node in block if isinstance(node, Op)]:
            x = node.arguments[0] if node.function is np.copy and len(node.arguments) == 1 else None
            if x in made and x.fresh and reads[x] == 1 and node.target.made:
                made[x].target, node.target.name = node.target, x.name
                block.remove(node)
