"""From typed code to readable Python."""

import ast
import builtins
import math
import operator
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zygote_lite._optimize._calls import Attribute
from zygote_lite._optimize._finish import Namer
from zygote_lite._optimize._nodes import (
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
    Store,
    leaves,
    reads_of,
    walk,
)
from zygote_lite._optimize._reuse import IN_PLACE, SWAPPED, is_huge
from zygote_lite._optimize._runtime import (
    UNSET,
    ZERO,
    abandon,
    add_lists,
    add_to_part,
    as_it_is,
    call_back,
    has_value,
    same_shape,
)
from zygote_lite._optimize._values import ArrayOf, ListOf, Scalar, Value

_BINARY: dict[Any, tuple[str, int]] = {
    operator.or_: ("|", 7), operator.xor: ("^", 8), operator.and_: ("&", 9),
    operator.add: ("+", 11), operator.sub: ("-", 11), operator.mul: ("*", 12),
    operator.truediv: ("/", 12), operator.floordiv: ("//", 12), operator.mod: ("%", 12),
    operator.matmul: ("@", 12), operator.pow: ("**", 14),
    operator.lt: ("<", 5), operator.le: ("<=", 5), operator.gt: (">", 5), operator.ge: (">=", 5),
    operator.eq: ("==", 5), operator.ne: ("!=", 5), operator.is_: ("is", 5),
    operator.is_not: ("is not", 5),
}  # fmt: skip
_UNARY: dict[Any, tuple[str, int]] = {
    operator.neg: ("-", 13), operator.pos: ("+", 13), operator.invert: ("~", 13),
    operator.not_: ("not ", 4),
}  # fmt: skip
METHODS = (np.sum, np.mean, np.max, np.min, np.prod)  # quicker as methods of an array
_ATOM = 20
_WIDTH = 76
_TEMPORARY = re.compile(r"d?t\d+(_\d+)?$")
LEFT = 'raise RuntimeError("left to the generic engine")'


@dataclass
class Text:
    """Lines of Python, each with the user's syntax node that it stands for."""

    lines: list[str] = field(default_factory=list)
    origins: list[ast.AST] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join(self.lines)


class Writer:
    """Write typed code.

    Attributes:
        bound: objects that the text names, beside `np` and `math`.
        looks: whether the types of what is uncertain are looked at.
    """

    looks = True

    def __init__(self, used: set[str]) -> None:
        self.namer = Namer(used)
        self.bound: dict[str, Any] = {}
        self.text = Text()
        self.depth = 0
        self.inlined: dict[Value, tuple[str, int]] = {}
        self.renamed: dict[Value, str] = {}
        self.renamed_back: dict[Value, str] = {}
        self.uses: Counter[Value] = Counter()
        self.first: dict[str, Value] = {}
        self.shared: Counter[str] = Counter()  # how many further values have a name
        self.origin: ast.AST = ast.Pass()

    def count(self, blocks: list[list[Node]], results: list[Value]) -> None:
        """Count how often each value is read."""
        for block in blocks:
            for node in walk(block):
                self.uses.update(reads_of(node))
                made = [node.target] if isinstance(node, Op) else []
                made += [x for x, _ in node.pairs] if isinstance(node, Moves) else []
                for x in made:
                    self.shared[x.name] += self.first.setdefault(x.name, x) is not x
        self.uses.update(leaf for x in results for leaf in leaves(x))

    # -- lines ---------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self.text.lines.append("    " * self.depth + text)
        self.text.origins.append(self.origin)

    def indented(self, block: list[Node]) -> None:
        self.depth += 1
        before = len(self.text.lines)
        self.block(block)
        if len(self.text.lines) == before:
            self.line("pass")
        self.depth -= 1

    def block(self, nodes: list[Node]) -> None:
        """Write the lines of a block."""
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
        if op.function in (abandon, same_shape, np.zeros_like, list.pop, list):
            return False
        text, _ = self.operation(op)
        if len(text) > _WIDTH - 4 * self.depth - 16:
            return False
        words = {*re.findall(r"\w+", text)}
        for node in rest:
            if x in reads_of(node):
                if isinstance(node, Op) and node.into is x:  # of temporaries, NumPy does it itself
                    return node.function in IN_PLACE or node.function is operator.neg
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
            case Store(_, array, index, value, _):
                at = self.within(array, _ATOM)
                self.line(f"{at}[{self.index(index)}] = {self.expression(value)}")
            case Append(_, array, value):
                self.line(f"{self.read(array)}.append({self.expression(value)})")
            case AddInto(_, target) if isinstance(target.fact, ListOf):
                self.add_to_list(node)
            case AddInto():
                self.add(node)
            case Moves(_, pairs):
                self.moves(pairs)
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
        if node.function is abandon:
            self.line(LEFT)
            return
        if node.function is has_value:
            self.line(f"if {self.expression(node.arguments[0])} is {self.function(UNSET)}:")
            self.line(f"    {LEFT}")
            return
        if node.function is same_shape:
            a, b = [self.within(x, _ATOM) for x in node.arguments]
            self.line(f"if {a}.shape != {b}.shape:")
            self.line(f"    {LEFT}")
            return
        if node.into is not None and node.into not in self.inlined:
            self.in_place(node, node.into)
            return
        text, _ = self.operation(node)
        x = node.target
        self.line(f"{x.name} = {text}")
        if node.check and self.looks:
            self.line(f"if {self.misfit(x)}:")
            self.line(f"    {LEFT}")

    def in_place(self, node: Op, x: Value) -> None:
        """Write an operation whose result takes the memory, and the name, of an operand."""
        at, xs = self.read(x), node.arguments
        if node.function in IN_PLACE:
            sign, f = IN_PLACE[node.function]
            if node.onto:
                given = f"{self.expression(xs[0])}, {self.expression(xs[1])}"
                self.line(f"{spelled(f)}({given}, out={at})")
            elif xs[0] is x or node.function in SWAPPED:
                self.line(f"{at} {sign} {self.expression(xs[xs[0] is x])}")
            else:
                given = f"{self.expression(xs[0])}, {self.expression(xs[1])}"
                self.line(f"{spelled(f)}({given}, out={at})")
        elif node.function is operator.neg:
            self.line(f"np.negative({self.expression(xs[0])}, out={at})")
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
        at, value = self.read(node.target), self.expression(node.value)
        if node.index is None:
            self.line(f"{at} {node.sign}= {value}")
        elif node.repeats:
            self.line(f"np.add.at({at}, {self.expression(node.index)}, {value})")
        else:
            self.line(f"{at}[{self.index(node.index)}] {'=' if node.first else '+='} {value}")

    def add_to_list(self, node: AddInto) -> None:
        path = [] if node.index is None else node.index.items or []
        at = self.read(node.target) + "".join(f"[{self.index(i)}]" for i in path)
        value = self.expression(node.value)
        if node.unless_none:
            self.line(f"if {value} is not {self.constant(ZERO)[0]}:")
            self.depth += 1
        if node.each:
            k = self.namer("k")
            self.line(f"for {k} in range(len({at})):")
            self.line(f"    {at}[{k}] += {value}")
        elif node.value.is_scalar:
            self.line(f"{at} += {value}")
        elif path and isinstance(path[-1].sample, slice):
            at = self.read(node.target) + "".join(f"[{self.index(i)}]" for i in path[:-1])
            where = self.expression(path[-1])
            self.line(f"{self.function(add_to_part)}({at}, {where}, {value})")
        else:
            self.line(f"{self.function(add_lists)}({at}, {value})")
        self.depth -= node.unless_none

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
        """Write what is there before the first turn."""
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

    # -- expressions ---------------------------------------------------------------------------

    def read(self, x: Value) -> str:
        return self.renamed.get(x, x.name)

    def expression(self, x: Value) -> str:
        return self.expression_of(x)[0]

    def expression_of(self, x: Value) -> tuple[str, int]:
        """Return the text of an operand, and how tightly it binds."""
        if x in self.inlined:
            return self.inlined[x]
        if x.items is not None:
            return self.structure(x), _ATOM
        if x.is_constant:
            return self.constant(x.sample)
        return self.read(x), _ATOM

    def structure(self, x: Value) -> str:
        parts = [self.expression(item) for item in x.items or ()]
        if isinstance(x.sample, slice):
            return f"slice({', '.join(parts)})"
        if isinstance(x.sample, list):
            return f"[{', '.join(parts)}]"
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"

    def index(self, x: Value) -> str:
        """Return the text of a subscript."""
        if isinstance(x.sample, slice):
            if x.items is None:
                parts = [constant_text(p) for p in (x.sample.start, x.sample.stop, x.sample.step)]
            else:
                parts = [self.expression(p) for p in x.items]
            start, stop, step = ["" if p == "None" else p for p in parts]
            return f"{start}:{stop}" + (f":{step}" if step else "")
        if type(x.sample) is tuple and x.items:
            text = ", ".join(self.index(item) for item in x.items)
            return text + "," * (len(x.items) == 1)
        return self.expression(x)

    def operation(self, op: Op) -> tuple[str, int]:
        """Return the text of an operation, and how tightly it binds."""
        f, xs = op.function, op.arguments
        if isinstance(f, Attribute):
            return f"{self.within(xs[0], _ATOM)}.{f.name}", _ATOM
        if f is operator.getitem:
            return f"{self.within(xs[0], _ATOM)}[{self.index(xs[1])}]", _ATOM
        if f is call_back:
            return f"{self.expression(xs[0])}({self.expression(xs[1])})", _ATOM
        if _hashable(f) and f in _BINARY and len(xs) == 2:
            sign, level = _BINARY[f]
            left = self.within(xs[0], level + (sign == "**") + (level == 5))
            right = self.within(xs[1], level + (sign != "**"))
            return f"{left} {sign} {right}", level
        if _hashable(f) and f in _UNARY:
            sign, level = _UNARY[f]
            return sign + self.within(xs[0], level), level
        if f is list and not xs:
            return "[]", _ATOM
        if f is as_it_is:
            return self.expression_of(xs[0])
        given = [self.expression(x) for x in xs]
        given += [f"{name}={self.expression(x)}" for name, x in op.keywords.items()]
        name = getattr(f, "__name__", "")
        if f in METHODS and xs[0].is_array and op.keywords.keys() <= {"axis", "keepdims"}:
            return f"{self.within(xs[0], _ATOM)}.{name}({', '.join(given[1:])})", _ATOM
        if getattr(f, "__objclass__", None) in (np.ndarray, np.generic, list):
            return f"{self.within(xs[0], _ATOM)}.{name}({', '.join(given[1:])})", _ATOM
        return f"{self.function(f)}({', '.join(given)})", _ATOM

    def within(self, x: Value, level: int) -> str:
        text, own = self.expression_of(x)
        return text if own >= level else f"({text})"

    def function(self, f: Any) -> str:
        """Return the text that names a function."""
        known = spelled(f)
        return known if known is not None else self.bind(f)

    def bind(self, x: Any, stem: str = "") -> str:
        """Return a name for an object that has no spelling of its own."""
        for name, known in self.bound.items():
            if known is x:
                return name
        stem = stem or re.sub(r"\W", "_", getattr(x, "__name__", type(x).__name__.lower()))
        name = self.namer(stem if stem.isidentifier() else "rule")
        self.bound[name] = x
        return name

    def constant(self, x: Any) -> tuple[str, int]:
        if x is ZERO:
            return self.bind(ZERO, "zero"), _ATOM
        text = constant_text(x)
        if text is None:
            return self.function(x), _ATOM
        return text, 13 if text.startswith("-") else _ATOM


def _keeps(node: Node, loop: Loop) -> bool:
    """Return whether a node keeps a turn of a loop, in itself or inside."""
    return any(isinstance(n, Record) and n.loop is loop for n in walk([node]))


def constant_text(x: Any) -> str | None:
    """Return the text of a constant, if it can be written."""
    if isinstance(x, bool | None | str | int) and type(x) in (bool, type(None), str, int):
        return repr(x)
    if type(x) is float:
        if math.isfinite(x):
            return repr(x)
        return "math.nan" if math.isnan(x) else "math.inf" if x > 0 else "-math.inf"
    if x is ...:
        return "..."
    if isinstance(x, np.floating | np.integer) and np.isfinite(x):
        return f"np.{type(x).__name__}({x.item()!r})"
    if isinstance(x, np.dtype):
        return f"np.dtype({x.name!r})"
    if type(x) is tuple:
        parts = [constant_text(part) for part in x]
        if all(part is not None for part in parts):
            return f"({', '.join(map(str, parts))}{',' * (len(parts) == 1)})"
    if type(x) is slice:
        return f"slice({x.start!r}, {x.stop!r}, {x.step!r})"
    if type(x) is range:
        return f"range({x.stop})" if x.start == 0 and x.step == 1 else repr(x)
    return None


def spelled(f: Any) -> str | None:
    """Return how a function of NumPy, of `math` or of Python is written."""
    name = getattr(f, "__name__", None)
    if not isinstance(name, str):
        return None
    if getattr(math, name, None) is f:
        return f"math.{name}"
    if getattr(builtins, name, None) is f:
        return name
    for module, path in ((np, "np"), (np.linalg, "np.linalg"), (np.fft, "np.fft")):
        if getattr(module, name, None) is f:
            return f"{path}.{name}"
    return None


def _hashable(f: Any) -> bool:
    try:
        hash(f)
    except TypeError:
        return False
    return True
