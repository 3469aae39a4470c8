"""What a pullback is, and the handlers that the engine declares: where they are looked up.

As rules do, handlers come as data: each module of `_python`, `_numpy` and `_nested` fills a
`Handlers`, and `install` puts those into the tables, once. A second declaration for the same
function and kind of operand is an error that names both places; nothing depends on an order.

Functions are known by their identity. A handler may be for one kind of operand (`of`): for the
instances of some classes, or of the classes that a predicate picks out. The handlers for a kind
are asked before the one for all operands, and each may return `None`: not for these arguments.
"""

import functools
import inspect
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from zygote_lite.caches import cached_by_kind

Back = Callable[[Any], tuple[Any, ...]]
ValueAndPullback = tuple[Any, Any]


class TextPullback:
    """The pullback of a text that was computed from active values: no gradient may pass."""

    __slots__ = ("nothing",)

    def __init__(self, count: int) -> None:
        self.nothing = (None,) * count

    def __call__(self, dy: Any) -> tuple[None, ...]:
        return self.nothing


class NoPullback(TextPullback):
    """The pullback of an inactive call: false, and it maps anything to `None`."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False


_inert = [NoPullback(n) for n in range(16)]


def no_pullback(count: int) -> NoPullback:
    """Return the pullback that gives `count` times `None`."""
    return _inert[count] if count < 16 else NoPullback(count)


@dataclass(eq=False, slots=True)
class UndoOnly:
    """A pullback whose value is inactive but which must be run: it undoes and moves state."""

    back: Back

    def __bool__(self) -> bool:
        return False

    def __call__(self, dy: Any) -> tuple[Any, ...]:
        return self.back(dy)


SMALL_PULLBACKS: list[Callable[[Any, tuple[Any, ...], Any], Any]] = []


def small_pullback(f: Callable[[Any, tuple[Any, ...], Any], Any]) -> int:
    """Declare the pullback of small entries of a tape; return its number.

    It is given the container, the entry and the cotangent of the value, and returns that of the
    operand. What the entry holds after the number of the container (`entry[4:]`) is its own.
    """
    SMALL_PULLBACKS.append(f)
    return len(SMALL_PULLBACKS) - 1


# -- handlers -----------------------------------------------------------------------------------


class TupleNode(tuple[Any, ...]):
    """The node of a tuple that recorded code made: the nodes of what it holds."""

    __slots__ = ()


NodeId = int | TupleNode | None
"""The number of a value on a tape; `None` for what does not depend on a differentiated argument."""
Nodes = tuple[NodeId, ...]
Flags = Nodes  # of the operands of a call; `None`: nothing goes there
Traced = tuple[Any, NodeId]
HandlerBody = Callable[..., Any]
Kind = type | tuple[type, ...] | Callable[[type], bool] | None


@dataclass(frozen=True)
class Declaration:
    """One handler: for which function and kind of operand it is, and where it was declared."""

    form: str
    key: Any
    kind: Kind
    body: HandlerBody

    @property
    def place(self) -> str:
        """Return the file and line of the handler."""
        body = self.body.func if isinstance(self.body, functools.partial) else self.body
        code = getattr(body, "__code__", None)
        return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(body)


@dataclass(eq=False)
class Handlers:
    """The handlers that a module declares. `install` makes them known to the tape."""

    declared: list[Declaration] = field(default_factory=list)
    makers: list[Any] = field(default_factory=list)
    unconditional: list[Any] = field(default_factory=list)

    def _each(
        self, form: str, keys: Iterable[Any], kind: Kind = None, given: bool = False
    ) -> Callable[[Any], Any]:
        def declare(body: Any) -> Any:
            for key in keys:
                own = functools.partial(body, key) if given else body
                self.declared.append(Declaration(form, key, kind, own))
            return body

        return declare

    def structural(
        self, *functions: Any, of: Kind = None, given: bool = False, new_array: bool = False
    ) -> Callable[[Any], Any]:
        """Declare a pullback of the engine's own: `(nodes, *xs, **kws) -> (y, back)`.

        Arguments:
            functions: what it is for.
            of: for which kind of operand.
            given: whether the handler is given the function before all else.
            new_array: whether the value may be a new array, not one of those that it got.
        """
        if new_array:
            self.makers += functions
        return self._each("structural", functions, of, given)

    def direct(self, *functions: Any) -> Callable[[Any], Any]:
        """Declare what resolves the plainest calls at once: `(tape, nodes, f, xs) -> (y, node)`.

        It gives what the usual order of resolution gives, where nothing of the user's and no rule
        comes in between, and `None` for all other operands. There are no keywords.
        """
        return self._each("direct", functions)

    def inert(self, *functions: Any) -> None:
        """Declare that the value of functions carries no gradient, and that they change nothing."""
        self.structural(*functions, given=True)(_simply_run)

    def desugared(
        self, *functions: Any, of: Kind = None, given: bool = False, always: bool = False
    ) -> Callable[[Any], Any]:
        """Declare which other calls a call stands for: `(tape, nodes, *xs, **kws) -> (y, node)`.

        Arguments:
            functions: what it is for.
            of: for which kind of operand.
            given: whether the handler is given the function before all else.
            always: whether such calls are resolved though nothing active goes into them.
        """
        if always:
            self.unconditional += functions
        return self._each("desugared", functions, of, given)

    def in_python(self, *functions: Any) -> Callable[[Any], Any]:
        """Declare Python that means the same as functions written in C, and is differentiated."""
        return self._each("in Python", functions)

    def by_code(self, example: types.FunctionType) -> Callable[[Any], Any]:
        """Declare which other calls stand for a function that is created anew each time.

        It is known by the code that it shares with `example`:
        `(tape, nodes, f, *xs, **kws) -> (y, node)`.
        """
        return self._each("by code", [example.__code__])

    def by_option(self, name: str) -> Callable[[Any], Any]:
        """Declare which other calls a call of a function in C with an option stands for.

        The handler is called as `(tape, nodes, f, xs, kws) -> (y, node)`.
        """
        return self._each("by option", [name])

    def callables(self, *kinds: type, of: Kind = None) -> Callable[[Any], Any]:
        """Declare what calls of a kind of callable stand for, by its class.

        The handler is called as `(tape, nodes, f, xs, kws) -> (y, node)`.
        """
        return self._each("callable", kinds, of)


def _simply_run(f: Any, nodes: Nodes, *xs: Any) -> tuple[Any, NoPullback]:
    return f(*xs), no_pullback(len(nodes))


def can_take(body: Any, count: int, kws: dict[str, Any]) -> bool:
    """Return whether a handler has parameters for the keywords of a call.

    Where it has none the call is resolved as if it were not there: the function itself refuses a
    keyword that it does not know, as it does where nothing is differentiated.

    Arguments:
        body: the handler.
        count: how many operands it is given by position.
        kws: the keywords.
    """
    return not kws or _has_parameters(body, count, tuple(kws))


@functools.lru_cache(maxsize=4096)
def _has_parameters(body: Any, count: int, names: tuple[str, ...]) -> bool:
    try:
        inspect.signature(body).bind(*range(count), **dict.fromkeys(names))
    except TypeError:
        return False
    return True


@dataclass(eq=False, slots=True)
class Rows:
    """The handlers of one function: those for one kind of operand, and the one for all."""

    key: Any  # which keeps the function alive, and so its identity
    declared: list[Declaration] = field(default_factory=list)
    by_kind: list[tuple[Callable[[type], bool], HandlerBody]] = field(default_factory=list)
    for_all: list[HandlerBody] = field(default_factory=list)

    def add(self, new: Declaration) -> None:
        """Add a handler; raise `ValueError` where there is one for these operands."""
        for known in self.declared:
            if known.kind == new.kind:
                name = getattr(new.key, "__qualname__", new.key)
                raise ValueError(
                    f"two {new.form} handlers for {name}: {known.place} and {new.place}"
                )
        self.declared.append(new)
        if new.kind is None:
            self.for_all.append(new.body)
        else:
            self.by_kind.append((_predicate(new.kind), new.body))

    def bodies(
        self, xs: tuple[Any, ...], kws: dict[str, Any] | None = None, before: int = 0
    ) -> list[HandlerBody]:
        """Return the handlers for some operands, of which the first two tell the kind.

        Arguments:
            xs: the operands by position; where there is none, `None` stands for it.
            kws: those by keyword, if the handler is given them as keywords.
            before: how many arguments the handler is given before the operands.
        """
        found = self.for_all
        if self.by_kind:
            kinds = {*map(type, xs[:2])} or {type(None)}
            found = [body for of, body in self.by_kind if any(map(of, kinds))] + found
        if kws:
            found = [body for body in found if can_take(body, before + len(xs), kws)]
        return found


def _predicate(kind: Any) -> Callable[[type], bool]:
    if isinstance(kind, type | tuple):
        return cached_by_kind(1024)(lambda t: issubclass(t, kind))
    made: Callable[[type], bool] = cached_by_kind(1024)(kind)
    return made


Table = dict[Any, Rows]

STRUCTURAL: Table = {}
DESUGARED: Table = {}
IN_PYTHON: Table = {}
CALLABLES: Table = {}
BY_CODE: Table = {}
BY_OPTION: Table = {}
RETURNS_NEW_ARRAY: set[int] = set()
EVEN_IF_INACTIVE: set[int] = set()
DIRECT: dict[int, HandlerBody] = {}
NAMES_EVEN_IF_INACTIVE: set[str] = set()
CLASS_METHODS: dict[tuple[Any, str], Any] = {}
"""Class methods written in C that have Python for them, each as it was found when that was
declared: Python makes a new one at each look-up."""

_TABLES = {
    "structural": STRUCTURAL, "desugared": DESUGARED, "in Python": IN_PYTHON,
    "callable": CALLABLES, "by code": BY_CODE, "by option": BY_OPTION, "direct": {},
}  # fmt: skip


def install(handlers: Iterable[Handlers]) -> None:
    """Make handlers known; raise `ValueError` where two are for the same calls."""
    for given in handlers:
        for new in given.declared:
            key = new.key if new.form in ("by code", "by option") else id(new.key)
            _TABLES[new.form].setdefault(key, Rows(new.key)).add(new)
            if new.form == "direct":
                DIRECT[id(new.key)] = new.body
            if new.form == "in Python" and isinstance(getattr(new.key, "__self__", None), type):
                CLASS_METHODS[new.key.__self__, new.key.__name__] = new.key
        RETURNS_NEW_ARRAY.update(map(id, given.makers))
        EVEN_IF_INACTIVE.update(map(id, given.unconditional))
        NAMES_EVEN_IF_INACTIVE.update(f.__name__ for f in given.unconditional)


def has_handler(f: Any) -> bool:
    """Return whether the engine itself resolves calls of a function."""
    return id(f) in STRUCTURAL or id(f) in DESUGARED or id(f) in IN_PYTHON
