"""From typed code to readable Python."""

import operator
import re
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from zygote_lite._specialize.passes.buffer_reuse import SWAPPED, WRITES_OVER, is_huge
from zygote_lite._specialize.rules.contributions import Mirror
from zygote_lite._specialize.text.context_groups import by_context
from zygote_lite._specialize.text.lines import Lines
from zygote_lite._specialize.text.spell import ATOM, operands_of, spelled
from zygote_lite._specialize.typed.contexts import Context
from zygote_lite._specialize.typed.facts import ArrayOf, ListOf, Scalar
from zygote_lite._specialize.typed.nodes import (
    AddInto,
    Append,
    Backwards,
    Branch,
    Loop,
    Moves,
    Node,
    Op,
    Protected,
    Record,
    Stop,
    StoreItem,
    assigned_by,
    leaves,
    reads_of,
    walk,
)
from zygote_lite._specialize.typed.runtime import (
    abandon,
    add_item,
    add_lists,
    add_to_each,
    add_to_part,
    has_key,
    has_length,
    is_view,
    same_shape,
    throw,
)
from zygote_lite._specialize.typed.shadows import add_number
from zygote_lite._specialize.typed.values import Value

_WIDTH = 76
_TEMPORARY = re.compile(r"d?t\d+(_\d+)?$")
_STATEMENTS = {
    operator.setitem: "{}[{}] = {}", operator.delitem: "del {}[{}]", add_number: "{}[{}] += {}"
}  # fmt: skip


@dataclass(eq=False)
class Writer(Lines):
    """Write typed code.

    Attributes:
        looks: whether the types of what is uncertain are looked at.
    """

    looks = True

    takes_any: bool = True  # whether no node of the block needs a context of its own
    uses: Counter[Value] = field(default_factory=Counter)
    first: dict[str, Value] = field(default_factory=dict)
    shared: Counter[str] = field(default_factory=Counter)  # how many further values have a name

    def count(self, blocks: list[list[Node]], results: list[Value]) -> None:
        """Count how often each value is read."""
        for block in blocks:
            for node in walk(block):
                self.takes_any = self.takes_any and not node.context
                self.uses.update(reads_of(node))
                for x in assigned_by(node):
                    self.shared[x.name] += self.first.setdefault(x.name, x) is not x
        self.uses.update(leaf for x in results for leaf in leaves(x))

    def indented(self, block: list[Node]) -> None:
        self.depth += 1
        before = len(self.text.lines)
        self.block(block)
        if len(self.text.lines) == before:
            self.line("pass")
        self.depth -= 1

    def block(self, nodes: list[Node]) -> None:
        """Write the lines of a block: what runs in a context in a `with` of its own."""
        if self.takes_any:
            self.nodes(nodes)
            return
        for context, group in by_context(nodes):
            if context:
                self.origin = group[0].origin
                self.line(f"with {', '.join(map(self.manager, context))}:")
                self.depth += 1
            self.takes_any = bool(context)
            self.nodes(group)
            self.depth -= bool(context)
            self.takes_any = False

    def manager(self, context: Context) -> str:
        """Return the text that makes a context."""
        options = [f"{name}={_in_double_quotes(self.constant(x)[0])}"
                   for name, x in context.options.items()]  # fmt: skip
        return f"{self.function(context.manager)}({', '.join(options)})"

    def nodes(self, nodes: list[Node]) -> None:
        for i, node in enumerate(nodes):
            self.origin = node.origin
            if isinstance(node, Op) and self.fits_inside(node, nodes[i + 1 :]):
                self.inlined[node.target] = self.operation(node)
                continue
            self.node(node)

    def fits_inside(self, op: Op, rest: list[Node]) -> bool:
        """Return whether an operation is written where its value is read."""
        x = op.target
        if self.uses[x] != 1 or self.shared[x.name] or op.check or not _TEMPORARY.match(x.name):
            return False
        if (op.into is not None and op.into not in self.inlined) or is_huge(x):
            return False
        in_order = isinstance(op.reverse_rule, Mirror) or (op.required and x.reverse)
        if in_order or any(y.contents for y in reads_of(op)):
            return False  # what is done to containers is done in its order
        if op.function in (
            abandon,
            throw,
            has_key,
            has_length,
            is_view,
            same_shape,
            np.zeros_like,
            list.pop,
            list,
        ):
            return False
        text, _ = self.operation(op)
        if len(text) > _WIDTH - 4 * self.depth - 16:
            return False
        words = {*re.findall(r"\w+", text)}
        for node in rest:
            if x in reads_of(node):
                if isinstance(node, Op) and node.into is x:  # of temporaries, NumPy does it itself
                    return node.function in WRITES_OVER or node.function is operator.neg
                return not isinstance(node, Loop | Backwards | Record)
            if not isinstance(node, Op) or node.target.name in words:
                return False
            if node.into is not None and node.into.name in words:
                return False
        return False

    def node(self, node: Node) -> None:
        match node:
            case Op():
                self.op(node)
            case StoreItem(_, array, index, value, _):
                at = self.within(array, ATOM)
                self.line(f"{at}[{self.index(index)}] = {self.expression(value)}")
            case Append(_, array, value):
                self.line(f"{self.read(array)}.append({self.expression(value)})")
            case AddInto(_, target) if isinstance(target.fact, ListOf):
                self.add_to_list(node)
            case AddInto():
                self.add(node)
            case Moves(_, pairs):
                self.moves(pairs)
            case Protected():
                self.protected(node)
            case Branch(_, test, body, orelse, negated):
                self.branch(test, body, orelse, negated)
            case Loop():
                self.loop(node)
            case Backwards(_, loop, body):
                self.backwards(loop, body)
            case Record(_, loop):
                self.keep(loop)
            case Stop():
                self.line("break")

    def op(self, node: Op) -> None:
        f, x = node.function, node.target
        if self.exits(f, node.arguments):
            return
        if node.into is not None and node.into not in self.inlined:
            self.in_place(node, node.into)
        elif f in _STATEMENTS:
            self.line(_STATEMENTS[f].format(*self.statement_parts(node.arguments)))
        elif self.is_statement(node):
            self.line(self.operation(node)[0])
        else:
            self.line(f"{x.name} = {self.operation(node)[0]}")
            if node.check and self.looks:
                self.leave_if(self.misfit(x))

    def is_statement(self, op: Op) -> bool:
        """Return whether an operation is one for what it does, and nobody reads its value."""
        x = op.target
        is_effect = op.required and not op.check and x.sample is None
        is_effect = is_effect or isinstance(op.reverse_rule, Mirror)
        return is_effect and not (self.uses[x] or self.shared[x.name])

    def statement_parts(self, xs: list[Value]) -> list[str]:
        """Return the texts of a container, of an index, and of what is written there."""
        return [self.within(xs[0], ATOM), self.index(xs[1]), *map(self.expression, xs[2:])]

    def in_place(self, node: Op, x: Value) -> None:
        """Write an operation whose result takes the memory, and the name, of an operand."""
        at, xs = self.read(x), operands_of(node)
        of = WRITES_OVER.get(node.function)
        if of is not None and not node.onto and (xs[0] is x or node.function in SWAPPED):
            self.line(f"{at} {of.symbol}= {self.expression(xs[xs[0] is x])}")
        elif of is not None or node.function is operator.neg:
            given = ", ".join(map(self.expression, xs))
            self.line(f"{spelled(of.ufunc if of else np.negative)}({given}, out={at})")
        else:
            self.line(f"{self.operation(node)[0][:-1]}, out={at})")
        node.target.name = x.name

    def misfit(self, x: Value) -> str:
        if isinstance(x.fact, ArrayOf):
            kind = f"{x.name}.dtype != {self.constant(x.fact.dtype.type)[0]}"
            rank = f"{x.name}.ndim != {len(x.fact.axes)}"
            return f"type({x.name}) is not np.ndarray or {rank} or {kind}"
        classes = x.fact.classes if isinstance(x.fact, Scalar) else {type(x.sample)}
        names = [self.constant(c)[0] for c in sorted(classes, key=lambda c: c.__name__)]
        if len(names) == 1:
            return f"type({x.name}) is not {names[0]}"
        return f"type({x.name}) not in ({', '.join(names)})"

    def add(self, node: AddInto) -> None:
        at, value = self.within(node.target, ATOM), self.expression(node.value)
        if node.index is None:
            at = f"{at}[...]" if node.target in self.inlined else at
            self.line(f"{at} {node.sign}= {value}")
        elif node.repeats:
            self.line(f"np.add.at({at}, {self.expression(node.index)}, {value})")
        else:
            sign = "" if node.first else node.sign
            self.line(f"{at}[{self.index(node.index)}] {sign}= {value}")

    def add_to_list(self, node: AddInto) -> None:
        path = [] if node.index is None else node.index.items or []
        at = self.read(node.target) + "".join(f"[{self.index(i)}]" for i in path)
        value = self.expression(node.value)
        if node.value.is_array:
            whole = self.read(node.target) + "".join(f"[{self.index(i)}]" for i in path[:-1])
            given = [whole, *[self.expression(i) for i in path[-1:]], value]
            add = add_to_each if node.each else add_item
            self.line(f"{self.function(add)}({', '.join(given)})")
        elif node.each:
            k = self.namer("k")
            self.line(f"for {k} in range(len({at})):", f"    {at}[{k}] += {value}")
        elif node.value.is_scalar:
            self.line(f"{at} += {value}")
        elif path and isinstance(path[-1].sample, slice):
            at = self.read(node.target) + "".join(f"[{self.index(i)}]" for i in path[:-1])
            where = self.expression(path[-1])
            self.line(f"{self.function(add_to_part)}({at}, {where}, {value})")
        else:
            self.line(f"{self.function(add_lists)}({at}, {value})")

    def moves(self, pairs: list[tuple[Value, Value]]) -> None:
        pairs = [(t, s) for t, s in pairs if s.is_constant or self.read(t) != self.expression(s)]
        if not pairs:
            return
        targets = [self.read(t) for t, _ in pairs]
        sources = [self.expression(s) for _, s in pairs]
        reads = {word for text in sources for word in re.findall(r"\w+", text)}
        if len(pairs) > 1 and reads & {*targets}:
            self.line(f"{', '.join(targets)} = {', '.join(sources)}")
            return
        for t, s in zip(targets, sources, strict=True):
            self.line(f"{t} = {s}")

    def branch(self, test: Value, body: list[Node], orelse: list[Node], negated: bool) -> None:
        text, level = self.expression_of(test)
        if not body:
            body, orelse, negated = orelse, [], not negated
        if negated:
            text = f"not {text}" if level > 4 and level != 5 else f"not ({text})"
        self.line(f"if {text}:")
        self.indented(body)
        if orelse:
            self.line("else:")
            self.indented(orelse)

    def protected(self, node: Protected) -> None:
        """Write `try`: the handler stands in it where there is one only."""
        test = [f"{node.test.name} = {{}}"] if self.uses[node.test] or node.which else []
        self.line("try:")
        self.indented(node.first)
        for i, kinds in enumerate(node.caught):
            names = [self.error(kind) for kind in kinds]
            caught = names[0] if len(names) == 1 else f"({', '.join(names)})"
            x = node.error
            held = f" as {x.name}" if x is not None and self.uses[x] else ""
            self.line(f"except {caught}{held}:")
            more = [f"    {text.format(True)}" for text in test]
            if node.which is not None:
                self.line(*more, f"    {node.which.name} = {i}")
                continue
            self.line(*more)
            if node.body or not more:
                self.indented(node.body)
        if test or (node.orelse and node.which is None):
            self.line("else:", *[f"    {text.format(False)}" for text in test])
            if node.which is None and node.orelse:
                self.indented(node.orelse)
        if node.which is not None:
            self.branch(node.test, node.body, node.orelse, negated=False)

    def loop(self, node: Loop) -> None:
        if node.tape is not None:
            self.begin_tape(node)
            first = next((i for i, n in enumerate(node.body) if _keeps(n, node)), 0)
            known = {n.target for n in node.body[:first] if isinstance(n, Op)}
            names = {x.name for x in (*node.phis, node.target) if x is not None}
            for x in node.record:
                if x not in known and x.name not in names:
                    names.add(x.name)
                    self.line(f"{x.name} = {self.nothing(x)}")
        if node.target is None:
            self.line("while True:")
        else:
            assert node.iterable is not None
            name = node.target.name if self.uses[node.target] else "_"
            self.line(f"for {name} in {self.expression(node.iterable)}:")
        self.indented(node.body)

    def nothing(self, x: Value) -> str:
        """Return what a variable holds before it is first assigned."""
        return "None"

    def begin_tape(self, loop: Loop) -> None:
        """Write the empty tape before the first iteration."""
        assert loop.tape is not None
        self.line(f"{loop.tape.name} = []")

    def keep(self, loop: Loop) -> None:
        """Write what keeps a turn."""
        assert loop.tape is not None
        self.line(f"{loop.tape.name}.append({self.kept(loop)})")

    def kept(self, loop: Loop) -> str:
        names = [x.name for x in loop.record]
        if len(names) == 1:
            return names[0]
        return f"({', '.join(names)})" if names else "0"

    def backwards(self, loop: Loop, body: list[Node]) -> None:
        assert loop.tape is not None
        names = [self.read(x) for x in loop.record]
        tape = loop.tape.name
        if names:
            self.line(f"for {', '.join(names)} in reversed({tape}):")
        else:
            self.line(f"for _ in {tape}:")
        self.indented(body)


def _in_double_quotes(text: str) -> str:
    return text.replace("'", '"')


def _keeps(node: Node, loop: Loop) -> bool:
    """Return whether a node saves an iteration of a loop, itself or in a block inside."""
    return any(isinstance(n, Record) and n.loop is loop for n in walk([node]))
