"""What a pullback is, and the pullbacks of calls whose value carries no gradient."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Back = Callable[[Any], tuple[Any, ...]]
Flags = tuple[int | None, ...]  # the operands' numbers on the tape; `None`: nothing goes there
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
