"""Writes in place: which copies of arrays they make necessary, and views that would see them."""

from collections.abc import Iterator

from zygote_lite._specialize.typed.nodes import (
    Append,
    Loop,
    Moves,
    Node,
    Op,
    StoreItem,
    inner_blocks,
    reads_of,
    replace,
)
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.values import Value


def settle_writes(nodes: list[Node], backward: list[Node]) -> None:
    """Read the array itself where no write makes a copy of it necessary.

    Raises `NotSpecializable` where a view would see a write.
    """
    # Operations are written in the order of the program, but a copy made for the reverse pass is
    # read after the whole forward pass, and a view is read wherever its reader stands. So both are
    # tested against every write that can come in between: a later one in the text, or any one in
    # a loop around both, which comes again in the next iteration.
    loops = dict(_with_loops(nodes, ()))
    place = {node: i for i, node in enumerate(loops)}
    stores = [node for node in place if isinstance(node, StoreItem)]
    moved = {source for n in place if isinstance(n, Moves) for _, source in n.pairs}
    moved |= {n.value for n in place if isinstance(n, Append)}
    defined = {n.target: n for n in place if isinstance(n, Op)}
    if any(s.array in (x, x.base) for s in stores for x in moved):
        raise Unsound.SHARED_WRITE("an array that it writes to has two names")
    replaced: dict[Value, Value] = {}
    for node in place:
        if isinstance(node, Op) and node.snapshot_of is not None:
            base = node.snapshot_of.base or node.snapshot_of
            around = {*loops[node]}
            if not any(
                s.array is base and (place[s] > place[node] or around & {*loops[s]}) for s in stores
            ):
                replaced[node.target] = node.snapshot_of
    for node in place:
        for x in reads_of(node):
            made = defined.get(x)
            if x.base is None or made is None:
                continue
            for s in stores:
                if s.array is x.base and (
                    place[made] < place[s] < place[node]
                    or any(l in loops[node] and l not in loops[made] for l in loops[s])  # noqa: E741
                ):
                    raise Unsound.SHARED_WRITE("it reads a view after a write to the array")
    replace([*nodes, *backward], replaced)


def _with_loops(
    nodes: list[Node], around: tuple[Loop, ...]
) -> Iterator[tuple[Node, tuple[Loop, ...]]]:
    """Yield all nodes of a block, each with the loops around it."""
    for node in nodes:
        yield node, around
        for block in inner_blocks(node):
            yield from _with_loops(block, (*around, node) if isinstance(node, Loop) else around)
