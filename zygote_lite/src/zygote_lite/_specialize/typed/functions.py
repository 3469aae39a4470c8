"""Functions that are looked up in tables, and those that read an attribute of an array."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zygote_lite._ir.traits import declare


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


@dataclass(eq=False)
class Reverse:
    """The reverse of a function of the text, called with what that has kept, and a cotangent."""

    name: str

    @property
    def __name__(self) -> str:
        return self.name


@dataclass(eq=False)
class Recursive:
    """A function of the text that calls itself: it returns a value, and what its reverse needs.

    Attributes:
        name: its name in the text.
        back: its reverse.
        code: of the user's function.
        skeleton: the form of the variables at its start, but for numbers and arrays.
        leaves: these, or what is the same in every call: abstract values.
        result: what is known of its value; nothing before that of a call without others is known.
        text: the lines of it, once they are written.
        is_done: whether it is written.
        states: what was known, when it was written, of the containers that it is given.
        resized: the contents of those that get another length.
        calls: the functions of the text that it calls, and what was known of their values.
    """

    name: str
    back: Reverse
    code: Any
    skeleton: Any
    leaves: list[Any]
    result: Any = None
    text: Any = None
    is_done: bool = False
    states: list[Any] = field(default_factory=list)
    resized: list[Any] = field(default_factory=list)
    calls: list[tuple["Recursive", Any]] = field(default_factory=list)

    @property
    def __name__(self) -> str:
        return self.name


_attributes: dict[str, Attribute] = {}


def attribute_of(name: str) -> Attribute:
    """Return the function that reads an attribute, the same each time."""
    return _attributes.setdefault(name, Attribute(name))


declare(*map(attribute_of, ("T", "mT", "real")), view=True)
declare(attribute_of("imag"), may_be_view=True)  # of a complex array; of a real one there is none


def is_hashable(f: Any) -> bool:
    """Return whether a function can be looked up in a table."""
    try:
        hash(f)
    except TypeError:
        return False
    return True
