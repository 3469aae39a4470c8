"""Dead-code elimination, in both passes together."""

from zygote_lite._specialize.typed.nodes import (
    AddInto,
    Append,
    Loop,
    Moves,
    Node,
    Op,
    Record,
    Stop,
    StoreItem,
    inner_blocks,
    leaves,
    reads_of,
    walk,
)
from zygote_lite._specialize.typed.values import Value, memory_of


def drop_dead(forward: list[Node], backward: list[Node], results: list[Value]) -> None:
    """Remove dead code from both passes together."""
    alive = {leaf for x in results for leaf in leaves(x)}
    together = {out: phi for n in walk([*forward, *backward]) if isinstance(n, Loop)
                for phi, out in zip(n.phis, n.outs, strict=True)}  # fmt: skip
    size = -1
    while size < len(alive):
        size = len(alive)
        for block in (backward, forward):
            _find_live(block, alive)
        alive |= {phi for out, phi in together.items() if out in alive}
    for block in (backward, forward):
        _find_live(block, alive, sweep=True)


def _find_live(block: list[Node], alive: set[Value], sweep: bool = False) -> bool:
    """Note what the live nodes of a block read; return whether there are any.

    Where `sweep`, the others are removed.
    """
    found: list[Node] = []
    for node in reversed(block):
        if isinstance(node, Moves):
            pairs = [pair for pair in node.pairs if pair[0] in alive]
            alive.update(leaf for _, source in pairs for leaf in leaves(source))
            is_live = bool(pairs)
            if sweep:
                node.pairs = pairs
        else:
            inner = [_find_live(b, alive, sweep) for b in inner_blocks(node)]
            is_live = _is_live(node, alive) or any(inner)
            if is_live:
                alive.update(reads_of(node))
        if is_live:
            found.insert(0, node)
    if sweep:
        block[:] = found
    return bool(found)


def _is_read(x: Value, alive: set[Value]) -> bool:
    return x in alive or memory_of(x) in alive


def _is_live(node: Node, alive: set[Value]) -> bool:
    if isinstance(node, Op):
        return node.required or node.target in alive
    if isinstance(node, StoreItem | Append):
        return not node.array.reverse or _is_read(node.array, alive)
    if isinstance(node, AddInto):
        return _is_read(node.target, alive)
    return isinstance(node, Loop | Stop | Record)
