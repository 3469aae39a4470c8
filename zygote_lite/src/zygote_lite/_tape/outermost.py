"""A recorded call opens the state of the thread, and raises the limit of recursion; the outermost
one closes it."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from zygote_lite._activity.activity import only_floats
from zygote_lite._activity.marks import forget_marks
from zygote_lite._activity.outputs import end_output
from zygote_lite._activity.saved import refuse_written_by_threads
from zygote_lite._cotangents.run import runs, state
from zygote_lite._ir.names import name_of
from zygote_lite._tape.generators import refuse_let_go
from zygote_lite._tape.refusals.messages import complete_message
from zygote_lite.caches import classes_may_have_changed
from zygote_lite.errors import DifferentiationError


class Run:
    """A call that is recorded: it opens the state of the thread, unless it is within another.

    Attributes:
        value: what the call returns, once that is known.
    """

    __slots__ = ("chose", "flags", "given", "is_outermost", "value")

    def __init__(self, given: tuple[Any, ...], flags: tuple[Any, ...] | None = None) -> None:
        self.given, self.flags, self.value = given, flags, None

    def __enter__(self) -> "Run":
        self.is_outermost = state.active is None
        if self.is_outermost:
            with runs.lock:
                runs.count += 1
            state.active, state.captured, state.written = {}, {}, {}
            state.given, state.has_texts, state.saved = self.given, False, 0
            forget_marks()
            classes_may_have_changed()
            state.run = object()
        self.chose = state.chooses
        if self.flags is not None:
            outside = self.is_outermost or self.chose
            state.chooses = outside and only_floats(self.given, self.flags)
        return self

    def __exit__(self, kind: Any, error: Any, found: Any) -> None:
        state.chooses = self.chose
        try:
            if state.lent and error is None:
                refuse_written_by_threads(name_of(self.given[0]))
            if state.generators and error is None and self.is_outermost:
                refuse_let_go((*self.given, self.value))
        finally:
            self._close(error, found)

    def _close(self, error: Any, found: Any) -> None:
        if self.is_outermost:
            if isinstance(error, DifferentiationError):
                complete_message(error, self.given, found)
            state.active = state.captured = state.written = None
            with runs.lock:
                runs.count -= 1
            state.given = ()
            state.held.clear()
            state.tables.clear()
            state.ended.clear()
            state.stepped.clear()
            state.last_writes.clear()
            state.wholes.clear()
            state.sealed.clear()
            state.generators.clear()
            state.refusal = None
            state.defaulted.clear()
            forget_marks()
            later, state.later, state.run = state.later, [], None
            refusal = end_output()
            for do in later:
                do()
            if refusal is not None:
                raise refusal


FRAMES = 16
"""Frames of the engine for one call of a function of the user's, at most."""

_LARGEST = 2**31 - 1  # a limit is an int of C
_recursion_lock = threading.Lock()
_running = 0
_own = 0


def _raise_limit() -> None:
    sys.setrecursionlimit(min(FRAMES * _own, _LARGEST))


def recursion_limit() -> int:
    """Return the limit for the frames of the user's functions."""
    with _recursion_lock:
        return _own if _running else sys.getrecursionlimit()


def set_recursion_limit(limit: Any) -> None:
    """Set the limit for the frames of the user's functions, also for later."""
    global _own
    with _recursion_lock:
        sys.setrecursionlimit(limit)  # raises what Python raises
        if _running:
            _own = limit
            _raise_limit()


@contextmanager
def deeper_recursion() -> Iterator[None]:
    """Raise Python's recursion limit while differentiated code runs, in whatever thread."""
    global _running, _own
    with _recursion_lock:
        if not _running:
            _own = sys.getrecursionlimit()
            _raise_limit()
        _running += 1
    try:
        yield
    finally:
        with _recursion_lock:
            _running -= 1
            if not _running:
                sys.setrecursionlimit(_own)
