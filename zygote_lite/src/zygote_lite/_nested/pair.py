"""The two numbers of a value: its node on the inner tape, and its node on the outer one."""

from typing import Any


class Pair:
    """The numbers of one value on the inner and on the outer tape."""

    __slots__ = ("inner", "outer")

    def __init__(self, inner: Any, outer: Any) -> None:
        self.inner = inner
        self.outer = outer


def pair(inner: Any, outer: Any) -> Pair | None:
    """Return both numbers of a value, or `None` where it has neither."""
    return None if inner is None and outer is None else Pair(inner, outer)


def inner_of(nodes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the nodes of values on the inner tape."""
    return tuple([None if n is None else n.inner for n in nodes])


def outer_of(nodes: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the nodes of values on the outer tape."""
    return tuple([None if n is None else n.outer for n in nodes])
