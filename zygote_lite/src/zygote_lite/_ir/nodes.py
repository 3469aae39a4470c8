"""The intermediate representation: structured Python in A-normal form.

Every statement does one thing, and its operands are atoms: names, constants and paths into
modules. Control flow stays structured, as the user wrote it. Each statement knows the position
of the user's code that it stands for.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Name:
    """A local variable, or a variable captured from an enclosing function."""

    id: str


@dataclass(frozen=True)
class Global:
    """A global or built-in name, or a path such as `np.linalg.norm` that starts at a module."""

    path: str


@dataclass(frozen=True, eq=False)
class Const:
    """A literal."""

    value: Any


@dataclass(frozen=True)
class Intrinsic:
    """A function that lowering put in, such as `operator.mul` for `*`."""

    path: str


Atom = Name | Global | Const | Intrinsic

DISCARD = ""
"""The target of a call whose value nobody asks for: no name, so that no variable has it."""


@dataclass
class Statement:
    """The base of all statements: it has the user's syntax node, for its position."""

    origin: ast.AST


@dataclass
class Call(Statement):
    """`target = function(*arguments, **keywords)`."""

    target: str
    function: Atom
    arguments: list[Atom]
    keywords: list[tuple[str, Atom]] = field(default_factory=list)


@dataclass
class Apply(Statement):
    """`target = function(*arguments, **keywords[0], ...)`, with what was made before.

    That is a sequence, and mappings, each of which may depend on a differentiated argument or not.
    """

    target: str
    function: Atom
    arguments: Atom
    keywords: list[Atom]


@dataclass
class Move(Statement):
    """`target = source`."""

    target: str
    source: Atom


@dataclass
class Build(Statement):
    """`target = [items]`, or a tuple, a dict (keys and values alternate), a set, a slice."""

    target: str
    kind: str
    items: list[Atom]


@dataclass
class GetAttribute(Statement):
    """`target = value.name`."""

    target: str
    value: Atom
    name: str


@dataclass
class GetItem(Statement):
    """`target = value[index]`."""

    target: str
    value: Atom
    index: Atom


@dataclass
class SetAttribute(Statement):
    """`value.name = source`."""

    value: Atom
    name: str
    source: Atom


@dataclass
class SetItem(Statement):
    """`value[index] = source`."""

    value: Atom
    index: Atom
    source: Atom


@dataclass
class Closure(Statement):
    """`target` is a function defined inside, that captures `captured`.

    `defaults` are the values of the parameters that have one, in order.
    """

    target: str
    definition: ast.FunctionDef | ast.Lambda
    captured: list[str]
    defaults: list[Atom] = field(default_factory=list)


@dataclass
class Class(Statement):
    """`class target(*bases, **keywords): body`.

    Attributes:
        bases: each with whether it stands after a `*`.
        keywords: the metaclass among them; a name of `None` stands for `**`.
        names: what the body binds.
        held: a variable for what they stand for at the end of the body.
        outer: variables of the function that the body assigns.
    """

    target: str
    bases: list[tuple[bool, Atom]]
    keywords: list[tuple[str | None, Atom]]
    body: list[Statement]
    names: list[str]
    held: str
    outer: list[str] = field(default_factory=list)


@dataclass
class Plain(Statement):
    """A statement that is run as it stands, such as `import`; it binds `targets`."""

    targets: list[str]


@dataclass
class Return(Statement):
    """`return value`."""

    value: Atom


@dataclass
class If(Statement):
    """`if test: body else: orelse`."""

    test: Atom
    body: list[Statement]
    orelse: list[Statement]


@dataclass
class For(Statement):
    """`for target in iterable: body else: orelse`."""

    target: str
    iterable: Atom
    body: list[Statement]
    orelse: list[Statement]


@dataclass
class Delegation(For):
    """`yield from iterable`, in lowering for transformed code: what is sent in goes to `iterable`.

    Its body is one `yield` of what it takes.
    """


@dataclass
class While(Statement):
    """`while test: body else: orelse`; `before` computes the test, each time anew."""

    before: list[Statement]
    test: Atom
    body: list[Statement]
    orelse: list[Statement]


@dataclass
class Break(Statement):
    """`break`."""


@dataclass
class Continue(Statement):
    """`continue`."""


@dataclass
class Raise(Statement):
    """`raise exception from cause`."""

    exception: Atom | None
    cause: Atom | None


@dataclass
class Handler:
    """`except kind as name: body`; `kind` is the user's own expression."""

    kind: ast.expr | None
    name: str | None
    body: list[Statement]


@dataclass
class Try(Statement):
    """`try: body except ...: else: orelse finally: final`; `star` stands for `except*`."""

    body: list[Statement]
    handlers: list[Handler]
    orelse: list[Statement]
    final: list[Statement]
    star: bool = False


@dataclass
class Delete(Statement):
    """`del name`."""

    name: str


@dataclass
class Yield(Statement):
    """`target = yield value`."""

    target: str
    value: Atom


@dataclass
class Function:
    """A lowered function.

    Attributes:
        name: of the user's function.
        parameters: the user's parameter list, defaults left out.
        names: the parameters in the order of the signature: positional, `*`, keyword-only, `**`.
        captured: variables of enclosing functions that it reads.
        body: its statements.
        used: every name that occurs in it, so that new ones can be told apart.
        shared: variables that functions defined inside capture.
        nonlocals: variables of enclosing functions that it assigns.
        is_generator: whether it yields.
        discard: the name that emitted code gives to what nobody asks for.
    """

    name: str
    parameters: ast.arguments
    names: list[str]
    captured: list[str]
    body: list[Statement]
    used: set[str]
    shared: list[str] = field(default_factory=list)
    nonlocals: list[str] = field(default_factory=list)
    is_generator: bool = False
    discard: str = "_"

    def fresh(self, stem: str) -> str:
        """Return a name that occurs nowhere in the function, and take it."""
        name, n = stem, 0
        while name in self.used:
            n += 1
            name = f"{stem}_{n}" if stem[-1].isdigit() else f"{stem}{n}"
        self.used.add(name)
        return name


def atoms_of(statement: Statement) -> Iterator[Atom]:
    """Yield the operands of a simple statement."""
    for value in vars(statement).values():
        for item in value if isinstance(value, list) else [value]:
            atom = item[1] if isinstance(item, tuple) else item
            if isinstance(atom, Atom):
                yield atom


def blocks_of(statement: Statement) -> Iterator[list[Statement]]:
    """Yield the statement lists inside a structured statement."""
    for value in vars(statement).values():
        if isinstance(value, list) and value and isinstance(value[0], Statement):
            yield value
    if isinstance(statement, Try):
        for handler in statement.handlers:
            yield handler.body


def every(body: list[Statement]) -> Iterator[Statement]:
    """Yield the statements of a block, and of the blocks in it."""
    for statement in body:
        yield statement
        for inner in blocks_of(statement):
            yield from every(inner)


# What recording code is made of: every variable has a companion, the number of its value on the
# tape, which tells where its cotangent goes.


@dataclass
class RecordedCall(Statement):
    """`target, companion = tape.call(nodes, function, *arguments, **keywords)`.

    `nodes` are the companions of the operands, the function's first.
    """

    target: str
    companion: str
    nodes: list[Atom]
    function: Atom
    arguments: list[Atom]
    keywords: list[tuple[str, Atom]]


@dataclass
class ReturnTuple(Statement):
    """`return values`."""

    values: list[Atom]


@dataclass
class Track(Statement):
    """`targets = values`, or `targets = yield values`: variables together with their companions.

    One value that is to be taken apart is said by `unpack`.
    """

    targets: list[str]
    values: list[Atom]
    unpack: bool = False
    yields: bool = False


@dataclass
class ForEach(Statement):
    """`for target, companion in tape.iterate(iterable, node): body else: orelse`.

    The iterable is `owned` where nothing but the loop holds it.
    """

    target: str
    companion: str
    iterable: Atom
    node: Atom
    body: list[Statement]
    orelse: list[Statement]
    owned: bool


@dataclass
class CellOf(Statement):
    """`target = tape.cell_of(lambda: variable)`: the cell of a variable that functions share."""

    target: str
    variable: str
    is_own: bool  # not one that the function captures
