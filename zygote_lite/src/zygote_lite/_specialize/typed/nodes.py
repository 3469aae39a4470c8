"""Typed nodes: interpretation and the reverse pass write them, and the writer prints them."""

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from zygote_lite._specialize.typed.contexts import NOWHERE, Context
from zygote_lite._specialize.typed.stand_ins import Method, Partial, Super
from zygote_lite._specialize.typed.values import Value


@dataclass(eq=False)
class Node:
    """The base of all nodes: it has the user's syntax node, for its position.

    `context` is what it runs in, from the outermost `with` to the innermost.
    """

    origin: ast.AST
    context: tuple[Context, ...] = field(default=NOWHERE, kw_only=True)


@dataclass(eq=False)
class Op(Node):
    """`target = function(*arguments, **keywords)`, which changes nothing.

    `reverse_rule` makes the cotangents of the arguments, where a gradient passes. `check` is set
    where the type of the value is not certain and is tested when the code runs. `suspect` is on
    a product in which a zero may have met an infinity. `required` is a call of the user's, which
    is made even if nobody reads its value. `active_operands` are those of that call, in the order
    of what `reverse_rule` makes; `snapshot_of` is set on a copy that is needed only if the array is
    written later; `into` is the array that the result is written over: an operand that is not
    read again, or, where `onto`, another array that nobody needs any more.
    """

    target: Value
    function: Any
    arguments: list[Value]
    keywords: dict[str, Value] = field(default_factory=dict)
    reverse_rule: Any = None
    check: bool = False
    required: bool = False
    suspect: bool = False
    active_operands: list[Value] = field(default_factory=list)
    snapshot_of: Value | None = None
    into: Value | None = None
    onto: bool = False


@dataclass(eq=False)
class StoreItem(Node):
    """`array[index] = value`; `alike` where the value has the shape of that part."""

    array: Value
    index: Value
    value: Value
    alike: bool = False


@dataclass(eq=False)
class Append(Node):
    """`array.append(value)`, of a list."""

    array: Value
    value: Value


@dataclass(eq=False)
class AddInto(Node):
    """`target += value`, or `target[index] += value`, where indices may repeat.

    The target may be a list: then an index is a tuple of those that lead to the item; where
    `each`, the value is added to each item. What is added `first`, to zeros, is assigned.
    """

    target: Value
    value: Value
    index: Value | None = None
    sign: str = "+"
    repeats: bool = False
    each: bool = False
    first: bool = False


@dataclass(eq=False)
class Moves(Node):
    """`target, ... = source, ...`, all at once."""

    pairs: list[tuple[Value, Value]]


@dataclass(eq=False)
class Branch(Node):
    """`if test: body else: orelse`; where `negated`, `if not test`."""

    test: Value
    body: list[Node]
    orelse: list[Node]
    negated: bool = False
    joined: list[Value] = field(default_factory=list)


@dataclass(eq=False)
class Protected(Branch):
    """`try: first`, `except caught: body`, `else: orelse`; `test` tells whether `first` raised.

    Attributes:
        first: what may raise.
        caught: for each handler, the classes of the errors that it catches.
        which: the number of the handler, where there are several; `body` then asks for it.
        error: the error, where it may be raised again.
    """

    first: list[Node] = field(default_factory=list)
    caught: list[tuple[type[BaseException], ...]] = field(default_factory=list)
    which: Value | None = None
    error: Value | None = None


@dataclass(eq=False)
class Loop(Node):
    """`for target in iterable: body`, or `while True: body`, with the variables it carries.

    Attributes:
        target: the loop variable; none in a `while` loop.
        iterable: what is iterated over.
        phis: the carried variables at the start of an iteration.
        outs: the same after the loop.
        outer: the loop around, if any.
        tape: the name of the list that saves the residuals of each iteration.
        is_closed: whether the body is written to its end, so that nothing is made there any more.
    """

    target: Value | None
    iterable: Value | None
    body: list[Node]
    phis: list[Value]
    outs: list[Value]
    outer: "Loop | None"
    tape: Value | None = None
    record: list[Value] = field(default_factory=list)
    is_closed: bool = False


@dataclass(eq=False)
class Stop(Node):
    """`break`."""


@dataclass(eq=False)
class Backwards(Node):
    """`for record in reversed(tape): body`, of a loop."""

    loop: Loop
    body: list[Node]


@dataclass(eq=False)
class Record(Node):
    """`tape.append(record)`, of a loop."""

    loop: Loop


_INNER_BLOCKS: dict[type[Node], Callable[[Any], list[list[Node]]]] = {
    Branch: lambda node: [node.body, node.orelse],
    Protected: lambda node: [node.first, node.body, node.orelse],
    Loop: lambda node: [node.body],
    Backwards: lambda node: [node.body],
}
_READS: dict[type[Node], Callable[[Any], Iterable[Value | None]]] = {
    Op: lambda node: (*node.arguments, *node.keywords.values()),
    StoreItem: lambda node: (node.array, node.index, node.value),
    Append: lambda node: (node.array, node.value),
    AddInto: lambda node: (node.target, node.value, node.index),
    Moves: lambda node: [source for _, source in node.pairs],
    Branch: lambda node: (node.test,),
    Protected: lambda node: (),
    Loop: lambda node: (node.iterable,),
    Stop: lambda node: (),
    Backwards: lambda node: (node.loop.tape,),
    Record: lambda node: node.loop.record,
}
_ASSIGNS: dict[type[Node], Callable[[Any], Iterable[Value | None]]] = {
    Op: lambda node: (node.target,),
    Moves: lambda node: [target for target, _ in node.pairs],
    Protected: lambda node: (node.test, node.which, node.error),
    Loop: lambda node: (*node.phis, *node.outs, node.target),
}


def inner_blocks(node: Node) -> list[list[Node]]:
    """Return the blocks inside a node."""
    found = _INNER_BLOCKS.get(type(node))
    return found(node) if found is not None else []


def reads_of(node: Node) -> list[Value]:
    """Return the values that a node itself reads, parts of structures one by one."""
    found = _READS[type(node)](node)
    return [leaf for value in found if value is not None for leaf in leaves(value)]


def assigned_by(node: Node) -> list[Value]:
    """Return the values that a node itself gives their names."""
    if type(node) not in _ASSIGNS:
        return []
    return [value for value in _ASSIGNS[type(node)](node) if value is not None]


def replace(nodes: Iterable[Node], replaced: dict[Value, Value]) -> None:
    """Read other values in the place of some, in all nodes."""

    def new(x: Value) -> Value:
        if x.items is not None and any(leaf in replaced for leaf in leaves(x)):
            x.items = [new(item) for item in x.items]
        return replaced.get(x, x)

    for node in walk(nodes):
        if isinstance(node, Op):
            node.arguments = [new(x) for x in node.arguments]
            node.keywords = {name: new(x) for name, x in node.keywords.items()}
        elif isinstance(node, StoreItem):
            node.index, node.value = new(node.index), new(node.value)
        elif isinstance(node, Append):
            node.value = new(node.value)
        elif isinstance(node, AddInto):
            node.value = new(node.value)
            node.index = None if node.index is None else new(node.index)
        elif isinstance(node, Moves):
            node.pairs = [(target, new(source)) for target, source in node.pairs]
        elif isinstance(node, Branch) and not isinstance(node, Protected):
            node.test = new(node.test)
        elif isinstance(node, Loop) and node.iterable is not None:
            node.iterable = new(node.iterable)


def leaves(value: Value, around: frozenset[Value] = frozenset()) -> list[Value]:
    """Return the leaves of a structure or of an object made inside, or the value itself.

    An object may be reached from its own attributes: `around` are those that it is reached from.
    """
    items = value.items
    if value.fields is not None:
        items = [] if value in around else [*value.fields.values()]
        around = around | {value}
    if items is None:
        return [value]
    return [leaf for item in items for leaf in leaves(item, around)]


def holds(value: Value, x: Value, objects: bool = True) -> bool:
    """Return whether a structure is a value, or is reached from it, through `objects` or not."""
    waiting, seen = [value], {value}
    while waiting:
        value = waiting.pop()
        if value is x:
            return True
        inner = value.items or []
        if isinstance(value.sample, Method | Super):
            inner = [value.sample.owner]
        elif isinstance(value.sample, Partial):
            inner = [*value.sample.parts]
        elif value.fields is not None:
            inner = [*value.fields.values()] if objects or isinstance(value.sample, tuple) else []
        waiting += [part for part in inner if part not in seen]
        seen.update(inner)
    return False


def is_made_in(x: Value, loop: Loop) -> bool:
    """Return whether a value is computed anew in each iteration of a loop."""
    scope = x.scope
    while scope is not None:
        if scope is loop:
            return True
        scope = scope.outer
    return False


def may_stop(block: list[Node]) -> bool:
    """Return whether a block may leave the loop that it is in."""
    return any(
        isinstance(node, Stop)
        or (isinstance(node, Branch) and any(map(may_stop, inner_blocks(node))))
        for node in block
    )


def surely_runs(loop: Loop) -> bool:
    """Return whether a loop has an iteration in every run, and all of them to their ends."""
    iterable = loop.iterable
    known = iterable is not None and iterable.is_constant and len(iterable.sample) > 0
    return known and not may_stop(loop.body)


def add_at_ends(
    block: list[Node], origin: ast.AST, pairs: list[tuple[Value, Value]], loop: Loop | None = None
) -> None:
    """Add moves wherever the end of a block is reached without leaving the loop.

    At the end of an iteration its residuals are saved before.
    """
    last = block[-1] if block else None
    if isinstance(last, Stop):
        return
    if isinstance(last, Branch) and may_stop([last]):
        for inner in (last.body, last.orelse):
            add_at_ends(inner, origin, pairs, loop)
    else:
        if loop is not None:
            block.append(Record(origin, loop))
        block.append(Moves(origin, [*pairs]))


def walk(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield all nodes of a block, in the order of the text."""
    for node in nodes:
        yield node
        for block in inner_blocks(node):
            yield from walk(block)
