"""Attempts: what may raise an error, what follows it, and what handles the error.

What is run before the error keeps its effects, so the attempt is cut down to where errors may come
from. There is one state of the objects that the function has made, at all of these places.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from zygote_lite._cotangents.kinds import is_written_in_python
from zygote_lite._ir import nodes as ir
from zygote_lite._specialize.infer.branches import join_paths
from zygote_lite._specialize.infer.models.errors import error_of, restricted
from zygote_lite._specialize.infer.reads import value_of_atom
from zygote_lite._specialize.normalize.blocks import Attempt, catches
from zygote_lite._specialize.normalize.exits import assigned, live
from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.contexts import Context
from zygote_lite._specialize.typed.drafts import Env, Tables
from zygote_lite._specialize.typed.facts import Other, Scalar
from zygote_lite._specialize.typed.nodes import (
    Append,
    Node,
    Op,
    Protected,
    StoreItem,
    assigned_by,
    inner_blocks,
    leaves,
    walk,
)
from zygote_lite._specialize.typed.raising import Kinds, may_raise, raised_by, raised_by_store
from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported
from zygote_lite._specialize.typed.runtime import abandon, has_value, is_bound, throw
from zygote_lite._specialize.typed.stand_ins import Error
from zygote_lite._specialize.typed.values import Value, constant, memory_of


@dataclass
class _Point:
    """A node that may raise an error, and by which classes each handler catches it."""

    node: Node
    caught: list[Kinds]


def raise_error(builder: Builder, s: ir.Raise, env: Env) -> None:
    """Write `raise`: as an error where a handler around it may catch it, else the code is left."""
    atom = getattr(s, "kind", None) or s.exception
    if not builder.protected or atom is None:
        builder.demand(abandon)
        return
    x = error_of(builder, value_of_atom(builder, atom, env))
    error = x.sample
    if error.variable is not None and error.which is not None:
        raise NotSupported.STATEMENT("it raises one of several caught exceptions again")
    builder.demand(throw, error.variable or constant(error.kinds[0]))
    builder.thrown[builder.out[-1]] = error


def interpret_attempt(
    builder: Builder, s: Attempt, env: Env, after: set[str], at_break: set[str],
    begin: Callable[[set[str]], Env | None],
) -> Env | None:  # fmt: skip
    """Write an attempt; return the variables after it, or `None` where that is not reached.

    Arguments:
        builder: what writes the code.
        s: the attempt.
        env: the variables before it.
        after: those that may be read after it.
        at_break: those that may be read after the loop that it is in.
        begin: writes what may raise, given the variables that may be read after that.
    """
    start, context, known = len(builder.out), builder.context, dict(builder.known)
    unified = len(builder.unified)
    builder.protected += 1
    try:
        done = begin(live(s.orelse, after, at_break))
    except NotSpecializable as reason:
        if reason.raises is None:
            raise
        written = builder.out[start:]
        certain = is_run_before(s, reason) and not [*_points(written, _clauses(builder, s, env))]
        if written and not certain:
            raise
        builder.context = context
        error = Error((reason.raises,))
        return builder.block(s.body, {**env, s.kind: constant(error)}, after)
    finally:
        builder.protected -= 1
    nodes = builder.out[start:]
    clauses = _clauses(builder, s, env)
    points = [*_points(nodes, clauses)]
    if not points:
        found = None if done is None else builder.block(s.orelse, done, after)
        builder.context = context
        return found
    first, last = _cut(nodes, points)
    made = {x for node in walk(nodes[first:]) for x in assigned_by(node)}
    _refuse_effects(nodes[first:last], made)
    partly = assigned(s.first) if isinstance(s.first[-1], ir.For | ir.While | ir.If) else set()
    if partly & live(s.body, after, at_break):
        raise NotSupported.STATEMENT(
            "a loop is left by an exception, and its variables are read after that"
        )
    state, error = _state_of(builder, points, made), _error_of(builder, points, made)
    builder.context, after_it = context, builder.context
    if done is None and len(points) == 1 and points[0].node is nodes[-1]:  # what follows handles it
        builder.out.pop()
        return builder.block(s.body, {**env, s.kind: constant(error)}, after)
    for p in points:
        if isinstance(p.node, Op) and p.node.function is has_value:
            p.node.function = is_bound
    del builder.out[start + first :]
    error.order = clauses
    node = _protected(builder, error, nodes[first:last], points)
    tables, now = builder.tables(), dict(builder.known)
    roots = [(x, x.shaped) for x in builder.unified[unified:]]

    def handle() -> Env | None:
        builder.known = dict(known)
        for x, _ in roots:
            x.shaped = None
        builder.go_back_to(state)
        return builder.block(s.body, {**env, s.kind: constant(error)}, after)

    def go_on() -> Env | None:
        builder.known, builder.context = dict(now), after_it
        for x, root in roots:
            x.shaped = root
        builder.go_back_to(tables)
        builder.out += nodes[last:]
        return None if done is None else builder.block(s.orelse, done, after)

    found = join_paths(builder, node, env, after, handle, go_on)
    builder.context = context
    return found


def is_run_before(s: Attempt, reason: NotSpecializable) -> bool:
    """Return whether all that is written of an attempt is run, and then it raises."""
    return reason.after_all and len(s.first) == 1 and isinstance(s.first[0], ir.Call)


def _protected(
    builder: Builder, error: Error, first: list[Node], points: list[_Point]
) -> Protected:
    """Return a node without its paths, and give the error what the handlers read."""
    flag = builder.value(Scalar(frozenset((bool,))), False, "raised")
    node = Protected(builder.origin, flag, [], [], first=first)
    columns = zip(*[p.caught for p in points], strict=True)
    caught = [
        tuple(dict.fromkeys(kind for kinds in column for kind in kinds)) for column in columns
    ]
    error.asked = [(kinds, place) for place, kinds in enumerate(caught) if kinds]
    node.caught = [kinds for kinds, _ in error.asked]
    if error.args is None:
        node.error = error.variable = builder.value(Other(tuple), error.kinds, "error")
    if len(node.caught) > 1:
        error.which = node.which = builder.value(Scalar(frozenset((int,))), 0, "which")
    return node


def _clauses(builder: Builder, s: Attempt, env: Env) -> list[Kinds]:
    """Return the classes that the handlers of an attempt catch, the widest last."""
    found: dict[str, Kinds] = {}
    for inner in ir.every(s.body):
        match inner:
            case ir.Call(_, target, ir.Const(f), [ir.Name(kind), *kinds]) if (
                f is catches and kind == s.kind
            ):
                found[target] = tuple([value_of_atom(builder, x, env).sample for x in kinds])
            case ir.If(_, ir.Name(test), [ir.Move(), ir.Move(), ir.Call() as leaving, *_]) if (
                test in found and leaving.function == ir.Intrinsic("exit_context")
            ):  # what `with` does not swallow, it does not catch
                manager = value_of_atom(builder, leaving.arguments[0], env).sample
                if isinstance(manager, Context):
                    found[test] = manager.kinds
    return sorted({*found.values()} - {()}, key=_width)


def _width(kinds: Kinds) -> int:
    """Return a number that is greater for a handler that catches all that another does."""
    return -min(len(kind.__mro__) for kind in kinds)


def _points(nodes: list[Node], clauses: list[Kinds]) -> Iterator[_Point]:
    """Yield the nodes that may raise what a handler catches."""
    for node, kinds in _raised_in(nodes):
        caught = []
        for clause in clauses:
            wanted = [
                k
                for k in clause
                if not is_written_in_python(k) or k in kinds or _may_raise(node, k)
            ]
            caught.append(restricted(kinds, tuple(wanted)))
            kinds = tuple([kind for kind in kinds if not issubclass(kind, clause)])
        if any(caught):
            yield _Point(node, caught)


def _may_raise(node: Node, kind: type[BaseException]) -> bool:
    return isinstance(node, Op) and may_raise(node, kind)


def _raised_in(nodes: list[Node]) -> Iterator[tuple[Node, Kinds]]:
    """Yield the nodes that may raise an error that no handler inside catches."""
    for node in nodes:
        if isinstance(node, Op):
            yield node, raised_by(node)
        elif isinstance(node, StoreItem):
            yield node, raised_by_store(node)
        elif isinstance(node, Protected):
            caught = tuple([kind for kinds in node.caught for kind in kinds])
            for inner, kinds in _raised_in(node.first):
                yield inner, tuple([kind for kind in kinds if not issubclass(kind, caught)])
            yield from _raised_in([*node.body, *node.orelse])
        else:
            for block in inner_blocks(node):
                yield from _raised_in(block)


def _cut(nodes: list[Node], points: list[_Point]) -> tuple[int, int]:
    """Return where the nodes begin and end that may raise."""
    raising = {p.node for p in points}
    at = [i for i, node in enumerate(nodes) if not raising.isdisjoint(walk([node]))]
    return at[0], at[-1] + 1


def _refuse_effects(nodes: list[Node], made: set[Value]) -> None:
    """Refuse nodes that change what is there before them, where an error may come later."""
    for node in walk(nodes):
        if isinstance(node, StoreItem | Append) and memory_of(node.array) not in made:
            raise NotSupported.STATEMENT(
                "it changes an array or a list inside a `try`: change it after the `try`"
            )
        if isinstance(node, Op) and not node.required and raised_by(node):
            raise NotSupported.RULE_FORM("a rule may raise an exception that the program catches")


def _state_of(builder: Builder, points: Iterable[_Point], made: set[Value]) -> Tables:
    """Return the attributes of objects at all places where errors may come from."""
    items = {x: tuple(x.items or ()) for x in builder.homes}
    found: Tables | None = None
    for p in points:
        tables, held = builder.states.get(p.node, (builder.tables(), {}))
        if any(items[x] != held.get(x, items[x]) for x in items):
            raise NotSupported.STATEMENT(
                "it changes a list or a dict inside a `try`: change it after the `try`"
            )
        if found is not None and found != tables:
            raise NotSupported.STATEMENT(
                "it changes an object inside a `try`: change it after the `try`"
            )
        found = tables
    assert found is not None
    fields = [x for table in found.values() for part in table.values() for x in leaves(part)]
    if not made.isdisjoint(fields):
        raise NotSupported.STATEMENT(
            "it changes an object inside a `try`: change it after the `try`"
        )
    return found


def _error_of(builder: Builder, points: list[_Point], made: set[Value]) -> Error:
    """Return the error that handlers find: as it was made, where there is one only."""
    kinds = dict.fromkeys(kind for p in points for kinds in p.caught for kind in kinds)
    known = builder.thrown.get(points[0].node)
    given = None if known is None or len(points) > 1 else known.args
    if known is None or given is None:
        return Error(tuple(kinds))
    is_kept = made.isdisjoint(leaf for x in given for leaf in leaves(x))
    return Error(known.kinds, given) if is_kept else Error(tuple(kinds))
