"""Contributions: the cotangents that one step of the reverse pass adds to its operands."""

from collections.abc import Callable
from dataclasses import dataclass

from zygote_lite._specialize.typed.builder import Builder
from zygote_lite._specialize.typed.values import Value


@dataclass(eq=False)
class Scatter:
    """A cotangent that belongs to a part of an array."""

    index: Value
    value: Value


@dataclass(eq=False)
class Each:
    """A cotangent of every item of a list."""

    value: Value


Contribution = Value | Scatter | Each | None


@dataclass(eq=False)
class IndexRule:
    """Through `x[index]`: the cotangent is added to that part of the cotangent of `x`."""

    index: Value

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Return the cotangent of a part."""
        return [Scatter(self.index, dy), None]


@dataclass(eq=False)
class LinearRule:
    """Through an operation whose cotangents need that of its result alone."""

    cotangents: Callable[[Value], list[Contribution]]

    def back(self, builder: Builder, dy: Value) -> list[Contribution]:
        """Return the cotangents of the operands."""
        return self.cotangents(dy)


@dataclass(eq=False)
class Mirror:
    """Through a change of a container: the reverse pass undoes it in the shadow, always."""

    write: Callable[[Builder, Value | None], list[Contribution]]

    def back(self, builder: Builder, dy: Value | None) -> list[Contribution]:
        """Write what undoes the change, and return the cotangents of the operands."""
        return self.write(builder, dy)
