"""Abstract values: the fact that holds for a value in every run, a sample, and its variable."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulescore import Tangent
from zygote_lite._ir.traits import declare
from zygote_lite._specialize.typed.reasons import NotSupported

ONE, MANY, UNKNOWN = "1", "n", "?"  # what is known of the length of an axis
Axes = tuple[str, ...]
FLOATS = frozenset((float, np.float64, np.float32))
INTS = frozenset((int, np.int64, np.int32, np.intp))
TRUTHS = frozenset((bool, np.bool_))
NUMBERS = FLOATS | INTS | TRUTHS
# a constant of these types is told apart by its text
FOLDED = (int, float, str, type(None), tuple, type, np.dtype, slice, range, np.generic)
DTYPES = frozenset(map(np.dtype, ("f8", "f4", "i8", "i4", "i2", "u1", "?")))


@dataclass(frozen=True)
class Scalar:
    """A number, of one of several classes."""

    classes: frozenset[type]


@dataclass(frozen=True)
class ArrayOf:
    """A NumPy array with at least one axis: its dtype, and the abstract length of each axis."""

    dtype: np.dtype[Any]
    axes: Axes


@dataclass(frozen=True)
class ListOf:
    """A list of any length, and what holds for each item: a number, or a list of numbers."""

    item: "Fact | None"


@dataclass(frozen=True)
class Other:
    """A value of a type that carries no gradient, or a structure, which tells its own parts."""

    type: type


Fact = Scalar | ArrayOf | ListOf | Other


@dataclass(eq=False, slots=True)
class Value:
    """A value of the program: assigned once, where it is computed.

    Attributes:
        fact: what holds for it in every run.
        sample: its value for the arguments of this call.
        name: the variable that holds it; of constants and structures, none.
        is_constant: whether it is the sample in every run.
        active: whether a gradient may pass through it.
        scope: the loop in whose iterations it is computed; `None` is the function.
        items: of a tuple or list whose parts are known one by one, the parts.
        fresh: whether no other value shares its memory.
        lengths: of a number or tuple that stands for lengths of axes, what is known of those.
        made: whether the function itself allocated it, by a function such as `np.zeros`.
        row_of: of a row of a list of lists, that list and the index.
        moved: of a list, whether it was appended to another; of an object made inside, whether
            another object may stand in its place.
        base: the array that it is a view of.
        shaped: a value that has the same shape, in every run.
        spread: the value that it was broadcast from, if it was.
        reverse: whether it belongs to the reverse pass.
        where: of an object from outside, the expression for it.
        sizes: of an array that the code is given, the lengths of axes that it is made for.
        fields: of an object that the function has made, its attributes.
        read: of an object that is differentiated, the attributes that are read.
    """

    fact: Fact
    sample: Any
    name: str = ""
    is_constant: bool = False
    active: bool = False
    scope: Any = None
    items: "list[Value] | None" = None
    fresh: bool = False
    made: bool = False
    moved: bool = False
    row_of: "tuple[Value, Value] | None" = None
    lengths: Axes | None = None
    base: "Value | None" = None
    shaped: "Value | None" = None
    spread: "Value | None" = None
    reverse: bool = False
    where: str | None = None
    sizes: dict[int, int] | None = None
    fields: "dict[str, Value] | None" = None
    read: "dict[str, Value] | None" = None

    def __repr__(self) -> str:
        return f"<{self.name or repr(self.sample)}: {self.fact}>"

    @property
    def is_array(self) -> bool:
        """Whether it is a NumPy array."""
        return isinstance(self.fact, ArrayOf)

    @property
    def is_scalar(self) -> bool:
        """Whether it is a number."""
        return isinstance(self.fact, Scalar)

    @property
    def is_object(self) -> bool:
        """Whether it is an object of a class of the user's, from outside or made inside."""
        return self.where is not None or self.fields is not None

    @property
    def may_be_written(self) -> bool:
        """Whether the function itself allocated its memory, and so may write to it."""
        return self.made or (self.base is not None and self.base.made)


def shape_root(x: Value) -> Value:
    """Return the one value that stands for all that have its shape."""
    while x.shaped is not None:
        x = x.shaped
    return x


def list_root(x: Value) -> Value:
    """Return the list that a row belongs to, or the list itself."""
    while x.row_of is not None:
        x = x.row_of[0]
    return x


def path_of(x: Value, index: Value) -> tuple[Value, list[Value]]:
    """Return the list that an item belongs to, and the indices that lead to it."""
    path = [index]
    while x.row_of is not None:
        x, at = x.row_of
        path.insert(0, at)
    return x, path


class StandIn:
    """Stand, while the code is made, for an object that it does not make."""


@dataclass(eq=False)
class Local(StandIn):
    """A function defined inside, not called yet: its code, and the variables around it."""

    code: Any
    globals: dict[str, Any]
    around: dict[str, Value]
    defaults: dict[str, Value]


@dataclass(eq=False)
class Method(StandIn):
    """A method that was looked up, not called yet: of a class of the user's, its function."""

    owner: Value
    name: str
    function: Any = None


@dataclass(eq=False)
class Super(StandIn):
    """What `super()` gives: an object, and the class whose ancestors are asked."""

    kind: type
    owner: Value


@dataclass(eq=False)
class Lost(StandIn):
    """Stand for an attribute that no variable can hold on two paths: none may read it."""


@dataclass(eq=False)
class Attribute:
    """The function that reads an attribute of an array."""

    name: str

    @property
    def descriptor(self) -> Any:
        """Return what a rule for the attribute is declared for."""
        return getattr(np.ndarray, self.name)

    def __call__(self, x: Any) -> Any:
        return getattr(x, self.name)


_attributes: dict[str, Attribute] = {}


def attribute_of(name: str) -> Attribute:
    """Return the function that reads an attribute, the same each time."""
    return _attributes.setdefault(name, Attribute(name))


declare(attribute_of("T"), attribute_of("mT"), view=True)


class Message(StandIn):
    """A text that is made of something that is not known: only errors may take it."""

    def __bool__(self) -> bool:
        raise NotSupported.TEXT("it asks whether a text is empty")


def constant(sample: Any) -> Value:
    """Return the value of a constant."""
    value = Value(fact_of(sample), sample)
    value.is_constant = True
    return value


def structure(kind: type, items: list[Value]) -> Value:
    """Return a tuple, list or slice whose parts are known one by one."""
    samples = [item.sample for item in items]
    sample = slice(*samples) if kind is slice else kind(samples)
    value = Value(Other(kind), sample)
    value.items = items
    value.active = any(item.active for item in items)
    value.is_constant = kind in (tuple, slice) and all(item.is_constant for item in items)
    return value


def named_tuple(kind: Any, fields: list[Value]) -> Value:
    """Return a named tuple whose fields are known one by one."""
    value = Value(Other(kind), tuple.__new__(kind, [x.sample for x in fields]))
    value.fields = dict(zip(kind._fields, fields, strict=True))
    return value


def settled_instance(kind: type, fields: dict[str, Value]) -> Value:
    """Return an object that stands for one of several, of which none is assigned to any more."""
    value = Value(Other(kind), object.__new__(kind))
    value.fields, value.moved = fields, True
    return value


def is_named(x: Value) -> bool:
    """Return whether a value is a named tuple."""
    return x.fields is not None and isinstance(x.sample, tuple)


def mapping(entries: dict[Any, Value]) -> Value:
    """Return a dict whose keys are known: its items are keys and values that alternate."""
    value = Value(Other(dict), {key: x.sample for key, x in entries.items()})
    value.items = [part for key, x in entries.items() for part in (constant(key), x)]
    value.active = any(x.active for x in entries.values())
    value.is_constant = not entries
    return value


def parts_of(x: Value) -> list[tuple[str, Value]]:
    """Return the parts of a structure, each with the text that it is subscripted by."""
    items = x.items or []
    if type(x.sample) is dict:
        return [(_quoted(k.sample), part) for k, part in zip(items[::2], items[1::2], strict=True)]
    return [(str(i), part) for i, part in enumerate(items)]


def _quoted(key: Any) -> str:
    """Return the text of a key, in double quotes where it has none itself."""
    text = repr(key)
    return text if '"' in text or type(key) is not str else f'"{text[1:-1]}"'


def paths_of(x: Value, path: str) -> list[tuple[str, Value]]:
    """Return the leaves of a structure, each with the expression for it."""
    if x.read is not None:
        parts = [(repr(name), part) for name, part in x.read.items()]
        return [found for at, part in parts for found in paths_of(part, f"{path}[{at}]")]
    if x.fields is not None:
        given = enumerate(x.fields.values())
        return [found for i, part in given for found in paths_of(part, f"{path}[{i}]")]
    if x.items is None:
        return [(path, x)]
    return [found for at, part in parts_of(x) for found in paths_of(part, f"{path}[{at}]")]


def in_form_of(
    x: Value, text: Callable[[Value], str], named: Callable[[Any], str] | None = None
) -> str:
    """Return the text of the gradient of an argument, in its form, from those of its parts.

    Arguments:
        x: the argument.
        text: gives the text of a part.
        named: gives the names of classes, where objects are among the parts.
    """
    if x.read is not None and named is not None:
        fields = {
            name: in_form_of(x.read[name], text, named) if name in x.read else "None"
            for name in vars(x.sample)
        }
        if {*fields.values()} <= {"None"}:
            return "None"
        given = [f"{name}={part}" for name, part in fields.items()]
        return f"{named(Tangent)}({', '.join([named(type(x.sample)), *given])})"
    if x.fields is not None and named is not None:
        inside = [in_form_of(part, text, named) for part in x.fields.values()]
        whole = f"{named(type(x.sample))}({', '.join(inside)})"
        return "None" if {*inside} <= {"None"} else whole
    if x.items is None:
        return text(x)
    parts = [(at, in_form_of(part, text, named)) for at, part in parts_of(x)]
    texts = [part for _, part in parts]
    if {*texts} <= {"None"}:
        return "None"
    if type(x.sample) is dict:
        return f"{{{', '.join(f'{at}: {part}' for at, part in parts)}}}"
    if type(x.sample) is list:
        return f"[{', '.join(texts)}]"
    return f"({', '.join(texts)}{',' * (len(texts) == 1)})"


def fact_of(sample: Any) -> Fact:
    """Return what holds for all values that are like a sample."""
    kind = type(sample)
    if kind in NUMBERS:
        return Scalar(frozenset((kind,)))
    if kind is np.ndarray and sample.ndim and sample.dtype in DTYPES:
        axes = tuple([ONE if n == 1 else MANY for n in sample.shape])
        return ArrayOf(sample.dtype, axes)
    return Other(kind)


LOST = constant(Lost())


def without_lengths(fact: Fact) -> Fact:
    """Return a fact without the lengths of axes."""
    if isinstance(fact, ArrayOf):
        return ArrayOf(fact.dtype, (UNKNOWN,) * len(fact.axes))
    return fact


def join_facts(a: Fact, b: Fact) -> Fact:
    """Return what holds for values of either fact.

    Raises `NotSpecializable` where little would hold.
    """
    if a == b:
        return a
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return Scalar(a.classes | b.classes)
    if isinstance(a, ArrayOf) and isinstance(b, ArrayOf) and (a.dtype, len(a.axes)) == (
        b.dtype, len(b.axes)
    ):  # fmt: skip
        axes = tuple([x if x == y else UNKNOWN for x, y in zip(a.axes, b.axes, strict=True)])
        return ArrayOf(a.dtype, axes)
    raise NotSupported.DEPENDS_ON_PATH(f"a variable is {a} on one path and {b} on another")


def composition_of(x: Value) -> str:
    """Return what a value is that no variable can take on two paths; nothing for the others."""
    if x.items is not None:
        return "structure"
    if isinstance(x.sample, StandIn):
        return "function"
    if x.is_object:
        return "object"
    return "list" if isinstance(x.fact, ListOf) else ""


def can_carry(fact: Fact) -> bool:
    """Return whether a gradient may pass through values of a fact."""
    if isinstance(fact, Scalar):
        return bool(fact.classes & FLOATS)
    if isinstance(fact, ListOf):
        return fact.item is not None and can_carry(fact.item)
    return isinstance(fact, ArrayOf) and fact.dtype.kind == "f"


def shares_axes(a: Fact, b: Fact) -> bool:
    """Return whether arrays of two facts surely have one shape, if they broadcast together."""
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return True
    if isinstance(a, ArrayOf) and isinstance(b, ArrayOf):
        return a.axes == b.axes and UNKNOWN not in a.axes
    return False


def is_hashable(f: Any) -> bool:
    """Return whether a function can be looked up in a table."""
    try:
        hash(f)
    except TypeError:
        return False
    return True


def is_temporary(name: str) -> bool:
    """Return whether a name is the engine's own, and not the user's."""
    return name[:1] == "t" and name[1:].isdigit()


def stem_of(name: str) -> str:
    """Return what a value is named after: nothing, for a temporary; an attribute by its name."""
    return "" if is_temporary(name) else name.rpartition(".")[2]


def is_place(name: str) -> bool:
    """Return whether a name stands for an attribute of an object made inside."""
    return "." in name


def is_one(x: Value) -> bool:
    """Return whether a value is the constant number one."""
    return x.is_constant and type(x.sample) in (int, float) and x.sample == 1
