"""Typed code with its types, to be read: one operation a line, and behind it what holds for it."""

from zygote_lite._specialize.text.writer import Writer
from zygote_lite._specialize.typed.facts import ArrayOf, Fact, ListOf, Scalar
from zygote_lite._specialize.typed.nodes import Node, Op


class TypedWriter(Writer):
    """Write typed code, with the types of what it computes as comments."""

    def fits_inside(self, op: Op, rest: list[Node]) -> bool:
        """Return whether an operation is written where its value is read: none is."""
        return False

    def op(self, node: Op) -> None:
        """Write an operation, and the type of its value."""
        before = len(self.text.lines)
        super().op(node)
        x = node.target
        lines = self.text.lines[before:]
        if lines and lines[0].lstrip().startswith(f"{x.name} = ") and x.items is None:
            self.text.lines[before] += f"  # {type_text(x.fact)}"


def type_text(fact: Fact | None) -> str:
    """Return what holds for a value, in words: `float64[n, 1]` is an array of one column."""
    if isinstance(fact, Scalar):
        return " | ".join(sorted(kind.__name__ for kind in fact.classes))
    if isinstance(fact, ArrayOf):
        return f"{fact.dtype.name}[{', '.join(fact.axes)}]"
    if isinstance(fact, ListOf):
        return f"list[{type_text(fact.item)}]"
    return "None" if fact is None else fact.type.__name__
