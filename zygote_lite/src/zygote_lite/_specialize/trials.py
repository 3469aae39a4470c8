"""Whether code that catches exceptions is worth entering: each hands the call to the tape.

Transformed code has no handlers. Where the program catches what is raised, the code has run for
nothing, and where that happens at each call it is better not entered. The usual entry is not to pay
for this. So only what leaves the code is counted; after a few exits, calls are counted for a while,
too, and where next to none of them is answered, the code is left at once, until it is tried again.
"""

from collections.abc import Iterable
from typing import Any

from zygote_lite._specialize.typed.reasons import Unsound
from zygote_lite.modes import left

_EXITS = 8  # exits after which calls are counted
_COUNTED = 16  # calls that are counted
_PAUSE = 64  # calls that are not answered before the code is tried again: twice as many each time


def may_be_caught(error: BaseException, kinds: Iterable[str]) -> bool:
    """Return whether an error may be one that is caught, by the names of its classes."""
    return not {c.__name__ for c in type(error).__mro__}.isdisjoint(kinds)


class Trials:
    """Decide whether code is entered.

    Attributes:
        space: the variables of the entry, where `fast` is what it runs, and `left` is called with
            the exception that ends it.
    """

    def __init__(self, space: dict[str, Any]) -> None:
        self.space = space
        self.run = space["fast"]
        self.exits = self.calls = 0
        self.pause = _PAUSE
        self.error = Unsound.RAISES("it has raised an error at nearly every recent call")
        space["left"] = self.left

    def left(self, error: Exception) -> None:
        """Note why the code was left, and count it."""
        left(error)
        self.exits += error is not self.error
        if self.exits >= _EXITS and self.space["fast"] is self.run:
            self.begin()

    def begin(self) -> None:
        """Count calls, from the next one on."""
        self.exits = self.calls = 0
        self.space["fast"] = lambda *xs: self.counted(*xs)

    def counted(self, *xs: Any) -> Any:
        """Run the code, and count the call."""
        self.calls += 1
        if self.calls == _COUNTED:
            seldom = self.exits >= _COUNTED - 2
            self.calls = self.exits = 0
            self.space["fast"] = (lambda *xs: self.paused()) if seldom else self.run
            self.pause = self.pause if seldom else _PAUSE
        return self.run(*xs)

    def paused(self) -> Any:
        """Leave the code at once."""
        self.calls += 1
        if self.calls >= self.pause:
            self.pause *= 2
            self.begin()
        raise self.error
