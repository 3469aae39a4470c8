"""What stands on the stack while a function is decompiled: expressions, and what is none yet."""

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from zygote_lite._ir.decompile.instructions import Instruction, NotFollowedError

_MOST_INSTRUCTIONS = 100_000  # instructions, in one attempt


@dataclass
class Choices:
    """What is found out about all code objects of a function, and what is guessed there.

    Attributes:
        modules: names that the module imports: methods of them are called like functions.
        made: by what was to be guessed, the places among which was chosen, the likeliest first.
        wanted: by what is to be guessed, another choice than the first.
        steps: how many instructions were read; those of copies are read several times.
        last: the one that was read last.
    """

    modules: set[str] = field(default_factory=set)
    made: dict[Any, list[int | None]] = field(default_factory=dict)
    wanted: dict[Any, int | None] = field(default_factory=dict)
    steps: int = 0
    last: Instruction | None = None

    def of(self, key: Any, first: int | None, others: Iterable[int | None]) -> int | None:
        """Return the place that is chosen for something, of those that there are."""
        rest = sorted({*others} - {first}, key=lambda place: (place is None, place))
        self.made[key] = [first, *rest]
        return self.wanted.get(key, first)

    def read(self, op: Instruction) -> None:
        """Note that an instruction is read. What is read again and again is not understood."""
        self.last = op
        self.steps += 1
        if self.steps > _MOST_INSTRUCTIONS:
            raise NotFollowedError(f"control flow that has no end in {op}")


class Mark:
    """Entries of the stack that are not values of expressions."""


class Null(Mark):
    """The empty place beside a function that is called."""


class Saved(Mark):
    """The value that a variable of a comprehension had before it."""


class BuildClass(Mark):
    """The function that makes classes."""


class Raised(Mark):
    """The class of a failed assertion, or its call."""

    def __init__(self, arguments: list[ast.expr] | None = None) -> None:
        self.arguments = arguments or []


@dataclass
class Manager(Mark):
    """The `__exit__` of a context manager, and the target that gets what it gives."""

    value: ast.expr
    targets: list[ast.expr] = field(default_factory=list)


class Left(Mark):
    """What that returned."""


@dataclass
class Returned(Mark):
    """The value of a `return` while a `finally` runs, which may drop it."""

    value: Any


@dataclass
class Caught(Mark):
    """An exception that is handled, under a name if there is one."""

    name: str | None = None


@dataclass
class Walked(Mark):
    """An iterator over the value of an expression."""

    value: ast.expr


@dataclass
class MadeFunction(Mark):
    """A function that is made: its code, and what it is made with."""

    code: CodeType
    defaults: list[ast.expr] = field(default_factory=list)
    keyword_defaults: dict[str, ast.expr] = field(default_factory=dict)
    annotations: dict[str, ast.expr] = field(default_factory=dict)
    decorators: list[ast.expr] = field(default_factory=list)
    bases: list[ast.expr] | None = None  # of a class
    keywords: list[ast.keyword] = field(default_factory=list)

    @property
    def is_lambda(self) -> bool:
        """Return whether it is defined by a lambda."""
        return self.bases is None and self.code.co_name == "<lambda>"


@dataclass
class Imported(Mark):
    """A module that is imported, or (`of`) a name of it."""

    module: str
    level: int
    listed: tuple[str, ...] | None
    names: list[ast.alias] = field(default_factory=list)
    of: "Imported | None" = None


@dataclass
class SharedValue(Mark):
    """A value that several targets are given; as an expression, `(target := value)`."""

    value: ast.expr
    targets: list[ast.expr] = field(default_factory=list)


@dataclass
class Group:
    """Targets that are given their values one after the other, and assigned as one.

    Attributes:
        targets: those that are known so far.
        star: which of them takes the rest, if one does.
        done: what is called with the target that they make together.
    """

    targets: list[ast.expr | None]
    done: Callable[[ast.expr], None]
    star: int | None = None

    def give(self, index: int, target: ast.expr) -> None:
        self.targets[index] = ast.Starred(target, ast.Store()) if index == self.star else target
        self.check()

    def check(self) -> None:
        found = [t for t in self.targets if t is not None]
        if len(found) == len(self.targets):
            self.done(ast.Tuple(found, ast.Store()))


@dataclass
class TargetSlot(Mark):
    """A value that only a target takes: of a loop, of `with`, of what is unpacked."""

    give: Callable[[ast.expr], None]


class Appended(ast.stmt):
    """What a comprehension does with an element."""

    _fields = ("element",)
    element: ast.expr


def appended(element: ast.expr) -> Appended:
    made = Appended()
    made.element = element
    return made


@dataclass
class Progress:
    """How far decompiling has come.

    Attributes:
        at: the next instruction; `None` where nothing follows.
        stack: what stands on the stack.
        out: the statements so far.
        base: how high the stack is where a statement begins.
        keywords: the names of the last arguments of the next call.
        handlers: the handlers of the `try` statements around, the outermost first.
        head: the beginning of the loop that is under way, before its first instruction.
    """

    at: int | None
    stack: list[Any]
    out: list[ast.stmt] = field(default_factory=list)
    base: int = 0
    keywords: tuple[str, ...] = ()
    handlers: tuple[int, ...] = ()
    head: int | None = None
