"""Forms of what a rule is given: how it is made of numbers and arrays, and its cotangent unmade.

The code has no function object for one that is defined inside, and no list whose items it knows.
What a form makes is new in each call, of the values that its leaves have then.
"""

import types
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rulescore import Tangent, accumulate
from zygote_lite._activity.marks import mark_new


class GivenForm(ABC):
    """How an operand is made.

    Attributes:
        carries: whether a gradient passes through a leaf of it.
        may_change: whether it is a list or a dict, or one may be reached from it.
    """

    carries: bool = False
    may_change: bool = False

    @abstractmethod
    def made(self, xs: Sequence[Any]) -> Any:
        """Return the operand, of the values of all leaves of the call."""

    @abstractmethod
    def holds(self, made: Any, xs: Sequence[Any]) -> bool:
        """Return whether what was made holds what it was made of: a function may have written."""

    @abstractmethod
    def unmade(self, d: Any, into: list[Any]) -> None:
        """Add the cotangent of the operand to those of the leaves."""


@dataclass
class GivenConstant(GivenForm):
    """A constant."""

    x: Any

    def made(self, xs: Sequence[Any]) -> Any:
        """Return the constant."""
        return self.x

    def holds(self, made: Any, xs: Sequence[Any]) -> bool:
        """Return whether it is the constant."""
        return made is self.x

    def unmade(self, d: Any, into: list[Any]) -> None:
        """Do nothing: no gradient passes."""


@dataclass
class GivenLeaf(GivenForm):
    """A number or an array, by its place among the leaves of the call."""

    place: int
    carries: bool

    def made(self, xs: Sequence[Any]) -> Any:
        """Return the number or the array."""
        return xs[self.place]

    def holds(self, made: Any, xs: Sequence[Any]) -> bool:
        """Return whether it is the number or the array."""
        return made is xs[self.place]

    def unmade(self, d: Any, into: list[Any]) -> None:
        """Add the cotangent, where there is one."""
        if self.carries and d is not None:
            known = into[self.place]
            into[self.place] = d if known is None else accumulate(known, d)


class _OfParts(GivenForm):
    """What is made of parts."""

    def __init__(self, parts: list[GivenForm]) -> None:
        self.parts = parts
        self.carries = any(part.carries for part in parts)
        self.may_change = any(part.may_change for part in parts)

    def hold(self, made: Sequence[Any], xs: Sequence[Any]) -> bool:
        """Return whether the parts hold what they were made of."""
        return len(made) == len(self.parts) and all(
            part.holds(x, xs) for part, x in zip(self.parts, made, strict=True)
        )

    def noted(self, y: Any) -> Any:
        """Note that a new container holds what is active, for what a rule asks of the tape."""
        if self.carries:
            mark_new(y)
        return y


class GivenItems(_OfParts):
    """A tuple or a list."""

    def __init__(self, kind: type, parts: list[GivenForm]) -> None:
        super().__init__(parts)
        self.kind = kind
        self.may_change |= kind is list

    def made(self, xs: Sequence[Any]) -> Any:
        """Return the tuple or the list."""
        y = self.kind([part.made(xs) for part in self.parts])
        return self.noted(y) if self.kind is list else y

    def holds(self, made: Any, xs: Sequence[Any]) -> bool:
        """Return whether the items are the same."""
        return self.hold(made, xs)

    def unmade(self, d: Any, into: list[Any]) -> None:
        """Add the cotangents of the items."""
        if self.carries and d is not None:
            for part, dx in zip(self.parts, d, strict=True):
                part.unmade(dx, into)


class GivenDict(_OfParts):
    """A dict with known keys."""

    def __init__(self, keys: list[Any], parts: list[GivenForm]) -> None:
        super().__init__(parts)
        self.keys = keys
        self.may_change = True

    def made(self, xs: Sequence[Any]) -> Any:
        """Return the dict."""
        made = [part.made(xs) for part in self.parts]
        return self.noted(dict(zip(self.keys, made, strict=True)))

    def holds(self, made: Any, xs: Sequence[Any]) -> bool:
        """Return whether the keys and the entries are the same, in the same order."""
        return [*made] == self.keys and self.hold([*made.values()], xs)

    def unmade(self, d: Any, into: list[Any]) -> None:
        """Add the cotangents of the entries."""
        if self.carries and d is not None:
            for key, part in zip(self.keys, self.parts, strict=True):
                part.unmade(d[key], into)


class GivenFunction(_OfParts):
    """A function that is defined inside, with the variables that it captures.

    Arguments:
        code, globals_: its own.
        parts: of the captured variables, in the order of the code.
        defaults: of parameters; constants.
    """

    def __init__(
        self, code: types.CodeType, globals_: dict[str, Any], parts: list[GivenForm],
        defaults: tuple[Any, ...] | None, by_name: dict[str, Any] | None,
    ) -> None:  # fmt: skip
        super().__init__(parts)
        self.code, self.globals, self.defaults, self.by_name = code, globals_, defaults, by_name

    def made(self, xs: Sequence[Any]) -> Any:
        """Return the function."""
        cells = tuple([types.CellType(part.made(xs)) for part in self.parts])
        f = types.FunctionType(self.code, self.globals, self.code.co_name, self.defaults, cells)
        if self.by_name:
            f.__kwdefaults__ = dict(self.by_name)
        return self.noted(f)

    def holds(self, made: Any, xs: Sequence[Any]) -> bool:
        """Return whether the captured variables hold the same."""
        return self.hold([cell.cell_contents for cell in made.__closure__ or ()], xs)

    def unmade(self, d: Any, into: list[Any]) -> None:
        """Add the cotangents of the captured variables."""
        if not self.carries or d is None:
            return
        if not isinstance(d, Tangent):
            raise TypeError(f"a function has a cotangent of the type {type(d).__name__}")
        given = dict(d.items())
        for name, part in zip(self.code.co_freevars, self.parts, strict=True):
            part.unmade(given.get(name), into)
