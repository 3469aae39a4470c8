"""Stand-ins: what the code does not make, such as a function or method that is not called yet."""

from dataclasses import dataclass, field
from typing import Any

from zygote_lite._specialize.typed.reasons import NotSpecializable, NotSupported, Unsound
from zygote_lite._specialize.typed.values import Value, constant


class StandIn:
    """Stand, while the code is made, for an object that it does not make."""


@dataclass(eq=False)
class Local(StandIn):
    """A function defined inside, not called yet: its code, and the variables around it.

    Attributes:
        is_abstract: whether `abc.abstractmethod` has marked it.
        is_wrapped: whether `functools.wraps` has given it the name and the text of another.
    """

    code: Any
    globals: dict[str, Any]
    around: dict[str, Value]
    defaults: dict[str, Value]
    is_abstract: bool = False
    is_wrapped: bool = False


@dataclass(eq=False)
class Method(StandIn):
    """A method that was looked up and not called yet; of a user class, its function."""

    owner: Value
    name: str
    function: Any = None


@dataclass(eq=False)
class Unfollowed(StandIn):
    """A value of a type without facts, which may be kept, and which nothing is done with."""

    description: str

    def __bool__(self) -> bool:
        """Refuse to tell its truth."""
        raise NotSupported.VALUE_TYPE(self.description)


@dataclass(eq=False)
class SolverResult(StandIn):
    """A result of a solver: its class, and its fields, of which the code has numbers and arrays."""

    kind: type
    parts: dict[str, Value]

    def __bool__(self) -> bool:
        """Refuse to tell its truth."""
        raise NotSupported.TRUTH("it tests the truth of a result of a solver")


@dataclass(eq=False)
class ComparedCount(StandIn):
    """An integer in a result of a solver, such as its status, which may only be compared."""

    x: Value

    def __bool__(self) -> bool:
        """Refuse to tell its truth."""
        raise NotSupported.TRUTH("it tests the truth of a count in a result of a solver")


@dataclass(eq=False)
class RowsOfData(StandIn):
    """Rows of data from outside, any number of them, and all alike.

    Attributes:
        form: theirs, see `infer.iteration.columns`.
        columns: their columns; constants for those that are not followed.
    """

    form: Any
    columns: "list[Value]"

    @property
    def first(self) -> "Value":
        """A column."""
        return next(c for c in self.columns if not c.is_constant)

    def __bool__(self) -> bool:
        """Refuse to tell whether there are any."""
        raise NotSupported.TRUTH("it tests the truth of rows of data: compare their length with 0")


class OwnFlags(StandIn):
    """The flags of an array that the code has made: it can be written to."""


@dataclass(eq=False)
class Partial(StandIn):
    """A function with its first arguments, and some by name: what `functools.partial` gives."""

    function: Value
    arguments: list[Value]
    keywords: dict[str, Value]

    @property
    def parts(self) -> list[Value]:
        """What it keeps."""
        return [self.function, *self.arguments, *self.keywords.values()]


@dataclass(eq=False)
class CacheMaker(StandIn):
    """What `functools.lru_cache` gives before it is given a function: how much it keeps."""

    size: int | None


@dataclass(eq=False)
class LocalCache(StandIn):
    """A function that is defined inside, under `lru_cache`: its code, and what stands for it."""

    code: Any
    function: Value


@dataclass(eq=False)
class Descriptor(StandIn):
    """What a decorator makes of functions in the body of a class: `property`, `staticmethod`, ...

    Attributes:
        kind: the decorator.
        functions: those that it was given, by the names that Python has for them.
    """

    kind: Any
    functions: dict[str, Value]


@dataclass(eq=False)
class Given(StandIn):
    """A default, or what makes one, of a field of a dataclass that is defined inside."""

    value: Value

    def __call__(self) -> None:
        """Stand for a call: `dataclasses` asks whether this can be called."""


@dataclass(eq=False)
class Super(StandIn):
    """What `super()` gives: an object, and the class whose ancestors are asked."""

    kind: type
    owner: Value


@dataclass(eq=False)
class Lookup(StandIn):
    """A dict from outside of which the code has the entries alone that it looks up.

    Attributes:
        source: the dict.
        where: the variable that holds it.
    """

    source: dict[Any, Any]
    where: str

    def __bool__(self) -> bool:
        raise NotSupported.TRUTH("it tests whether a large global dict is empty")


@dataclass(eq=False)
class Collector(StandIn):
    """A list, dict, deque or set from outside that the code puts into.

    Attributes:
        source: the container.
        where: the variable that holds it at entry.
        value: what stands for it in operations.
        reason: why the code cannot read it, where it cannot.
        is_changed: whether the code puts something into it, or into a container in it.
        put: of a dict, what it has put last, by the key.
        active: the keys of what depends on a differentiated argument.
        read_again: the keys that are read in loops, or in functions that call themselves.
        parts: the keys of containers in it that are taken out.
    """

    source: Any
    where: str
    value: Value
    reason: NotSpecializable | None = None
    is_changed: bool = False
    put: dict[Any, Value] = field(default_factory=dict)
    active: set[Any] = field(default_factory=set)
    read_again: set[Any] = field(default_factory=set)
    parts: set[Any] = field(default_factory=set)

    def __bool__(self) -> bool:
        raise self.refused()

    def refused(self) -> NotSpecializable:
        """Return why the code cannot do with it what the program does."""
        if self.reason is not None:
            return type(self.reason)(self.reason.reason, self.reason.details)
        return Unsound.WRITES_TO_GIVEN(
            "it does more than to put something into a list, dict or set that it did not create"
        )


@dataclass(eq=False)
class DataTable(StandIn):
    """Data of pandas from outside, of which the code has the numbers and arrays that it takes.

    Attributes:
        source: the data.
        where: the variable that holds it at entry.
    """

    source: Any
    where: str

    def __bool__(self) -> bool:
        raise NotSupported.TRUTH("it tests the truth of a pandas object")


@dataclass(eq=False)
class Signature(StandIn):
    """What `inspect` tells of a function: its attributes that are followed, and the function."""

    attributes: dict[str, Any]
    function: Any = None


class Iterator(StandIn):
    """What stands for an iterator, or a view: an object that gives elements, and is never made."""


@dataclass(eq=False)
class View(Iterator):
    """A view of a dict, its attribute `SOURCE`: the method that makes it."""

    name: str


@dataclass(eq=False)
class Lost(StandIn):
    """Stand for an attribute that no variable can hold on two paths: none may read it."""


@dataclass(eq=False)
class Error(StandIn):
    """An exception that a program has made or caught.

    Attributes:
        kinds: the classes that it may be of.
        args: what it was made with; nothing where that is not known.
        which: the number of the handler that catches it, where there are several.
        order: the classes that handlers catch, the widest last.
        variable: what holds it, where it is not as it was made.
        is_class: whether it stands for the class of the error.
        asked: the classes that it may be of for each handler, and the place of that in the order.
    """

    kinds: tuple[type[BaseException], ...]
    args: list[Value] | None = None
    which: Value | None = None
    variable: Value | None = None
    is_class: bool = False
    order: list[tuple[type[BaseException], ...]] = field(default_factory=list)
    asked: list[tuple[tuple[type[BaseException], ...], int]] = field(default_factory=list)


class Fields(StandIn):
    """The attributes of an object that the function makes, its attribute `SOURCE`, as a dict."""


class Key(StandIn):
    """A key of a dict that has keys of several kinds: it is only looked up."""


@dataclass(eq=False)
class Message(StandIn):
    """A text that is made of what the code computes: only errors and output may take it.

    Attributes:
        function: what makes it.
        parts: of which values.
        options: and of which by name.
    """

    function: Any
    parts: list[Value]
    options: dict[str, Value] = field(default_factory=dict)

    def __bool__(self) -> bool:
        raise NotSupported.TEXT('it tests the truth of a text: compare it with `""`')


LOST = constant(Lost())
SOURCE = "@source"
"""The attribute of iterators and views that they give the elements of."""
