"""Passes on typed code: writes in place, dead-code elimination, and saving the residuals.

Residuals are the values of the forward pass that the reverse pass reads.
"""

import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import numpy as np

from zygote_lite._ir.traits import traits_of
from zygote_lite._specialize.typed.nodes import (
    AddInto,
    Append,
    Backwards,
    Branch,
    Loop,
    Moves,
    Node,
    Op,
    Record,
    Stop,
    StoreItem,
    assigned_by,
    inner_blocks,
    leaves,
    reads_of,
    replace,
    walk,
)
from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite._specialize.typed.runtime import abandon
from zygote_lite._specialize.typed.values import Other, Value, list_root

# -- arrays that are written in place ----------------------------------------------------------


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


# -- gradients that tell of an infinity ---------------------------------------------------------

_SMALL = 256  # entries that are looked through as quickly as one


def telling(backward: list[Node], gradients: list[Value]) -> set[Value]:
    """Return gradients that are not finite if any value of the reverse pass is not.

    In code without loops and branches a few small ones are enough, if all suspects flow into them.
    """
    if any(not isinstance(node, Op | AddInto) for node in backward):
        return {*gradients}
    sources: dict[Value, list[Value]] = defaultdict(list)
    for node in backward:
        if isinstance(node, AddInto):
            sources[node.target].append(node.value)
        elif isinstance(node, Op) and node.function is operator.truediv:
            sources[node.target].append(node.arguments[0])
        elif isinstance(node, Op) and traits_of(node.function).shows_nonfinite:
            sources[node.target] += node.arguments
    suspects = {node.target for node in backward if isinstance(node, Op) and node.suspect}
    flows = {d: _flow(d, sources) & suspects for d in gradients}
    found: set[Value] = set()
    # a small one costs the same at any size: of these, the ones that tell of most
    sizes = {d: np.size(d.sample) // _SMALL for d in gradients}
    for d in sorted(gradients, key=lambda d: (sizes[d], -len(flows[d]))):
        if flows[d] & suspects:
            found.add(d)
            suspects -= flows[d]
    return found if not suspects else {*gradients}


def _flow(d: Value, sources: dict[Value, list[Value]]) -> set[Value]:
    """Return the values that surely make a value infinite or nan if they are."""
    covered: set[Value] = set()
    stack = [d]
    while stack:
        x = stack.pop()
        if x not in covered:
            covered.add(x)
            stack += sources[x]
    return covered


# -- dead code ---------------------------------------------------------------------------------


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


def _is_live(node: Node, alive: set[Value]) -> bool:
    if isinstance(node, Op):
        return node.required or node.target in alive
    if isinstance(node, StoreItem | Append):
        return not node.array.reverse or list_root(node.array) in alive
    if isinstance(node, AddInto):
        return node.target in alive
    return isinstance(node, Loop | Stop | Record)


# -- residuals ---------------------------------------------------------------------------------


def keep_records(
    forward: list[Node], backward: list[Node], name: Callable[[str], str], silent: set[Branch]
) -> list[Value]:
    """Have each loop save the residuals of its iterations: the values that the reverse pass reads.

    Returns those residuals that are computed outside of loops.
    """
    live = {node.loop for node in walk(backward) if isinstance(node, Backwards)}
    for node in [*walk(forward)]:
        if isinstance(node, Loop) and node in live:
            node.tape = Value(Other(list), [], name("tape"))
            node.tape.scope = node.outer
    needed: dict[Loop | None, dict[Value, None]] = {}
    for node in walk(backward):
        for x in reads_of(node):
            if not x.reverse and not x.is_constant and x.name:
                needed.setdefault(x.scope, {})[x] = None
    for loop in live:
        loop.record = [*needed.get(loop, ())]
    _drop_records(forward, live, silent)
    _drop_records(backward, set(), silent)
    _restructure(forward)
    for node in [*walk(forward), *walk(backward)]:
        if isinstance(node, Loop) and node in live:
            _record_early(node)
        for block in inner_blocks(node):
            coalesce(block)
    return [*needed.get(None, ())]


def _drop_records(block: list[Node], live: set[Loop], silent: set[Branch]) -> None:
    """Drop records of loops without a reverse, and of iterations that have none."""
    block[:] = [n for n in block if not isinstance(n, Record) or n.loop in live]
    for node in block:
        for inner in inner_blocks(node):
            _drop_records(inner, live, silent)
            if node in silent and _may_end_early(inner):
                inner[:] = [n for n in inner if not isinstance(n, Record)]


def _restructure(block: list[Node]) -> None:
    """Write `if test: ...; break` without an `else`: what follows stands below it."""
    out: list[Node] = []
    for node in block:
        for inner in inner_blocks(node):
            _restructure(inner)
        out.append(node)
        if isinstance(node, Branch):
            if _may_end_early(node.orelse) and not _may_end_early(node.body):
                node.body, node.orelse, node.negated = node.orelse, node.body, not node.negated
            if _may_end_early(node.body):
                out += node.orelse
                node.orelse = []
    block[:] = out


def _may_end_early(block: list[Node]) -> bool:
    last = block[-1] if block else None
    return isinstance(last, Stop) or (isinstance(last, Op) and last.function is abandon)


def _record_early(loop: Loop) -> None:
    """Save the residuals as soon as they are known, so that variables may be rebound."""
    # A record may come before the operations that follow its values: it only reads, and arrays
    # that are written later are recorded as copies. It may not come before a branch or an inner
    # loop, which may leave the iteration: then the reverse pass would run one that never ended.
    body = loop.body
    records = [n for n in walk(body) if isinstance(n, Record) and n.loop is loop]
    if len(records) != 1 or records[0] not in body or isinstance(body[-1], Stop):
        return
    body.remove(records[0])
    defined = {n.target: i for i, n in enumerate(body) if isinstance(n, Op)}
    known = {*defined, *loop.phis, loop.target}
    end = len(body) - 1 if body and isinstance(body[-1], Moves) else len(body)
    at = end
    if all(x in known for x in loop.record):
        stops = [i for i, n in enumerate(body) if isinstance(n, Branch | Loop)]
        last = max([*stops, *(defined.get(x, -1) for x in loop.record)], default=-1)
        at = min(last + 1, end)
    body.insert(at, records[0])


def coalesce(body: list[Node]) -> None:
    """Rename values that are only moved at the end of a block to what they are moved to."""
    if not body or not isinstance(body[-1], Moves):
        return
    moves = body[-1]
    rest: list[tuple[Value, Value]] = []
    sources = Counter(source for _, source in moves.pairs)
    for target, source in moves.pairs:
        at = next((i for i, n in enumerate(body) if isinstance(n, Op) and n.target is source), None)
        if at is None or sources[source] > 1 or not _can_rename(body, at, target, source, moves):
            rest.append((target, source))
            continue
        source.name = target.name
    moves.pairs = rest
    if not rest:
        body.pop()


def _can_rename(body: list[Node], at: int, target: Value, source: Value, moves: Moves) -> bool:
    """Return whether the target's name is free from where the source is computed."""
    name = target.name
    read_later = [x for node in walk(body[at + 1 : -1]) for x in reads_of(node)]
    moved = [x for _, x in moves.pairs if x is not source]
    assigned = [x for n in walk(body[: at + 1]) if isinstance(n, Moves) for x in assigned_by(n)]
    return all(x.name != name for x in (*read_later, *moved, *assigned))
