"""Residuals: the values of the forward pass that the reverse pass reads, saved by its loops."""

from collections import Counter
from collections.abc import Callable

from zygote_lite._specialize.typed.facts import Other
from zygote_lite._specialize.typed.nodes import (
    Backwards,
    Branch,
    Loop,
    Moves,
    Node,
    Op,
    Protected,
    Record,
    Stop,
    assigned_by,
    inner_blocks,
    reads_of,
    walk,
)
from zygote_lite._specialize.typed.runtime import abandon, throw
from zygote_lite._specialize.typed.values import Value


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
            swaps = not isinstance(node, Protected)
            if swaps and _may_end_early(node.orelse) and not _may_end_early(node.body):
                node.body, node.orelse, node.negated = node.orelse, node.body, not node.negated
            if _may_end_early(node.body):
                out += node.orelse
                node.orelse = []
    block[:] = out


def _may_end_early(block: list[Node]) -> bool:
    last = block[-1] if block else None
    return isinstance(last, Stop) or (isinstance(last, Op) and last.function in (abandon, throw))


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
    name, later = target.name, body[at + 1 : -1]
    read_later = [x for node in walk(later) for x in reads_of(node)]
    moved = [x for _, x in moves.pairs if x is not source]
    assigned = [x for n in walk(body[: at + 1]) if isinstance(n, Moves) for x in assigned_by(n)]
    taken = any(x.name == name for x in (*read_later, *moved, *assigned))
    return not taken and not _is_left_with(later, name)


def _is_left_with(nodes: list[Node], name: str) -> bool:
    """Return whether `break` may leave the loop with what a variable holds before these nodes."""
    for node in nodes:
        if isinstance(node, Stop):
            return True
        if isinstance(node, Moves) and any(target.name == name for target, _ in node.pairs):
            return False
        if isinstance(node, Branch) and any(_is_left_with(b, name) for b in inner_blocks(node)):
            return True
    return False
