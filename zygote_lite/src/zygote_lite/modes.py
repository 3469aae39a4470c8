"""Modes: which of the two engines answers a gradient, and how far transformed code is trusted.

A mode belongs to a context (`contextvars`): to the thread, or the asynchronous task, that switched
it on, and to what that calls. `ZYGOTE_LITE_CHECK=1` and `ZYGOTE_LITE_STRICT=1` are read once, when
the package is imported, and hold everywhere.

Without a mode nothing is looked up when transformed code is entered: calls go directly into the
code. Only while a mode is on anywhere do they go through `watch`.
"""

import contextlib
import dataclasses
import os
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

__all__ = ["Answer", "InternalError", "Mode", "NotTransformed", "TierMismatch", "switched"]

RECORDED, TRANSFORMED = "recorded", "transformed"


class TierMismatch(AssertionError):  # noqa: N818 - what is the matter, as in AssertionError
    """Tell that transformed code and the tape answer a gradient differently."""


class NotTransformed(AssertionError):  # noqa: N818
    """Tell that transformed code does not answer a gradient, and why: `reason`."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} is not answered by transformed code: {reason}")
        self.reason = reason


class InternalError(RuntimeError):
    """Tell of a defect of the engine: in transformed code, or in what it knows to be active."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """How one gradient was answered.

    Attributes:
        function: the name of the function that was differentiated.
        tier: `"transformed"` or `"recorded"`.
        reason: why transformed code did not answer; `None` where it did.
    """

    function: str
    tier: str
    reason: str | None = None

    @property
    def is_transformed(self) -> bool:
        """Whether transformed code answered."""
        return self.tier == TRANSFORMED


@dataclasses.dataclass(frozen=True)
class Mode:
    """The modes of a context.

    Attributes:
        tier: the only engine that may answer; `None` for either.
        compared: whether answers of transformed code are compared with the tape's.
        tolerance: the relative difference of two numbers that count as equal; `None` for one that
            fits their precision.
        strict: whether internal errors are raised.
        answers: where each answer is noted.
    """

    tier: str | None = None
    compared: bool = False
    tolerance: float | None = None
    strict: bool = False
    answers: list[Answer] | None = None

    @property
    def is_eager(self) -> bool:
        """Whether code is made at the first call, not at the second."""
        return self.tier == TRANSFORMED or self.compared


class Leaving(threading.local):
    """Why transformed code was left last, in this thread."""

    error: Exception | None = None
    reason: str | None = None
    effects: Any = None  # those of the last run, where the tape is to repeat it
    suspected: InternalError | None = None  # it is one if the tape, which is asked next, answers


class Watching:
    """How many modes are on, in all threads, and what is called when the first comes or all go."""

    def __init__(self) -> None:
        self.count = 0
        self.lock = threading.RLock()
        self.publish: list[Callable[[], None]] = []

    def add(self, number: int) -> None:
        """Count modes in or out."""
        with self.lock:
            before = bool(self.count)
            self.count += number
            if bool(self.count) != before:
                for publish in self.publish:
                    publish()


def _is_set(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


CHECKED = _is_set("ZYGOTE_LITE_CHECK")
"""Whether what the marks tell of activity is compared with a whole walk, in the whole process."""
_default = Mode(compared=CHECKED, strict=_is_set("ZYGOTE_LITE_STRICT"))
_mode: ContextVar[Mode] = ContextVar("zygote_lite mode", default=_default)
current = _mode.get
leaving = Leaving()
watching = Watching()
if _default != Mode():
    watching.add(1)


@contextlib.contextmanager
def switched(**changes: Any) -> Iterator[Mode]:
    """Change the mode for a while."""
    mode = dataclasses.replace(current(), **changes)
    token = _mode.set(mode)
    watching.add(1)
    try:
        yield mode
    finally:
        watching.add(-1)
        _mode.reset(token)


def left(error: Exception) -> None:
    """Note why transformed code was left: `None`, its answer, hands the call to the tape."""
    if watching.count:
        leaving.error = error


def refuse_suspected() -> None:
    """Raise what has ended transformed code where the tape has answered: the mode asks for it."""
    suspected, leaving.suspected = leaving.suspected, None
    if suspected is not None:
        raise suspected


def forget_suspected() -> None:
    """Forget what has ended transformed code: the tape has raised an error, too."""
    leaving.suspected = None


def note_recorded(name: Callable[[], str], reason: Callable[[], str]) -> None:
    """Note that the tape answers a gradient. Raises `NotTransformed` where it may not.

    Arguments:
        name: gives the name of the function that is differentiated.
        reason: gives the reason, where none is known from an attempt.
    """
    mode, known = current(), leaving.reason
    leaving.reason = None
    if mode.tier != TRANSFORMED and mode.answers is None:
        return
    why = known if known is not None else reason()
    if mode.tier == TRANSFORMED:
        raise NotTransformed(name(), why)
    if mode.answers is not None:
        mode.answers.append(Answer(name(), RECORDED, why))
