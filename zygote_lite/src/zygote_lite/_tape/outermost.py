"""A recorded call opens the state of the thread, and the outermost one closes it."""

from typing import Any

from zygote_lite._cotangents.run import state


class Run:
    """A call that is recorded: it opens the state of the thread, unless it is within another."""

    __slots__ = ("given", "is_outermost")

    def __init__(self, given: tuple[Any, ...]) -> None:
        self.given = given

    def __enter__(self) -> "Run":
        self.is_outermost = state.active is None
        if self.is_outermost:
            state.active, state.captured, state.written = {}, {}, {}
            state.given, state.has_texts = self.given, False
            state.clean.clear()
        return self

    def __exit__(self, *error: object) -> None:
        if self.is_outermost:
            state.active = state.captured = state.written = None
            state.given = ()
            state.held.clear()
            state.clean.clear()
