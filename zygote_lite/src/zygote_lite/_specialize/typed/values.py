"""Abstract values: the fact that holds for a value in every run, a sample, and its variable."""

import types
from dataclasses import dataclass
from typing import Any

import numpy as np

from zygote_lite._specialize.typed.facts import ArrayOf, Axes, Fact, KnownByRules, Scalar, fact_of

# a constant of these types is told apart by its text
FOLDED = (int, float, complex, str, type(None), tuple, type, types.UnionType, np.dtype, slice,
          range, np.generic)  # fmt: skip


TABLE = "(table)"  # a name that no Python code can give an attribute by


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
        made: whether the code may write to it: it has made it, and knows all that share its memory.
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
        contents: of a container that the code makes as it runs, what that holds.
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
    contents: Any = None

    def __repr__(self) -> str:
        return f"<{self.name or repr(self.sample)}: {self.fact}>"

    @property
    def is_array(self) -> bool:
        """Whether it is a NumPy array."""
        return isinstance(self.fact, ArrayOf)

    @property
    def has_no_axes(self) -> bool:
        """Whether it is an array without axes, which holds one number."""
        return isinstance(self.fact, ArrayOf) and not self.fact.axes

    @property
    def is_scalar(self) -> bool:
        """Whether it is a number."""
        return isinstance(self.fact, Scalar)

    @property
    def is_known_by_rule(self) -> bool:
        """Whether it is known to rule sets as a whole, as a sparse array."""
        return isinstance(self.fact, KnownByRules)

    @property
    def is_object(self) -> bool:
        """Whether it is an object of a user class, from outside or made inside."""
        is_record = self.contents is not None and self.contents.is_record
        return self.where is not None or self.fields is not None or is_record

    @property
    def may_be_written(self) -> bool:
        """Whether the code may write to its memory."""
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


def memory_of(x: Value) -> Value:
    """Return the array or list that holds the memory of a view, an item or a row."""
    x = list_root(x)
    return x.base or x


def path_of(x: Value, index: Value) -> tuple[Value, list[Value]]:
    """Return the list that an item belongs to, and the indices that lead to it."""
    path = [index]
    while x.row_of is not None:
        x, at = x.row_of
        path.insert(0, at)
    return x, path


def constant(sample: Any) -> Value:
    """Return the value of a constant."""
    value = Value(fact_of(sample), sample)
    value.is_constant = True
    return value


def is_same_constant(a: Value, b: Value) -> bool:
    """Return whether two values are one constant text, number or `None`."""
    plain = (str, int, float, bool, type(None))
    return (
        a.is_constant
        and b.is_constant
        and type(a.sample) is type(b.sample)
        and type(a.sample) in plain
        and repr(a.sample) == repr(b.sample)
    )


def made_class(kind: type) -> Value | None:
    """Return the value of a class that the function makes; nothing for other classes.

    It has a table of its attributes, as objects have; the class itself stands for its place among
    its ancestors alone.
    """
    return vars(kind).get(TABLE)


def is_one(x: Value) -> bool:
    """Return whether a value is the constant number one."""
    return x.is_constant and type(x.sample) in (int, float) and x.sample == 1
